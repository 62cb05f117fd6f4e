//! Templates: what a person writes of them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use gistmill_engine::model::{Sends, TemplateField, TemplateKind};

use crate::values;

#[derive(Subcommand)]
pub(crate) enum TemplatesCommand {
    /// List the templates, each with its newest version
    List,
    /// Show a template: its prompt, its variables, its fields
    Show {
        /// Its id, with or without the version, or its name
        template: String,
    },
    /// Make a template
    #[command(after_help = WRITING)]
    Create(CreateArguments),
    /// Make a new version of a template; jobs that were asked with an older one keep theirs
    ///
    /// What is not named stays as it is. Prints the new version.
    #[command(after_help = WRITING)]
    Edit(EditArguments),
    /// Make a template of your own that begins as a copy
    Duplicate {
        /// Its id, with or without the version, or its name
        template: String,
    },
    /// Offer a template no more; jobs that were asked with it keep it
    Remove {
        /// Its id, with or without the version, or its name
        template: String,
    },
    /// Show a prompt as it would be sent, and what keeps a template from being saved
    ///
    /// Of a template, of changes to one, or of a new one; nothing is stored. Ends with code 1 when it could not
    /// be saved so.
    Preview(PreviewArguments),
    /// Make templates of files that “gistmill templates export” wrote
    Import {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Write a template to a file, for others to import
    Export {
        /// Its id, with or without the version, or its name
        template: String,
        /// The file
        file: PathBuf,
        /// Write over the file if there is one
        #[arg(long)]
        replace: bool,
    },
}

const WRITING: &str = "In a body {language} and other names in braces are variables, which
“gistmill add --set NAME=VALUE” gives values for. {file_name}, {pages} and {today} have theirs by
themselves.

Examples:
  gistmill templates create --name Minutes --kind prose --body minutes.txt
  gistmill templates create --name Invoices --kind fields --body - \\
      --field 'total:number:The amount to pay' --field 'due:date:When it has to be paid'
  gistmill templates edit invoices --body better.txt
  gistmill templates edit invoices --sends text     send the text of a document without its pictures";

#[derive(Args)]
pub(crate) struct CreateArguments {
    /// Its name, as shown
    #[arg(long)]
    pub(crate) name: String,
    /// What an answer looks like
    #[arg(long, value_enum)]
    pub(crate) kind: KindArgument,
    /// The file with the prompt that follows the document; `-` reads it from standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) body: PathBuf,
    /// What is sent of a document
    #[arg(long, value_enum, default_value_t = SendsArgument::Pdf)]
    pub(crate) sends: SendsArgument,
    #[command(flatten)]
    pub(crate) fields: FieldArguments,
}

/// What becomes different.
#[derive(Args)]
pub(crate) struct DraftArguments {
    /// Its name, as shown
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What an answer looks like
    #[arg(long, value_enum)]
    pub(crate) kind: Option<KindArgument>,
    /// The file with the prompt that follows the document; `-` reads it from standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) body: Option<PathBuf>,
    /// What is sent of a document
    #[arg(long, value_enum)]
    pub(crate) sends: Option<SendsArgument>,
    #[command(flatten)]
    pub(crate) fields: FieldArguments,
}

#[derive(Args)]
pub(crate) struct FieldArguments {
    /// A field to fill in; name one after the other, in the order of the columns
    ///
    /// KIND is text, number, whole-number, yes-no, date or list. In an edit these take the place of all fields
    /// that were there.
    #[arg(long = "field", value_name = "NAME:KIND:DESCRIPTION", value_parser = values::field)]
    pub(crate) fields: Vec<TemplateField>,
}

#[derive(Args)]
pub(crate) struct EditArguments {
    /// Its id, with or without the version, or its name
    pub(crate) template: String,
    #[command(flatten)]
    pub(crate) draft: DraftArguments,
}

#[derive(Args)]
pub(crate) struct PreviewArguments {
    /// A template to begin with: its id, with or without the version, or its name
    #[arg(required_unless_present = "body")]
    pub(crate) template: Option<String>,
    #[command(flatten)]
    pub(crate) draft: DraftArguments,
    /// A value for a variable of the template
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = values::variable)]
    pub(crate) variables: Vec<(String, String)>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum KindArgument {
    /// Markdown
    Prose,
    /// Markdown whose statements name the pages that they come from
    CitedProse,
    /// The same fields of every document, for a table
    Fields,
}

impl From<KindArgument> for TemplateKind {
    fn from(argument: KindArgument) -> Self {
        match argument {
            KindArgument::Prose => Self::Prose,
            KindArgument::CitedProse => Self::CitedProse,
            KindArgument::Fields => Self::Fields,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SendsArgument {
    /// The PDF: text and a picture of each page
    Pdf,
    /// Its text alone, with the numbers of pages: cheaper, blind to pictures; scans fail
    Text,
}

impl From<SendsArgument> for Sends {
    fn from(argument: SendsArgument) -> Self {
        match argument {
            SendsArgument::Pdf => Self::Pdf,
            SendsArgument::Text => Self::Text,
        }
    }
}
