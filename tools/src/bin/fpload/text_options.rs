//! Options of `--text`: inputs are documents.

use anyhow::bail;
use fpstore_tools::documents::LeaveOptions;
use fpstore_tools::sketching::SimhashOptions;

const HEADING: &str = "Documents (with --text)";

/// Options of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TextOptions {
    /// The inputs are documents, as `fphash simhash` reads them: json, csv, tsv and parquet with a column of text, other files
    /// one document each, whose path is the id. Fingerprints are made of them by the options of fphash, and the store records
    /// how; for a store that is there they are made as it records
    #[arg(long, conflicts_with = "hasher", help_heading = HEADING)]
    pub(crate) text: bool,

    /// Column of the text [default: text]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) text_column: Option<String>,

    /// Column of ready-made tokens, in place of a text
    #[arg(long, value_name = "NAME", conflicts_with = "text_column", help_heading = HEADING)]
    pub(crate) tokens_column: Option<String>,

    #[command(flatten)]
    pub(crate) simhash: SimhashOptions,

    #[command(flatten)]
    pub(crate) leave: LeaveOptions,
}

impl TextOptions {
    /// Refuses options of documents where there are none.
    pub(crate) fn check_unused(&self) -> anyhow::Result<()> {
        if self.text_column.is_some() || self.tokens_column.is_some() || self.simhash.any() || self.leave.any() {
            bail!("the options of documents and of their fingerprints go with --text");
        }
        Ok(())
    }
}
