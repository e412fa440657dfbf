//! Options of `fpload`, as given on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use fpstore::Codec;
use fpstore_tools::common::Common;
use fpstore_tools::input::InputOptions;
use fpstore_tools::sketching::BandOptions;
use fpstore_tools::text_options::{HEADING, TextOptions};
use fpstore_tools::{memory, size, width};

use crate::choice::PlanChoice;

const EXAMPLES: &str = "\
The input has one record on each line: hexadecimal digits, optionally followed by a TAB and the document's id. Parquet \
and
JSON (an object on each line, or an array), gzip and zstd are recognised by their content under any name; otherwise the
extension decides: .txt .tsv .hex = hex; .u64 .u128 .u256 .bin = le; .ndjson .jsonl .json; .csv; .parquet. A directory
stands for such files below it, except names that begin with _ or a dot; a pattern such as 'parts/*.parquet' for the \
files
that match. The store numbers records without ids. A store holds a set: a record that is present already is counted, and
changes nothing. A first line `#fpstore width=128 hasher=NAME` describes the fingerprints. If it ends with ` end=1`, \
as the
output of fphash does, the last line must be `#end records=N`: without it the writer has failed, and nothing is loaded.

SIZE is a number of bytes, or 512M, 1G, 1GB, 1.5GiB: powers of 1024.

Exit code: 0 = loaded, 2 = an error, 130 = Ctrl-C, 143 = SIGTERM, and the store is as it was.

Examples:
  fpload --create store fingerprints.tsv       make a store and load a file
  fpload store more.tsv.gz even-more.u64       add records
  fpload --create --text store docs.ndjson.gz  documents, whose fingerprints are made as by fphash
  fpload --create --text --on-error skip --rejects bad.tsv store docs.ndjson    bad documents are left out and listed
  fphash simhash docs/ > docs.hex && fpload --create store docs.hex     the same in two steps
  fpload --create store crawl.parquet/         all part files of a directory
  zcat dump.csv.gz | fpload --format csv --delimiter ';' store -
  fpload --create --max-distance 7 --plan auto:latency store fingerprints.tsv
  fpload --create store docs.ndjson --fingerprint-column simhash --id-column n
  fpload --create --width 256 --max-distance 31 images hashes.u256
  fpload --create --width 256 --quality-column quality --min-quality 50 images pdq.csv
  fpload --create --fingerprint-format signed store simhashes.csv     bigint of a database: -1 is ffff...
  fpload --create --ids text pages urls.tsv    ids are texts, even if they look like numbers
  fpload --remove store withdrawn.tsv          remove records
  fpload --remove --by-id store gone-urls.txt  remove all records of these ids, one on each line
  fpload --replace store crawled.tsv           replace the fingerprints of pages that changed
  fpload --create --kind keys --text --bands 14 --rows 8 --sketch 224 bands docs.ndjson     a key index of MinHash bands
  fphash bands --json docs/ | fpload --create --kind keys bands -     the same in two steps, without sketches
  fpload --create --kind keys index keys.parquet     keys of one's own: `id`, and `keys`, a list
  fpload --id-index store                      add an index of the ids to a store without one
  fpload --compact store                       merge all segments: faster queries
  fpload --save-filters store                  save prefix filters: a program with many queries starts faster
  fpload --memory 1GiB --tmp-dir /scratch store huge.parquet
  fpload --dry-run store more.tsv              check the input, write nothing
  fpload --plan list --records 1000000000      costs of the designs for uniformly distributed fingerprints
  fpload --plan list fingerprints.tsv          costs for these: fingerprints in families cost more to find";

/// Loads fingerprints into a store, or creates one: all inputs, or nothing
#[derive(Clone, Debug, Parser)]
#[command(name = "fpload", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store: a directory
    #[arg(value_name = "STORE")]
    pub(crate) store: Option<PathBuf>,

    /// Files of fingerprints, directories of them, or patterns of names; - is standard input
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<OsString>,

    /// Create the store, which must not exist. Without inputs it is empty
    #[arg(long)]
    pub(crate) create: bool,

    /// Read and check everything, report what would be done, write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// What records are compared by: fingerprints, or keys, such as MinHash bands, of which a record has any number
    /// [default: fingerprints]
    #[arg(long, value_enum, value_name = "KIND", help_heading = CREATION)]
    pub(crate) kind: Option<StoreKind>,

    /// With --kind keys: how many leading bits of a key are stored, 1 to 64 [default: 48]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=64), help_heading = CREATION)]
    pub(crate) key_bits: Option<u8>,

    /// With --kind keys: bits of the sketch of a record, up to 8192, from which Jaccard similarities are estimated: the
    /// lowest bit of each of as many minhashes, as hexadecimal digits in `sketch` of the input [default: 0]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u16).range(0..=8192), help_heading = CREATION)]
    pub(crate) sketch: Option<u16>,

    /// Bits of a fingerprint: 64, 128 or 256 [default: that of the first input, if it is known, or 64]
    #[arg(long, value_name = "BITS", value_parser = width::parse, help_heading = CREATION)]
    pub(crate) width: Option<u32>,

    /// Largest distance of queries that the store is made for [default: 3]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256), help_heading = CREATION)]
    pub(crate) max_distance: Option<u32>,

    /// Layout of the tables: auto, auto:space, auto:latency, auto:disk, the name of a design, or `list` to see all
    /// designs and their predicted costs, for the records of INPUT... if there are any, which are not loaded. The
    /// predictions are for queries near stored fingerprints; other queries cost less [default: auto]
    #[arg(long, value_name = "PLAN", help_heading = CREATION)]
    pub(crate) plan: Option<PlanChoice>,

    /// Name of the hasher of the fingerprints, with its parameters, without blanks. Later loads that name another
    /// hasher, or none, are refused [default: the hasher in the first line of the input]
    #[arg(long, value_name = "NAME")]
    pub(crate) hasher: Option<String>,

    /// Remove the records of the inputs instead of adding them
    #[arg(long, conflicts_with = "create")]
    pub(crate) remove: bool,

    /// With --remove: the inputs are ids alone, one on each line, or the column --id-column of csv, ndjson or parquet;
    /// all records of these ids are removed. With an index of the ids (--id-index) this is fast for a few ids in a
    /// large store
    #[arg(long, requires = "remove", conflicts_with = "text")]
    pub(crate) by_id: bool,

    /// Replace the fingerprints of the ids in the inputs: other records of these ids are removed in the same step. New
    /// ids are added; an id that occurs with several fingerprints gets all of them
    #[arg(long, conflicts_with_all = ["create", "remove"])]
    pub(crate) replace: bool,

    /// Merge all segments into one, after the load if there are inputs
    #[arg(long)]
    pub(crate) compact: bool,

    /// Save prefix filters beside the segments, after the load if there are inputs: programs that make many queries
    /// read them instead of making them. They take 1 to 4 bytes for each fingerprint and table, of disk and of memory
    #[arg(long)]
    pub(crate) save_filters: bool,

    /// Memory of the load, at least 64MiB; the rest is sorted in temporary files [default: half of the
    /// machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,

    /// Directory for temporary files [default: the parent directory of the store]. They have no names and vanish with
    /// the program
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// With `--plan list`: number of fingerprints to predict for [default: that of the input, or 100000000]
    #[arg(long, value_name = "N", help_heading = CREATION)]
    pub(crate) records: Option<u64>,

    /// Compression of fingerprints: adaptive, or xor for comparison [default: adaptive]
    #[arg(long, value_name = "NAME", value_parser = parse_codec, help_heading = CREATION)]
    pub(crate) codec: Option<Codec>,

    /// Size of a block: small blocks make queries fast, large blocks make the store small. A power of two from 128 to
    /// 64KiB [default: 256]
    #[arg(long, value_name = "SIZE", value_parser = parse_block_size, help_heading = CREATION)]
    pub(crate) block_size: Option<u32>,

    /// Kind of ids: u64, text, or none, with which each fingerprint has a count; auto takes the kind of the first
    /// record, and u64 if it has no id [default: auto]
    #[arg(long, value_enum, value_name = "KIND", help_heading = CREATION)]
    pub(crate) ids: Option<Ids>,

    /// Keep an index of the ids, about four bytes for each record, so that records are found by id without reading all
    /// records. Without --create and inputs: add the index to the store, which becomes one segment
    #[arg(long, help_heading = CREATION)]
    pub(crate) id_index: bool,

    /// The inputs are documents, as for `fphash simhash`: json, csv, tsv and parquet with a column of text, and other
    /// files as one document each, whose path is the id. Fingerprints are made with the options of fphash, and the
    /// store records how; for an existing store they are made as it records
    #[arg(long, conflicts_with = "hasher", help_heading = HEADING)]
    pub(crate) text: bool,

    #[command(flatten)]
    pub(crate) texts: TextOptions,

    #[command(flatten)]
    pub(crate) bands: BandOptions,

    #[command(flatten)]
    pub(crate) options: InputOptions,

    #[command(flatten)]
    pub(crate) common: Common,
}

const CREATION: &str = "At creation";

impl Args {
    /// Returns the directory for temporary files: the store's, because the system's may be in memory.
    pub(crate) fn temp_dir(&self) -> Option<PathBuf> {
        let around = |store: &Path| store.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new(".")).to_owned();
        self.tmp_dir.clone().or_else(|| self.store.as_deref().map(around))
    }

    /// Returns the memory for documents in flight: a quarter of the whole.
    pub(crate) fn document_memory(&self) -> u64 {
        const MOST: u64 = 256 << 20;
        (memory::of_load(self.memory) / 4).min(MOST)
    }
}

/// What records are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Fingerprints,
    Keys,
}

/// Kind of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ids {
    Auto,
    U64,
    Text,
    None,
}

fn parse_codec(text: &str) -> Result<Codec, String> {
    text.parse().map_err(|error: fpstore::Error| error.to_string())
}

fn parse_block_size(text: &str) -> Result<u32, String> {
    match u32::try_from(size::parse(text)?) {
        Ok(size @ 128..=65_536) if size.is_power_of_two() => Ok(size),
        Ok(_) => Err("expected a power of two from 128 bytes to 64 KiB".to_owned()),
        Err(_) => Err("is too large".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }
}
