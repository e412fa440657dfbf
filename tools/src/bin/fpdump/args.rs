//! Subcommands and options of `fpdump`, as given on the command line.

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
  fpdump info store                            parameters, files, numbers of records
  fpdump stats --json store                    size of every part, beside the information bound
  fpdump verify store                          check every byte
  fpdump scan store | fpload --create copy -   a store as text, and back
  fpdump scan store -o records.parquet         for other programs; fpload reads it too
  fpdump get 832fe9f6aa2f461a store            the ids of one fingerprint
  fpdump get --id https://example.org/a store  the fingerprints of one id
  fpdump block 3 store/00000001.segment --table 1     one block, decoded
  fpdump what-if store                         sizes with other codecs, block sizes and plans, or bits of keys
  fpdump manifest store                        the runs and their segments, by age
  fpdump wal --operations store                the latest writes
  fpdump hex store/00000001.segment | less     every byte with its meaning";

const SCAN_EXAMPLES: &str = "\
Records are sorted by fingerprint, then id. Files with columns have `fingerprint` and `id`; in Parquet, fingerprints \
of 64 bits and \
numeric ids are UINT64, wider fingerprints are bytes of fixed length, most significant first. For a store without ids \
there is no \
column of ids, and a fingerprint is repeated as often as it was counted.

Only lines with TABs have a header line with the width and the hasher of the fingerprints.

Examples:
  fpdump scan store | fpload --create copy -
  fpdump scan store -o records.csv.zst
  fpdump scan store -o records.parquet";

const STATS_EXAMPLES: &str = "\
The drawings describe table 0, whose keys are the fingerprints themselves. They take one pass over it. With --json and \
--draw always, the field \"distributions\" holds the same counts, as pairs [value, count].

Examples:
  fpdump stats store                           with drawings on a terminal, without in a pipe
  fpdump stats --draw always store | less      with drawings in a pipe, too
  fpdump stats --json store                    sizes alone, without reading a block";

const WHAT_IF_EXAMPLES: &str = "\
Every table is encoded in memory and measured, each segment by itself; ids are left out. The cost of a query is \
predicted \
by the model of `fpload --plan list`, with the measured number of fingerprints in a block. A mark shows the row of the \
current store.

Without --codec, --block-size and --plan: the store's plan with every codec and blocks of 256 bytes to 16 KiB, and the \
listed plans with the store's codec and block size, except those with tables that a query within K would not probe. \
Otherwise every combination of the named values; options that are not given keep the store's value.

Sizes are exactly those of a store made with these parameters. The program needs eight bytes of memory for each \
fingerprint, and up to one gibibyte for the tables in work. In a segment with more than N fingerprints, evenly placed \
runs \
of neighbours in each table are encoded and scaled up; the row then says that it is an estimate.

Examples:
  fpdump what-if store                                       all codecs, block sizes and plans
  fpdump what-if store --block-size 4KiB --block-size 16KiB  larger blocks
  fpdump what-if store --plan tables-4 --plan choose-2-of-5 --max-distance 2
  fpdump what-if bands --key-bits 40 --key-bits 32            shorter keys of a key index
  fpdump what-if store --sample 1000000                      a quick estimate
  fpdump what-if store --json | jq '.alternatives[] | [.plan, .codec, .block_size, .bytes]'";

/// Looks inside a store or one of its files; never writes
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
    /// Parameters, files, numbers of records
    Info {
        /// A store, a segment file or a manifest
        path: PathBuf,
    },
    /// Sizes of all parts, and bits of a fingerprint beside the information bound
    #[command(after_help = STATS_EXAMPLES)]
    Stats {
        /// A store or a segment file
        path: PathBuf,
        /// Draw how blocks, codes and neighbouring fingerprints are distributed: auto = on a terminal, not in JSON
        #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
        draw: Draw,
    },
    /// Offsets of the sections in the files
    Layout {
        /// A store or a segment file
        path: PathBuf,
    },
    /// The blocks of a table, one on each line
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
    /// All records, one on each line, as fpload reads them: HEX, TAB, ID
    #[command(after_help = SCAN_EXAMPLES)]
    Scan {
        /// A store or a segment file
        path: PathBuf,
        /// File to write; it appears when it is complete: .tsv or .txt (lines with TABs), .csv (with a row of names),
        /// .ndjson (each of them also with .gz or .zst) or .parquet [default: standard output]
        #[arg(short = 'o', long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// The records of one fingerprint, or of one id
    #[command(override_usage = "fpdump get [OPTIONS] HEX PATH\n       fpdump get [OPTIONS] --id ID PATH")]
    Get {
        /// The fingerprint in hexadecimal: 16, 32 or 64 digits, as wide as the store's. Omitted with --id
        #[arg(value_name = "HEX")]
        first: OsString,
        /// In place of a fingerprint: the id of a document. Without an index of the ids (`fpload --id-index`) all
        /// records of the store are read
        #[arg(long, value_name = "ID", allow_hyphen_values = true)]
        id: Option<String>,
        /// A store or a segment file
        #[arg(required_unless_present = "id", conflicts_with = "id")]
        path: Option<PathBuf>,
    },
    /// Checks every byte and names every damaged place
    Verify {
        /// A store, a segment file, a log, a file of filters or a manifest
        path: PathBuf,
    },
    /// The tables: their order of bits, their probing radii, and the predicted cost of queries
    Plan {
        /// A store or a segment file
        path: PathBuf,
    },
    /// Sizes with other codecs, block sizes and plans, side by side
    #[command(name = "what-if", after_help = WHAT_IF_EXAMPLES)]
    Alternatives {
        /// A store or a segment file
        path: PathBuf,
        #[command(flatten)]
        wanted: Wanted,
    },
    /// Every byte of a file with its meaning
    Hex {
        /// A segment file, a manifest, a log, a file of filters, or a store: all its files
        path: PathBuf,
    },
    /// The runs of a store, and their segments
    Manifest {
        /// A store, or its manifest
        path: PathBuf,
    },
    /// The write-ahead logs, batch by batch; the first batches may already be in segments (`manifest` tells up to which
    /// number)
    Wal {
        /// A store, or a log
        path: PathBuf,
        /// List the operations of each batch: + adds a record, - removes it
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

/// Whether queries use prefix filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Filter {
    On,
    Off,
}

/// Alternatives that `what-if` tries.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Wanted {
    /// Try this codec; may be repeated
    #[arg(long = "codec", value_name = "NAME")]
    pub(crate) codecs: Vec<Codec>,

    /// Try blocks of this size, a power of two from 128 to 64KiB; may be repeated
    #[arg(long = "block-size", value_name = "SIZE", value_parser = parse_block_size)]
    pub(crate) block_sizes: Vec<u32>,

    /// Try this plan, named as in `fpload --plan list` or in the same form; may be repeated
    #[arg(long = "plan", value_name = "NAME", value_parser = parse_plan)]
    pub(crate) plans: Vec<Design>,

    /// Try keys of this many leading bits, no more than the key index has; may be repeated
    #[arg(long = "key-bits", value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) key_bits: Vec<u8>,

    /// Distance of the queries whose costs are predicted [default: the store's maximum]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) max_distance: Option<u32>,

    /// Predict queries with or without prefix filters in memory
    #[arg(long, value_enum, value_name = "WHETHER", default_value = "on")]
    pub(crate) filter: Filter,

    /// Encode about N fingerprints of a larger segment and scale up
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
