//! Options of queries that are documents.

use fpstore_tools::documents::LeaveOptions;
use fpstore_tools::sketching::SimhashOptions;

const HEADING: &str = "Documents (with --text)";

/// Options of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TextOptions {
    /// Queries are documents, as `fphash simhash` reads them: ndjson, csv and parquet with a column of text, other files and
    /// the files of directories one document each, whose path is the id. They stand behind STORE, or are named by --input.
    /// Fingerprints are made as the store records that its own were; for a store that does not, the sketch options say how
    #[arg(long, conflicts_with = "corpus", help_heading = HEADING)]
    pub(crate) text: bool,

    /// Column of the text [default: text]
    #[arg(long, value_name = "NAME", requires = "text", help_heading = HEADING)]
    pub(crate) text_column: Option<String>,

    /// Column of ready-made tokens, in place of a text
    #[arg(long, value_name = "NAME", requires = "text", conflicts_with = "text_column", help_heading = HEADING)]
    pub(crate) tokens_column: Option<String>,

    #[command(flatten)]
    pub(crate) simhash: SimhashOptions,

    #[command(flatten)]
    pub(crate) leave: LeaveOptions,
}
