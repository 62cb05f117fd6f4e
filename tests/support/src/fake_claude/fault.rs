//! The errors of the API with their statuses, headers and bodies.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

/// An error of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// 400: a field of the request is wrong.
    InvalidRequest,
    /// 400: no credit left.
    CreditTooLow,
    /// 400: a usage limit that the user set.
    UsageLimit,
    /// 400: the same for a workspace.
    WorkspaceUsageLimit,
    /// 400 with a code: the organization is on hold.
    OrganizationOnHold,
    /// 400: the content filter.
    ContentFiltered,
    /// 400: the PDF needs a password.
    PdfPasswordProtected,
    /// 400: not a PDF, or a broken one.
    PdfNotValid,
    /// 400: too many pages.
    PdfTooManyPages,
    /// 400: passes now and then.
    PdfNotProcessed,
    /// 400: more than the context window.
    PromptTooLong,
    /// 401.
    Authentication,
    /// 402.
    Billing,
    /// 403.
    Permission,
    /// 404 of the model.
    ModelNotFound,
    /// 408.
    RequestTimeout,
    /// 409.
    Conflict,
    /// 413 as the network in front of the API words it: HTML.
    TooLarge,
    /// 429 with `retry-after: 7`.
    RateLimited,
    /// 429 for growing too fast, with `retry-after: 12`.
    RampLimited,
    /// 429 for the monthly limit, without `retry-after`.
    SpendLimit,
    /// 429 for the contract's limit.
    ContractSpendLimit,
    /// 500.
    Internal,
    /// 502 of a gateway: HTML.
    BadGateway,
    /// 503 with an empty body.
    Unavailable,
    /// 504.
    GatewayTimeout,
    /// 529 with `x-should-retry: true`.
    Overloaded,
}

/// Any status, headers and body.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Canned {
    /// The status.
    pub status: u16,
    /// Headers besides `request-id`.
    pub headers: BTreeMap<String, String>,
    /// A JSON body. A `request_id` is added where the body is an error object.
    pub body: Option<Value>,
    /// Another body, used when there is no JSON.
    pub text: Option<String>,
}

impl Canned {
    /// An error object as the API shapes it.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self {
            status,
            body: Some(json!({"type": "error", "error": {"type": kind, "message": message}})),
            ..Self::default()
        }
    }

    /// The same with a code in its details.
    #[must_use]
    pub fn with_code(mut self, code: &str) -> Self {
        if let Some(error) = self.body.as_mut().and_then(|body| body.get_mut("error")) {
            error["details"] = json!({"error_code": code});
        }
        self
    }

    /// The same with another header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A body that is no JSON.
    #[must_use]
    pub fn text(status: u16, content_type: &str, text: &str) -> Self {
        Self {
            status,
            text: Some(text.to_owned()),
            ..Self::default()
        }
        .with_header("content-type", content_type)
    }

    pub(super) fn respond(self, request_id: &str) -> Response<Body> {
        let mut body = self.text.unwrap_or_default();
        let mut headers = self.headers;
        if let Some(mut value) = self.body {
            if value["type"] == "error" {
                value["request_id"] = json!(request_id);
            }
            body = value.to_string();
            headers
                .entry("content-type".to_owned())
                .or_insert_with(|| "application/json".to_owned());
        }
        let mut response = Response::new(Body::from(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::IM_A_TEAPOT);
        headers
            .entry("request-id".to_owned())
            .or_insert_with(|| request_id.to_owned());
        for (name, value) in headers {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

impl Fault {
    /// Returns the status, headers and body of the error.
    #[must_use]
    pub fn canned(self) -> Canned {
        let invalid = |message: &str| Canned::error(400, "invalid_request_error", message);
        let pdf = |message: &str| {
            invalid(&format!(
                "messages.0.content.0.pdf.source.base64.data: {message}"
            ))
        };
        let limited = |message: &str| Canned::error(429, "rate_limit_error", message);
        match self {
            Self::InvalidRequest => invalid("max_tokens: Field required"),
            Self::CreditTooLow => invalid(
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
            ),
            Self::UsageLimit => invalid(
                "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            ),
            Self::WorkspaceUsageLimit => invalid(
                "You have reached your specified workspace API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            ),
            Self::OrganizationOnHold => {
                invalid("This organization is on hold.").with_code("organization_on_hold")
            }
            Self::ContentFiltered => invalid("Output blocked by content filtering policy"),
            Self::PdfPasswordProtected => pdf("The PDF specified is password protected."),
            Self::PdfNotValid => pdf("The PDF specified was not valid."),
            Self::PdfTooManyPages => pdf("A maximum of 600 PDF pages may be provided."),
            Self::PdfNotProcessed => invalid("Could not process PDF"),
            Self::PromptTooLong => invalid("prompt is too long: 1204113 tokens > 1000000 maximum"),
            Self::Authentication => Canned::error(401, "authentication_error", "invalid x-api-key"),
            Self::Billing => Canned::error(
                402,
                "billing_error",
                "There is a problem with the payment details of this organization.",
            ),
            Self::Permission => Canned::error(
                403,
                "permission_error",
                "Your API key does not have permission to use the specified resource.",
            ),
            Self::ModelNotFound => {
                Canned::error(404, "not_found_error", "model: claude-sonnet-1-0")
            }
            Self::RequestTimeout => Canned::error(408, "timeout_error", "Request timed out"),
            Self::Conflict => Canned::error(409, "conflict_error", "The resource has changed."),
            Self::TooLarge => Canned::text(
                413,
                "text/html",
                "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n",
            ),
            Self::RateLimited => limited(
                "This request would exceed the rate limit for your organization of 30,000 input tokens per minute.",
            )
            .with_header("retry-after", "7"),
            Self::RampLimited => limited(
                "This request would exceed your organization's maximum usage increase rate for input tokens per minute. Please scale up your input tokens usage more gradually.",
            )
            .with_code("ramp_limit_exceeded")
            .with_header("retry-after", "12"),
            Self::SpendLimit => limited(
                "You have reached your API usage limits: your organization has crossed its monthly API usage threshold. You will regain access on 2026-12-01 at 00:00 UTC.",
            )
            .with_code("enforced_spend_limit_reached"),
            Self::ContractSpendLimit => {
                limited("Your organization has reached the spend limit of its contract.")
                    .with_code("contract_spend_limit_reached")
            }
            Self::Internal => Canned::error(500, "api_error", "Internal server error"),
            Self::BadGateway => Canned::text(
                502,
                "text/html",
                "<html><body><h1>502 Bad Gateway</h1></body></html>",
            ),
            Self::Unavailable => Canned {
                status: 503,
                ..Canned::default()
            },
            Self::GatewayTimeout => Canned::error(504, "timeout_error", "Request timed out"),
            Self::Overloaded => Canned::error(529, "overloaded_error", "Overloaded")
                .with_header("x-should-retry", "true"),
        }
    }
}
