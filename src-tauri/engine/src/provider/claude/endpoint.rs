//! Who answers at an address, and what can be expected there.
//!
//! Sources: Anthropic's documentation of the API; Ollama's `docs/api/anthropic-compatibility.mdx`, by which PDFs,
//! citations, `count_tokens` and batches are not supported and document blocks are dropped without a word;
//! LiteLLM's pages on `/v1/messages`, `count_tokens` and structured output; OpenRouter's "Create a message"; LM
//! Studio's page on compatibility with Anthropic, which says nothing of PDFs. All as of November 2026.

use std::net::IpAddr;

use reqwest::Url;

use super::ANTHROPIC_BASE_URL;
use crate::model::{AuthScheme, EndpointAbilities, EndpointKind};

/// The newest version of the API: it takes no sampling parameters, no documents of the assistant and no
/// citations of the person, none of which is sent here. Anthropic recommends it, and says that older ones may not
/// be there for new users.
const NEWEST_VERSION: &str = "2026-10-21";
/// The version that all who speak like Anthropic know.
const KNOWN_VERSION: &str = "2023-06-01";

const EVERYTHING: EndpointAbilities = EndpointAbilities {
    documents: true,
    citations: true,
    structured_outputs: true,
    count_tokens: true,
    batches: true,
    files: true,
    models: true,
};

/// What runs a model on this computer: text goes in, text comes out.
const TEXT_ALONE: EndpointAbilities = EndpointAbilities {
    documents: false,
    citations: false,
    structured_outputs: false,
    count_tokens: false,
    batches: false,
    files: false,
    models: true,
};

/// Returns what can be asked for.
#[must_use]
pub fn abilities(kind: EndpointKind) -> EndpointAbilities {
    match kind {
        EndpointKind::Anthropic => EVERYTHING,
        // What nobody says a word of is asked for, and its answers are looked at.
        EndpointKind::Litellm | EndpointKind::Other => EndpointAbilities {
            batches: false,
            files: false,
            ..EVERYTHING
        },
        EndpointKind::Openrouter => EndpointAbilities {
            count_tokens: false,
            batches: false,
            files: false,
            ..EVERYTHING
        },
        EndpointKind::Ollama | EndpointKind::LmStudio => TEXT_ALONE,
    }
}

/// Returns how the key is usually sent. Ollama's cloud and OpenRouter take no `x-api-key`.
#[must_use]
pub fn usual_auth(kind: EndpointKind) -> AuthScheme {
    match kind {
        EndpointKind::Openrouter | EndpointKind::Ollama => AuthScheme::Bearer,
        EndpointKind::Anthropic
        | EndpointKind::Litellm
        | EndpointKind::LmStudio
        | EndpointKind::Other => AuthScheme::ApiKey,
    }
}

/// Returns the version of the API that is asked for.
#[must_use]
pub fn api_version(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::Anthropic => NEWEST_VERSION,
        _ => KNOWN_VERSION,
    }
}

/// Returns where an endpoint usually is; `None` where everybody has an own address.
#[must_use]
pub fn usual_address(kind: EndpointKind) -> Option<&'static str> {
    match kind {
        EndpointKind::Anthropic => Some(ANTHROPIC_BASE_URL),
        EndpointKind::Litellm => Some("http://localhost:4000"),
        EndpointKind::Openrouter => Some("https://openrouter.ai/api"),
        EndpointKind::Ollama => Some("http://localhost:11434"),
        EndpointKind::LmStudio => Some("http://localhost:1234"),
        EndpointKind::Other => None,
    }
}

/// Returns who answers at an address, by what it shows.
#[must_use]
pub fn kind_of(base_url: &str) -> EndpointKind {
    let Ok(url) = super::base_url(base_url) else {
        return EndpointKind::Other;
    };
    let host = url.host_str().unwrap_or_default();
    let is_at = |domain: &str| {
        host.strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if super::is_anthropic_host(&url) {
        EndpointKind::Anthropic
    } else if is_at("openrouter.ai") {
        EndpointKind::Openrouter
    } else if is_at("ollama.com") || url.port() == Some(11_434) {
        EndpointKind::Ollama
    } else if url.port() == Some(1_234) {
        EndpointKind::LmStudio
    } else {
        EndpointKind::Other
    }
}

/// Says whether an address is of this computer or of its network.
#[must_use]
pub fn is_local(base_url: &str) -> bool {
    super::base_url(base_url).is_ok_and(|url| is_loopback(&url) || is_private(&url))
}

pub(super) fn is_loopback(url: &Url) -> bool {
    url.host_str() == Some("localhost") || address(url).is_some_and(|ip| ip.is_loopback())
}

fn is_private(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host.ends_with(".local"))
        || address(url).is_some_and(|ip| match ip {
            IpAddr::V4(ip) => ip.is_private() || ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
        })
}

fn address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_show_who_answers() {
        for (address, kind) in [
            ("https://api.anthropic.com", EndpointKind::Anthropic),
            ("https://api.anthropic.com/v1", EndpointKind::Anthropic),
            ("https://openrouter.ai/api/v1", EndpointKind::Openrouter),
            ("https://notopenrouter.ai", EndpointKind::Other),
            ("http://localhost:11434", EndpointKind::Ollama),
            ("https://ollama.com", EndpointKind::Ollama),
            ("http://127.0.0.1:1234", EndpointKind::LmStudio),
            ("http://127.0.0.1:4000", EndpointKind::Other),
            ("nonsense", EndpointKind::Other),
        ] {
            assert_eq!(kind_of(address), kind, "{address}");
        }
        for kind in EndpointKind::ALL {
            if let Some(address) = usual_address(kind).filter(|_| kind != EndpointKind::Litellm) {
                assert_eq!(kind_of(address), kind, "{address}");
            }
        }
    }

    #[test]
    fn addresses_of_this_network_are_local() {
        for address in [
            "http://localhost:11434",
            "http://127.0.0.1:1",
            "http://[::1]:1",
            "http://192.168.1.9:1234",
            "http://box.local",
        ] {
            assert!(is_local(address), "{address}");
        }
        for address in ["https://ollama.com", "https://8.8.8.8", "nonsense"] {
            assert!(!is_local(address), "{address}");
        }
    }
}
