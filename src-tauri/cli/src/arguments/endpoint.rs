//! Where Claude is asked.

use clap::{Args, Subcommand, ValueEnum};
use gistmill_engine::model::EndpointKind;

use super::SecretArguments;

pub(crate) const ENDPOINTS: &str = "Examples:
  gistmill endpoint                                     where Claude is asked, and what can be expected there
  gistmill endpoint use ollama --model llama3.3         a model on this computer: text only, for nothing
  gistmill endpoint use openrouter --model anthropic/claude-sonnet-5.5
  gistmill endpoint use litellm --address https://gateway.example.com
  gistmill endpoint use anthropic                       Anthropic itself again
  gistmill endpoint headers --stdin < headers.txt       headers that a gateway wants, one a line

A key is kept with “gistmill key set”; some endpoints want none. The environment is read, too: ANTHROPIC_BASE_URL,
ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN (sent as a bearer token), ANTHROPIC_CUSTOM_HEADERS (one a line).";

#[derive(Subcommand)]
pub(crate) enum EndpointCommand {
    /// Ask at another endpoint from now on
    Use(UseArguments),
    /// Ask the address for its models, which is free, and show them
    Models,
    /// Keep headers that a gateway wants besides the key in the system's keychain
    ///
    /// A header is asked for, or any number of them read from standard input, one a line as `Name: value`. They
    /// replace those before them; their values are never shown again.
    Headers {
        #[command(flatten)]
        secret: SecretArguments,
        /// Forget them
        #[arg(long, conflicts_with = "stdin")]
        remove: bool,
    },
}

#[derive(Args)]
pub(crate) struct UseArguments {
    /// Who answers there
    #[arg(value_enum)]
    pub(crate) kind: EndpointArgument,
    /// Its address, without /v1 (else where it usually is)
    #[arg(long, value_name = "URL")]
    pub(crate) address: Option<String>,
    /// The model for new jobs; a model that runs on this computer is marked as free
    #[arg(long)]
    pub(crate) model: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum EndpointArgument {
    /// Anthropic itself, or a gateway that passes everything on to it
    Anthropic,
    /// A LiteLLM proxy
    Litellm,
    /// OpenRouter
    Openrouter,
    /// Ollama, which reads text and no PDFs
    Ollama,
    /// LM Studio, which reads text and no PDFs
    LmStudio,
    /// Another one that speaks as Anthropic does
    Other,
}

impl From<EndpointArgument> for EndpointKind {
    fn from(argument: EndpointArgument) -> Self {
        match argument {
            EndpointArgument::Anthropic => Self::Anthropic,
            EndpointArgument::Litellm => Self::Litellm,
            EndpointArgument::Openrouter => Self::Openrouter,
            EndpointArgument::Ollama => Self::Ollama,
            EndpointArgument::LmStudio => Self::LmStudio,
            EndpointArgument::Other => Self::Other,
        }
    }
}
