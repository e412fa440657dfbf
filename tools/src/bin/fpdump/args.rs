//! What was typed: subcommands and options of `fpdump`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use fpstore::{Codec, Design, Parameters};
use fpstore_tools::common::Common;
use fpstore_tools::size;

const EXAMPLES: &str = "\
PATH is a store, or a file of one. Nothing is ever written to it.

Exit code: 0 = done, 1 = `get` found nothing or `verify` found damage, 2 = an error.

Examples:
  fpdump info store                            what is it, and what is it made of?
  fpdump stats --json store                    how large is every part, beside the least possible
  fpdump verify store                          is every byte what was written?
  fpdump scan store | fpload --create copy -   a store as text, and back
  fpdump scan store -o records.parquet         for other programs; fpload reads it too
  fpdump get 832fe9f6aa2f461a store            the ids of one fingerprint
  fpdump get --id https://example.org/a store  the fingerprints of one id
  fpdump block 3 store/00000001.segment --table 1     one block, decoded
  fpdump what-if store                         would another codec, block size or plan be smaller?
  fpdump manifest store                        which segments are there, and what is newer than what?
  fpdump wal --operations store                what was written last
  fpdump hex store/00000001.segment | less     every byte and its meaning";

const SCAN_EXAMPLES: &str = "\
Records come by fingerprint, then id. Files with columns have `fingerprint` and `id`; in Parquet, fingerprints of 64 bits and number ids \
are UINT64, wider fingerprints are bytes of fixed length, most significant first. Where the store has no ids, there is no column of \
ids, and a fingerprint that was counted several times comes as many times.

Only lines with TABs say in a first line which width and hasher the fingerprints have.

Examples:
  fpdump scan store | fpload --create copy -
  fpdump scan store -o records.csv.zst
  fpdump scan store -o records.parquet";

const STATS_EXAMPLES: &str = "\
The drawings are of table 0, whose keys are the fingerprints themselves. They take one pass over it. With --json and \
--draw always the same counts stand in the field \"distributions\", as pairs [value, count].

Examples:
  fpdump stats store                           on a terminal with drawings, in a pipe without
  fpdump stats --draw always store | less      with drawings all the same
  fpdump stats --json store                    sizes alone, without reading a block";

const WHAT_IF_EXAMPLES: &str = "\
Every table is encoded in memory and measured, each segment by itself as it is; ids are left out. What a query costs is \
predicted by the model behind `fpload --plan list`, told how many fingerprints a block really holds. The row of the \
store as it is is marked.

Without --codec, --block-size and --plan: the store's plan with every codec and blocks of 256 bytes to 16 KiB, and the \
listed plans with the store's codec and block size, except those with tables that a query within K would not probe. \
Otherwise every combination of what is named; what is not named stays as it is.

Numbers are exactly those of a store that is made like this, and eight bytes of memory are taken for each fingerprint, \
and up to a gibibyte more for the tables at work. Of a segment with more than N fingerprints, runs of neighbours from \
all over each table are encoded and scaled up; the row then says that it is an estimate.

Examples:
  fpdump what-if store                                       would something else be smaller?
  fpdump what-if store --block-size 4KiB --block-size 16KiB  larger blocks
  fpdump what-if store --plan tables-4 --plan choose-2-of-5 --max-distance 2
  fpdump what-if store --sample 1000000                      a quick estimate
  fpdump what-if store --json | jq '.alternatives[] | [.plan, .codec, .block_size, .bytes]'";

/// Looks inside a store or a file of it. Never writes.
#[derive(Clone, Debug, Parser)]
#[command(name = "fpdump", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) what: What,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum What {
    /// What it is: parameters, files, numbers of records
    Info {
        /// A store, a segment file or a manifest
        path: PathBuf,
    },
    /// Sizes of all parts, bits a fingerprint beside the information bound
    #[command(after_help = STATS_EXAMPLES)]
    Stats {
        /// A store or a segment file
        path: PathBuf,
        /// Draw how blocks, codes and neighbouring fingerprints are distributed: auto = on a terminal, not in JSON
        #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
        draw: Draw,
    },
    /// Where the sections of the files begin and end
    Layout {
        /// A store or a segment file
        path: PathBuf,
    },
    /// The blocks of a table, a line each
    Blocks {
        /// A store or a segment file
        path: PathBuf,
        /// Number of the table, from 0
        #[arg(long, value_name = "N", default_value_t = 0)]
        table: usize,
    },
    /// One block: its fields, and the keys in it
    Block {
        /// Number of the block, from 0, as `blocks` shows it
        #[arg(value_name = "N")]
        number: usize,
        /// A store of one segment, or a segment file
        path: PathBuf,
        /// Number of the table, from 0
        #[arg(long, value_name = "N", default_value_t = 0)]
        table: usize,
    },
    /// All records as fpload reads them, a line each: HEX, TAB, ID
    #[command(after_help = SCAN_EXAMPLES)]
    Scan {
        /// A store or a segment file
        path: PathBuf,
        /// File to write to, which appears when it is whole: .tsv or .txt (lines with TABs), .csv (with a row of names), .ndjson (each
        /// of them also with .gz or .zst) or .parquet [default: standard output]
        #[arg(short = 'o', long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// The records of one fingerprint, or of one id
    #[command(override_usage = "fpdump get [OPTIONS] HEX PATH\n       fpdump get [OPTIONS] --id ID PATH")]
    Get {
        /// The fingerprint, in hexadecimal: 16 digits, or 32, or 64, as wide as the store's. Left out with --id
        #[arg(value_name = "HEX")]
        first: OsString,
        /// In place of a fingerprint: the id of a document. A store without an index of its ids (`fpload --id-index`) is read
        /// as a whole
        #[arg(long, value_name = "ID", allow_hyphen_values = true)]
        id: Option<String>,
        /// A store or a segment file
        #[arg(required_unless_present = "id", conflicts_with = "id")]
        path: Option<PathBuf>,
    },
    /// Checks every byte and names every damaged place
    Verify {
        /// A store, a segment file, a log or a manifest
        path: PathBuf,
    },
    /// The tables: their order of bits, the radius in which each is probed, and what queries are expected to cost
    Plan {
        /// A store or a segment file
        path: PathBuf,
    },
    /// What other codecs, block sizes and plans would make of it, side by side
    #[command(name = "what-if", after_help = WHAT_IF_EXAMPLES)]
    Alternatives {
        /// A store or a segment file
        path: PathBuf,
        #[command(flatten)]
        wanted: Wanted,
    },
    /// Every byte of a file beside its meaning
    Hex {
        /// A segment file, a manifest, a log, or a store: all its files
        path: PathBuf,
    },
    /// The runs that a store consists of, and their segments
    Manifest {
        /// A store, or its manifest
        path: PathBuf,
    },
    /// The write-ahead logs, batch by batch; the first ones may be in segments already (`manifest` says up to which number)
    Wal {
        /// A store, or a log
        path: PathBuf,
        /// List what each batch says of records: + it is there, - it is not any more
        #[arg(long)]
        operations: bool,
    },
}

/// When `stats` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Draw {
    Auto,
    Always,
    Never,
}

/// Whether queries have prefix filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Filter {
    On,
    Off,
}

/// What `what-if` is to try.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Wanted {
    /// Try this codec; may be repeated
    #[arg(long = "codec", value_name = "NAME")]
    pub(crate) codecs: Vec<Codec>,

    /// Try blocks of this size, a power of two from 128 to 64KiB; may be repeated
    #[arg(long = "block-size", value_name = "SIZE", value_parser = parse_block_size)]
    pub(crate) block_sizes: Vec<u32>,

    /// Try this plan, by its name in `fpload --plan list` or another like it; may be repeated
    #[arg(long = "plan", value_name = "NAME", value_parser = parse_plan)]
    pub(crate) plans: Vec<Design>,

    /// Distance of the queries whose costs are predicted [default: the store's maximum]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) max_distance: Option<u32>,

    /// Predict for queries with prefix filters in memory, or without
    #[arg(long, value_enum, value_name = "WHETHER", default_value = "on")]
    pub(crate) filter: Filter,

    /// Encode about N fingerprints of a larger segment, and estimate
    #[arg(long, value_name = "N", default_value_t = 1 << 25, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample: u64,
}

fn parse_block_size(text: &str) -> Result<u32, String> {
    let size = u32::try_from(size::parse(text)?).map_err(|_| "is too large".to_owned())?;
    Parameters::default().with_block_size(size).check().map(|()| size).map_err(|error| error.to_string())
}

fn parse_plan(text: &str) -> Result<Design, String> {
    text.parse::<Design>().map_err(|error| error.to_string())
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
