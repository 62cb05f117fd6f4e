//! Addresses of buckets that people paste, taken apart.

use reqwest::Url;

use super::address::{R2, account_id, bucket, folder, server};
use crate::model::{BucketAddress, Jurisdiction};

/// Where Cloudflare's dashboard is.
const DASHBOARD: &str = "dash.cloudflare.com";

/// Takes apart an address that a person pasted: an account id, the address that the dashboard shows for
/// a bucket or for its S3 API, the page of the dashboard itself, `s3://BUCKET`, or another server's.
///
/// # Errors
/// In a sentence that says what could be pasted.
pub(crate) fn read_address(text: &str) -> Result<BucketAddress, String> {
    let text = text.trim().trim_matches(['"', '\'', '<', '>']).trim();
    if text.is_empty() {
        return Err("Paste the address of the bucket, or the account id.".to_owned());
    }
    if let Some(account_id) = account_id(text) {
        return Ok(BucketAddress {
            account_id,
            ..BucketAddress::default()
        });
    }
    // Not repeated: a secret may have been pasted by mistake.
    let unknown =
        || format!("This is no address of a bucket. It looks like https://ACCOUNT.{R2}/BUCKET.");
    let whole = match text.split_once("://") {
        Some(_) => text.to_owned(),
        // A single word is more likely half an address than a server.
        None if text.contains('.') || text.starts_with("localhost") => format!("https://{text}"),
        None => return Err(unknown()),
    };
    let url = Url::parse(&whole).map_err(|_| unknown())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("The address must not hold a name, a key or a password.".to_owned());
    }
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let parts: Vec<&str> = url
        .path()
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    match url.scheme() {
        "s3" | "r2" if !host.is_empty() => within(BucketAddress::default(), Some(&host), &parts),
        "http" | "https" if host == DASHBOARD => of_dashboard(&url, &parts).ok_or_else(unknown)?,
        "http" | "https" if host.ends_with(".r2.dev") => Err(
            "An r2.dev address is for reading only. Paste the one that the bucket's settings show \
             as “S3 API”."
                .to_owned(),
        ),
        "http" | "https" => match host.strip_suffix(R2) {
            Some(before) => of_account(before, &parts).ok_or_else(unknown)?,
            None => {
                let endpoint = server(&url.origin().ascii_serialization())?;
                let found = BucketAddress {
                    endpoint: Some(endpoint),
                    ..BucketAddress::default()
                };
                of_path(found, &parts)
            }
        },
        _ => Err(unknown()),
    }
}

/// `[BUCKET.]ACCOUNT.[eu.|fedramp.]` before Cloudflare's address, and the path after it.
fn of_account(before: &str, parts: &[&str]) -> Option<Result<BucketAddress, String>> {
    let labels: Vec<&str> = before.strip_suffix('.')?.split('.').collect();
    let (at, account_id) = labels
        .iter()
        .enumerate()
        .find_map(|(at, label)| Some((at, account_id(label)?)))?;
    let jurisdiction = match labels.get(at + 1..)? {
        [] => Jurisdiction::Default,
        [name] => jurisdiction(name)?,
        _ => return None,
    };
    let found = BucketAddress {
        account_id,
        jurisdiction,
        ..BucketAddress::default()
    };
    Some(match labels.get(..at)? {
        [] => of_path(found, parts),
        [bucket] => within(found, Some(bucket), parts),
        _ => return None,
    })
}

/// `/ACCOUNT/r2/JURISDICTION/buckets/BUCKET…`, or any other page of an account's R2.
fn of_dashboard(url: &Url, parts: &[&str]) -> Option<Result<BucketAddress, String>> {
    let account_id = account_id(parts.first()?)?;
    let found = BucketAddress {
        account_id,
        ..BucketAddress::default()
    };
    let [_, "r2", kept_in, "buckets", bucket, ..] = parts else {
        return Some(Ok(found));
    };
    let found = BucketAddress {
        jurisdiction: jurisdiction(kept_in)?,
        ..found
    };
    // The page of a folder names it so.
    let folder = url
        .query_pairs()
        .find(|(name, _)| name == "prefix")
        .map_or_else(String::new, |(_, value)| value.into_owned());
    Some(within(found, Some(bucket), &[folder.trim_matches('/')]))
}

fn jurisdiction(name: &str) -> Option<Jurisdiction> {
    match name.to_ascii_lowercase().as_str() {
        "default" => Some(Jurisdiction::Default),
        "eu" => Some(Jurisdiction::Eu),
        "fedramp" => Some(Jurisdiction::Fedramp),
        _ => None,
    }
}

fn of_path(found: BucketAddress, parts: &[&str]) -> Result<BucketAddress, String> {
    match parts {
        [] => Ok(found),
        [bucket, inside @ ..] => within(found, Some(bucket), inside),
    }
}

/// Adds a bucket and a folder.
fn within(
    found: BucketAddress,
    name: Option<&str>,
    inside: &[&str],
) -> Result<BucketAddress, String> {
    let name = name
        .map(|name| bucket(&name.to_ascii_lowercase()))
        .transpose()?;
    let folder = folder(&inside.join("/"))?;
    Ok(BucketAddress {
        bucket: name,
        folder: (!folder.is_empty()).then_some(folder),
        ..found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn read(text: &str) -> (String, Jurisdiction, String, String, String) {
        let found = read_address(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        (
            found.account_id,
            found.jurisdiction,
            found.endpoint.unwrap_or_default(),
            found.bucket.unwrap_or_default(),
            found.folder.unwrap_or_default(),
        )
    }

    #[test]
    fn every_address_that_cloudflare_shows_is_read() {
        let upper = ID.to_ascii_uppercase();
        let of = |jurisdiction, bucket: &str, folder: &str| {
            let (bucket, folder) = (bucket.to_owned(), folder.to_owned());
            (ID.to_owned(), jurisdiction, String::new(), bucket, folder)
        };
        let (default, eu, fedramp) = (
            Jurisdiction::Default,
            Jurisdiction::Eu,
            Jurisdiction::Fedramp,
        );
        for (text, found) in [
            (format!(" {ID}\n"), of(default, "", "")),
            (upper.clone(), of(default, "", "")),
            (format!("https://{ID}.{R2}"), of(default, "", "")),
            (format!("{ID}.{R2}/"), of(default, "", "")),
            (format!("https://{ID}.{R2}/box"), of(default, "box", "")),
            (format!("<https://{ID}.{R2}/box/>"), of(default, "box", "")),
            (
                format!("HTTPS://{upper}.EU.{R2}/Box/a/B/"),
                of(eu, "box", "a/B"),
            ),
            (
                format!("https://box.{ID}.{R2}/in"),
                of(default, "box", "in"),
            ),
            (
                format!("https://box.{ID}.fedramp.{R2}"),
                of(fedramp, "box", ""),
            ),
            (
                format!("https://{DASHBOARD}/{ID}/r2/overview"),
                of(default, "", ""),
            ),
            (
                format!("https://{DASHBOARD}/{ID}/r2/eu/buckets/box"),
                of(eu, "box", ""),
            ),
            (
                format!("https://{DASHBOARD}/{ID}/r2/default/buckets/box?prefix=a%2Fb%2F"),
                of(default, "box", "a/b"),
            ),
            (
                format!("https://{DASHBOARD}/{ID}/r2/fedramp/buckets/box/settings"),
                of(fedramp, "box", ""),
            ),
        ] {
            assert_eq!(read(&text), found, "{text}");
        }
    }

    #[test]
    fn addresses_of_other_servers_are_read() {
        for (text, endpoint, bucket, folder) in [
            ("s3://box/in/side/", "", "box", "in/side"),
            ("r2://box", "", "box", ""),
            ("https://s3.example.org", "https://s3.example.org", "", ""),
            (
                "s3.example.org:9000/box/in",
                "https://s3.example.org:9000",
                "box",
                "in",
            ),
            (
                "http://127.0.0.1:8333/box",
                "http://127.0.0.1:8333",
                "box",
                "",
            ),
            ("http://[::1]:8333/box", "http://[::1]:8333", "box", ""),
        ] {
            let (account, _, found, name, inside) = read(text);
            assert!(account.is_empty(), "{text}");
            assert_eq!(
                (&*found, &*name, &*inside),
                (endpoint, bucket, folder),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_address_is_said_in_a_sentence() {
        for (text, said) in [
            ("", "Paste"),
            ("results", "no address"),
            ("ftp://s3.example.org/box", "no address"),
            ("https://", "no address"),
            ("https://pub-1.r2.dev/x.md", "reading only"),
            ("https://key:secret@s3.example.org/box", "must not hold"),
            ("http://s3.example.org/box", "https://"),
            ("https://short.r2.cloudflarestorage.com/box", "no address"),
            ("https://s3.example.org/b/in", "bucket's name"),
            ("https://s3.example.org/box/in%20side", "folder"),
        ] {
            let error = read_address(text).unwrap_err();
            assert!(
                error.contains(said) && error.ends_with('.'),
                "{text}: {error}"
            );
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
