//! Options of `fpdedup documents`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fpstore::clusters::Linkage;
use fpstore_tools::documents::{DocumentOptions, RejectOptions};
use fpstore_tools::ranks::First;
use fpstore_tools::size;
use fpstore_tools::sketching::{BandOptions, SimhashOptions};

use crate::rule::Rule;

pub(crate) const EXAMPLES: &str = "\
Writes the documents of INPUT... to FILE, except those that are near a document that stays: in the same order, with \
all columns, in the format of the inputs (JSON, CSV, TSV, Parquet; documents that are whole files become JSON objects \
with their path as the id). A document has a fingerprint (simhash), and two are near if their fingerprints differ in \
at most K bits. Documents are taken in the order of the input, or by --keep-by: one that is not removed yet stays, and \
removes all later ones near it (--linkage star). So each removed document is near the one that stays in its place. \
Documents without features, such as empty ones, stay.

--verify T compares the text of each removed document with that of its keeper, and lets it stay if fewer than T of \
their features are shared (Jaccard similarity, of the same features as the fingerprint). Documents whose texts \
differ are compared among themselves, up to three times; after that some that stay may be similar to each other. --threshold T is the similarity to look for: it chooses \
K, and implies --verify T.

--method minhash makes a MinHash signature of each document (--preset, --num-perm), and compares documents that have a \
band of it in common: of B bands of R places, some 1 - (1 - s^R)^B of the pairs of similarity s. They are near if \
their signatures agree in enough places (--min-jaccard), or with --verify and --threshold if their texts are alike. \
The evidence has the columns shared_keys, which is the number of common bands, and jaccard, which is estimated unless \
the texts were compared.

A run that was stopped, or failed, leaves a directory beside the output; the same command then continues. Inputs are \
read two to four times, so they must be files; --verify reads them once for each part of the removed documents that \
memory holds.

The summary on standard error (with --json an object on standard output) counts the removed documents by rule, and has \
the seconds and bytes of each phase.

Examples:
  fpdedup documents pages.parquet --output clean.parquet
  fpdedup documents 'crawl/*.ndjson.gz' -o clean.ndjson.zst --evidence gone.tsv --id-column url
  fpdedup documents docs/ -o clean.ndjson --verify 0.8 --evidence gone.csv
  fpdedup documents pages.parquet -o clean.parquet --keep-by crawled --keep-order max     the latest ones stay
  fpdedup documents pages.csv -o clean.csv --threshold 0.9 --text-column body
  fpdedup documents pages.parquet -o clean.parquet --method minhash --evidence gone.parquet
  fpdedup documents pages.parquet -o clean.parquet --method minhash --bands 14 --rows 8";

/// Documents in, documents without near-duplicates out.
#[derive(Clone, Debug, Args)]
pub(crate) struct DocumentsArgs {
    /// Documents: files, directories or patterns of names, as for fphash
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<OsString>,

    /// File for the documents that stay; it appears when it is complete. Its ending is that of the inputs' format, also
    /// with .gz or .zst
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// How near documents are found: by fingerprints, or by bands of MinHash signatures
    #[arg(long, value_enum, value_name = "simhash|minhash", default_value = "simhash")]
    pub(crate) method: Method,

    /// Bits in which near fingerprints may differ [default: 6; 20 for --width 128]
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=128))]
    pub(crate) distance: Option<u32>,

    /// Similarity of near documents, above 0 and up to 1: chooses the distance at which half of the documents of this
    /// similarity are found, or the bands and rows, and verifies all (--verify)
    #[arg(long, value_name = "T", conflicts_with = "distance", value_parser = similarity)]
    pub(crate) threshold: Option<f64>,

    /// Remove only documents whose Jaccard similarity to their keeper is at least T, by their texts
    #[arg(long, value_name = "T", value_parser = similarity)]
    pub(crate) verify: Option<f64>,

    /// Rule that makes clusters of near documents, as for `fpdedup keep`
    #[arg(long, value_enum, value_name = "RULE", default_value = "star")]
    linkage: Rule,

    /// Column of the inputs that is the priority of documents, instead of their order: numbers, dates, times and
    /// booleans come by value, texts by their bytes; a column of csv has numbers if all its values are. Documents with
    /// equal values come in the order of the input, and documents without a value last
    #[arg(long, value_name = "COLUMN")]
    pub(crate) keep_by: Option<String>,

    /// Which value of --keep-by comes first
    #[arg(long, value_enum, value_name = "ORDER", requires = "keep_by", default_value_t = First::Min)]
    pub(crate) keep_order: First,

    /// File for the evidence: a row for every removed document with its id, its keeper, the first document of its
    /// cluster and its distance from the keeper, with --verify also the similarity; for minhash the common bands and
    /// the similarity. Documents without ids are numbered from 0 (.tsv, .csv, .ndjson or .parquet; .gz, .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: Option<PathBuf>,

    /// Width of the fingerprints [default: 64]
    #[arg(long, value_name = "64|128")]
    pub(crate) width: Option<u32>,

    /// Documents with fewer distinct features have no fingerprint, and stay
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) min_features: u32,

    /// Memory of the program, such as 4GiB; at least 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size::parse_memory)]
    pub(crate) memory: u64,

    /// Directory for the intermediate files [default: that of the output]
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// With --method minhash: least Jaccard similarity of a removed document to its keeper, estimated from the
    /// signatures; 0 removes documents with any band in common [default: 0.8; 0 with --threshold, --verify or --bands]
    #[arg(long, value_name = "T", value_parser = estimate, help_heading = MINHASH)]
    pub(crate) min_jaccard: Option<f64>,

    #[command(flatten)]
    pub(crate) bands: Bands,

    #[command(flatten)]
    pub(crate) simhash: SimhashOptions,

    #[command(flatten)]
    pub(crate) documents: DocumentOptions,

    #[command(flatten)]
    pub(crate) rejects: RejectOptions,
}

impl DocumentsArgs {
    pub(crate) fn linkage(&self) -> Linkage {
        self.linkage.linkage()
    }

    /// Least similarity of a removed document to its keeper, if it is verified.
    pub(crate) fn verified(&self) -> Option<f64> {
        self.verify.or(self.threshold)
    }
}

/// How keys are made of documents.
#[derive(Clone, Debug, Args)]
pub(crate) struct Bands {
    /// Bands of a signature: documents with one in common are compared [default: chosen with the rows for --threshold,
    /// or 0.8; for the presets of datatrove 14, of 8 rows]
    #[arg(long, value_name = "B", requires = "rows", help_heading = MINHASH)]
    pub(crate) bands: Option<usize>,

    /// Places of the signature in a band
    #[arg(long, value_name = "R", requires = "bands", help_heading = MINHASH)]
    rows: Option<usize>,

    /// Places of a signature [default: bands times rows, or 128]
    #[arg(long, value_name = "N", help_heading = MINHASH)]
    num_perm: Option<usize>,

    /// Seed of the hash functions [default: 1]
    #[arg(long, value_name = "N", help_heading = MINHASH)]
    seed: Option<u32>,
}

impl Bands {
    /// Whether any of the options was given.
    pub(crate) fn any(&self) -> bool {
        self.options().any()
    }

    pub(crate) fn options(&self) -> BandOptions {
        let Self { bands, rows, num_perm, seed } = *self;
        BandOptions { bands, rows, num_perm, seed, ..BandOptions::default() }
    }
}

/// How near documents are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    Simhash,
    Minhash,
}

const MINHASH: &str = "MinHash options";

fn estimate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(similarity) if (0.0..=1.0).contains(&similarity) => Ok(similarity),
        _ => Err("expected a similarity from 0 to 1, such as 0.8".to_owned()),
    }
}

fn similarity(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(similarity) if similarity > 0.0 && similarity <= 1.0 => Ok(similarity),
        _ => Err("expected a similarity above 0 and up to 1, such as 0.8".to_owned()),
    }
}
