//! Options of documents, for programs whose inputs or queries are documents with `--text`.

use anyhow::bail;

use crate::documents::{DocumentOptions, LeaveOptions};
use crate::input::InputOptions;
use crate::sketching::SimhashOptions;

/// Heading of these options in `--help`.
pub const HEADING: &str = "Documents (with --text)";

/// How fingerprints are made of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TextOptions {
    /// Column of the text [default: text]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub text_column: Option<String>,

    /// Column of ready-made tokens, in place of a text
    #[arg(long, value_name = "NAME", conflicts_with = "text_column", help_heading = HEADING)]
    pub tokens_column: Option<String>,

    /// How the fingerprints are made.
    #[command(flatten)]
    pub simhash: SimhashOptions,

    /// Which documents are left out.
    #[command(flatten)]
    pub leave: LeaveOptions,
}

impl TextOptions {
    /// Refuses these options without `--text`.
    ///
    /// # Errors
    ///
    /// If one of them was given.
    pub fn check_unused(&self) -> anyhow::Result<()> {
        if self.text_column.is_some() || self.tokens_column.is_some() || self.simhash.any() || self.leave.any() {
            bail!("the options of documents and of their fingerprints go with --text");
        }
        Ok(())
    }

    /// Returns how documents are read; `options` are those of all inputs.
    ///
    /// # Errors
    ///
    /// Errors of [`DocumentOptions::of_text`].
    pub fn documents(&self, options: &InputOptions) -> anyhow::Result<DocumentOptions> {
        DocumentOptions::of_text(options, self.text_column.as_ref(), self.tokens_column.as_ref())
    }
}
