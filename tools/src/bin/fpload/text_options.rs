//! Options of `--text`: inputs are documents.

use anyhow::bail;
use fpstore_tools::documents::DocumentFormat;
use fpstore_tools::input::Format;
use fpstore_tools::sketching::SimhashOptions;

const HEADING: &str = "Documents (with --text)";

/// Options of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TextOptions {
    /// The inputs are documents, as `fphash simhash` reads them: ndjson, csv and parquet with a column of text, other files
    /// and the files of directories one document each, whose path is the id. Fingerprints are made of them by the options of
    /// fphash, and the store records how
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
}

impl TextOptions {
    /// Refuses options of documents where there are none.
    pub(crate) fn check_unused(&self) -> anyhow::Result<()> {
        if self.text_column.is_some() || self.tokens_column.is_some() || self.simhash.any() {
            bail!("the options of documents and of their fingerprints go with --text");
        }
        Ok(())
    }

    /// The format of documents that `--format` asks for.
    pub(crate) fn format(format: Option<Format>) -> anyhow::Result<Option<DocumentFormat>> {
        Ok(match format {
            None => None,
            Some(Format::Ndjson) => Some(DocumentFormat::Ndjson),
            Some(Format::Csv) => Some(DocumentFormat::Csv),
            Some(Format::Parquet) => Some(DocumentFormat::Parquet),
            Some(Format::Hex | Format::Dec | Format::Le) => {
                bail!("--format: documents are ndjson, csv or parquet, or else one file each, without --format")
            }
        })
    }
}
