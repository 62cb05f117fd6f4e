//! Where a bucket is: settings, checked field by field.

use object_store::path::Path as Key;
use reqwest::Url;

use crate::model::{BucketSettings, Jurisdiction};

/// What Cloudflare's addresses end with.
pub(super) const R2: &str = "r2.cloudflarestorage.com";
/// The longest folder, so that a whole key stays far below R2's 1,024 bytes.
const LONGEST_FOLDER: usize = 200;

/// A place that objects can be put at: settings that were checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the server is, without a slash at the end.
    pub(super) endpoint: String,
    /// The account and the jurisdiction; `None` when the server is not Cloudflare's.
    pub(super) account: Option<(String, Jurisdiction)>,
    pub(super) bucket: String,
    /// Without slashes around it; empty for none.
    pub(super) folder: String,
}

impl Place {
    /// Checks settings, without the access key.
    ///
    /// # Errors
    /// In a sentence that names the field.
    pub(super) fn of(settings: &BucketSettings) -> Result<Self, String> {
        let custom = settings.endpoint.as_deref().map_or("", str::trim);
        let (endpoint, account) = if custom.is_empty() {
            let id = account_id(&settings.account_id).ok_or(
                "The account id must have 32 hexadecimal digits, as Cloudflare's dashboard shows it.",
            )?;
            let endpoint = endpoint(&id, settings.jurisdiction);
            (endpoint, Some((id, settings.jurisdiction)))
        } else {
            (server(custom)?, None)
        };
        Ok(Self {
            bucket: bucket(&settings.bucket)?,
            folder: folder(&settings.folder)?,
            endpoint,
            account,
        })
    }

    /// Returns what objects' keys are appended to with a slash: `https://SERVER/BUCKET[/FOLDER]`.
    pub(super) fn address(&self) -> String {
        let Self {
            endpoint,
            bucket,
            folder,
            ..
        } = self;
        if folder.is_empty() {
            format!("{endpoint}/{bucket}")
        } else {
            format!("{endpoint}/{bucket}/{folder}")
        }
    }

    /// Returns the key of an object in the bucket, with the folder before it.
    ///
    /// # Errors
    /// In a sentence, when `name` is no key.
    pub(super) fn key(&self, name: &str) -> Result<Key, String> {
        let whole = if self.folder.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.folder)
        };
        // R2 stores other names normalised, so that two may become one.
        if !whole.is_ascii() {
            return Err(format!("The name {name} can't be used in a bucket."));
        }
        Key::parse(&whole).map_err(|_| format!("The name {name} can't be used in a bucket."))
    }

    /// Returns what a person calls the server.
    pub(super) fn server(&self) -> &str {
        if self.account.is_some() {
            return "Cloudflare";
        }
        self.endpoint
            .split_once("://")
            .map_or(self.endpoint.as_str(), |(_, host)| host)
    }
}

/// Returns the address of an account's buckets.
pub(super) fn endpoint(account_id: &str, jurisdiction: Jurisdiction) -> String {
    let within = match jurisdiction {
        Jurisdiction::Default => "",
        Jurisdiction::Eu => "eu.",
        Jurisdiction::Fedramp => "fedramp.",
    };
    format!("https://{account_id}.{within}{R2}")
}

/// Tells whether all that a bucket needs, but for the secret, is set and can be right.
///
/// # Errors
/// In a sentence that names the field.
pub(crate) fn checked(settings: &BucketSettings) -> Result<(), String> {
    Place::of(settings)?;
    key_id(settings).map(drop)
}

/// Returns the id of the access key.
///
/// # Errors
/// In a sentence that names the field.
pub(super) fn key_id(settings: &BucketSettings) -> Result<&str, String> {
    let id = settings.access_key_id.trim();
    if id.is_empty() {
        return Err("The access key id is missing.".to_owned());
    }
    // It stands in a header between slashes and commas.
    if id.len() > 128
        || !id
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b',')
    {
        return Err(
            "The access key id must be letters and digits, as the API token's page shows it."
                .to_owned(),
        );
    }
    Ok(id)
}

/// Returns an account id in lower case, if it is one.
pub(super) fn account_id(text: &str) -> Option<String> {
    let id = text.trim();
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| id.to_ascii_lowercase())
}

pub(super) fn bucket(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("The bucket's name is missing.".to_owned());
    }
    let is_fit = (3..=63).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_fit {
        return Ok(name.to_owned());
    }
    Err(
        "The bucket's name must be 3 to 63 lower-case letters, digits and hyphens, with no hyphen \
         at either end."
            .to_owned(),
    )
}

pub(super) fn folder(text: &str) -> Result<String, String> {
    let folder = text.trim().trim_matches('/');
    if folder.is_empty() {
        return Ok(String::new());
    }
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_part =
        |part: &str| !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_safe);
    if folder.len() <= LONGEST_FOLDER && folder.split('/').all(is_part) {
        return Ok(folder.to_owned());
    }
    Err(format!(
        "The folder must be letters, digits, hyphens, underscores and full stops, with single \
         slashes between folders, and {LONGEST_FOLDER} characters at most."
    ))
}

/// Returns the address of a server that is not Cloudflare's, without a slash at the end.
pub(super) fn server(text: &str) -> Result<String, String> {
    let wrong = || "The server's address must look like https://s3.example.org.".to_owned();
    let url = Url::parse(text).map_err(|_| wrong())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("The server's address must not hold a name or a password.".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() || url.host_str().is_none() {
        return Err(wrong());
    }
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) => {}
        "http" => {
            return Err(
                "The server's address must begin with https://; http:// is for this computer only."
                    .to_owned(),
            );
        }
        _ => return Err(wrong()),
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Tells whether an address is this computer's own, which nobody else can listen in on.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn settings() -> BucketSettings {
        BucketSettings {
            account_id: ID.to_owned(),
            bucket: "results".to_owned(),
            access_key_id: "key".to_owned(),
            ..BucketSettings::default()
        }
    }

    #[test]
    fn objects_lie_under_the_address_that_is_shown() {
        let mut settings = settings();
        let place = Place::of(&settings).unwrap();
        assert_eq!(place.address(), format!("https://{ID}.{R2}/results"));
        assert_eq!(place.key("results/1.md").unwrap().as_ref(), "results/1.md");
        settings.jurisdiction = Jurisdiction::Eu;
        settings.folder = "/team/gists/".to_owned();
        let place = Place::of(&settings).unwrap();
        assert_eq!(
            place.address(),
            format!("https://{ID}.eu.{R2}/results/team/gists")
        );
        assert_eq!(place.key("a.md").unwrap().as_ref(), "team/gists/a.md");
        assert!(place.key("ü.md").is_err() && place.key("a//b").is_err());
        settings.endpoint = Some("http://localhost:9000/".to_owned());
        let place = Place::of(&settings).unwrap();
        assert_eq!(place.address(), "http://localhost:9000/results/team/gists");
        assert_eq!(place.server(), "localhost:9000");
    }

    #[test]
    fn a_wrong_field_is_named() {
        let right = settings();
        assert_eq!(checked(&right), Ok(()));
        type Change = fn(&mut BucketSettings);
        let wrong: [(&str, Change); 14] = [
            ("account id", |it| it.account_id.clear()),
            ("account id", |it| it.account_id.push('0')),
            ("bucket's name", |it| it.bucket.clear()),
            ("bucket's name", |it| it.bucket = "Results".to_owned()),
            ("bucket's name", |it| it.bucket = "-results".to_owned()),
            ("bucket's name", |it| it.bucket = "a".repeat(64)),
            ("folder", |it| it.folder = "a/../b".to_owned()),
            ("folder", |it| it.folder = "a//b".to_owned()),
            ("folder", |it| it.folder = "für".to_owned()),
            ("access key id", |it| it.access_key_id = " ".to_owned()),
            ("access key id", |it| it.access_key_id = "a b".to_owned()),
            ("server's address", |it| {
                it.endpoint = Some("s3.example.org".to_owned());
            }),
            ("server's address", |it| {
                it.endpoint = Some("http://s3.example.org".to_owned());
            }),
            ("server's address", |it| {
                it.endpoint = Some("https://k:s@s3.example.org".to_owned());
            }),
        ];
        for (field, change) in wrong {
            let mut settings = right.clone();
            change(&mut settings);
            let error = checked(&settings).unwrap_err();
            assert!(error.contains(field), "{field}: {error}");
        }
    }
}
