//! Options of `fphash verify`.

use std::ffi::OsString;
use std::path::PathBuf;

use fpstore_tools::documents::{DocumentOptions, RejectOptions};
use fpstore_tools::size;
use fpstore_tools::sketching::FeatureOptions;

pub(crate) const EXAMPLES: &str = "\
Compares the text of every removed document in the evidence of `fpdedup keep` (or `fpdedup documents`) with that of its \
keeper. A row is confirmed if their Jaccard similarity, the share of the distinct features that both have, is at least \
T; otherwise it is doubtful: the text differs from the keeper's.

A row has the columns `id<TAB>keeper<TAB>cluster<TAB>distance<TAB>jaccard<TAB>edit<TAB>verdict`. edit is 1 - edits / \
length (Levenshtein), for texts of at most 2 KiB, in which few words decide; otherwise the cell is empty, in JSON and \
Parquet null. With --substring, the longest common substring as a share of the longer text comes before the verdict, \
for texts of at most 64 KiB. Rows of evidence of a key index have shared_keys in place of distance; jaccard is that of \
the texts, not the estimate.

DOCUMENTS may be in any order. The evidence is taken in parts whose ids fit --memory, and the documents are read once \
for each part. Documents without ids are numbered from 0, as `fpdedup documents` numbers them; a store numbers only \
documents that have a fingerprint, so its evidence needs documents with ids.

Examples:
  fpdedup keep --evidence gone.parquet store > keep.txt
  fphash verify --evidence gone.parquet pages.parquet --doubtful doubtful.tsv --confirmed confirmed.tsv
  fphash verify --evidence gone.tsv --min-jaccard 0.9 --features words:5 'crawl/*.ndjson.gz' | grep doubtful
  fphash verify --keys --evidence gone.tsv pages.ndjson      evidence of a key index
  fphash verify --evidence gone.csv docs/ --substring --json | jq 'select(.edit != null)'";

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The documents: files, directories or patterns of names; - is standard input
    #[arg(value_name = "DOCUMENTS", required = true)]
    pub(crate) documents: Vec<OsString>,

    /// The evidence (.tsv, .txt, .csv, .ndjson, .parquet; .gz, .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: PathBuf,

    /// Evidence in lines with TABs is of a key index: its fourth column counts shared keys. Other formats have names
    #[arg(long)]
    pub(crate) keys: bool,

    /// Least Jaccard similarity of a confirmed row
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = similarity)]
    pub(crate) min_jaccard: f64,

    /// Search the longest common substring too
    #[arg(long)]
    pub(crate) substring: bool,

    /// File for the confirmed rows (.tsv, .csv, .ndjson, .parquet; .gz, .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) confirmed: Option<PathBuf>,

    /// File for the doubtful rows
    #[arg(long, value_name = "FILE")]
    pub(crate) doubtful: Option<PathBuf>,

    /// File for all rows [default: standard output, unless --confirmed or --doubtful names a file]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Memory of the program, at least 64MiB, or as much as the largest texts take [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,

    /// Directory for temporary files, as large as the texts that are compared [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) features: FeatureOptions,

    #[command(flatten)]
    pub(crate) options: DocumentOptions,

    #[command(flatten)]
    pub(crate) rejects: RejectOptions,
}

fn similarity(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(similarity) if (0.0..=1.0).contains(&similarity) => Ok(similarity),
        _ => Err("expected a similarity from 0 to 1, such as 0.8".to_owned()),
    }
}
