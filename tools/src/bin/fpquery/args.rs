//! What was typed: options of `fpquery`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use fpstore_tools::common::Common;
use fpstore_tools::input::InputOptions;
use fpstore_tools::{size, width};

const EXAMPLES: &str = "\
Output: a line for every match, `query<TAB>match<TAB>distance<TAB>id`, in the order of the queries, then by distance,
match and id; where the store has no ids, the fourth column is how many records the match has. Exit code: 0 = something was found, 1 = nothing was found, 2 = an error.

Examples:
  fpquery store 832fe9f6aa2f461a               who is as near as the store was made for?
  fpquery --distance 1 store < new.tsv         the same for many queries from a pipe or file
  fpquery --first --input new.tsv.gz store     one near record a query is enough: seen before?
  fpquery --nearest 5 store 832fe9f6aa2f461a   the five nearest, however far
  fpquery --count --with-query-id --input new.ndjson --id-column n store
  fpquery --stats --input new.u64 store > matches.tsv
  fpquery --batch always --input crawl.u64 store > matches.tsv
  fpquery --corpus all.u64 --input new.tsv     no store: the queries in memory, a file of any size streams by";

/// Who is near? Finds the stored fingerprints that differ from a query in at most K bits: all of them, always.
#[derive(Clone, Debug, Parser)]
#[command(name = "fpquery", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store, a directory that fpload made
    #[arg(value_name = "STORE", required_unless_present = "corpus")]
    pub(crate) store: Option<PathBuf>,

    /// Queries: fingerprints in hexadecimal, 16, 32 or 64 digits as wide as the store's [default: from --input or standard input]
    #[arg(value_name = "HEX", conflicts_with = "input")]
    pub(crate) queries: Vec<String>,

    /// Bits in which a match may differ [default: the store's maximum; more than that is slow, but complete]
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) distance: Option<u32>,

    /// One match a query is enough: any one within the distance
    #[arg(long, group = "what")]
    pub(crate) first: bool,

    /// The N nearest records: at any distance, or within --distance where that is given
    #[arg(long, value_name = "N", group = "what", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) nearest: Option<u64>,

    /// How many there are: a line for every query, `query<TAB>count`
    #[arg(long, group = "what")]
    pub(crate) count: bool,

    /// Instead of a STORE: a file of fingerprints, or - for standard input. It is read once, whatever its size, while
    /// all the queries are kept in memory; K is 3 if it is not told. --format and the columns describe this file; where
    /// it has no ids, its records are numbered from 0
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<OsString>,

    /// With --corpus: the width of its fingerprints, 64, 128 or 256 bits [default: what its header, its name or the first
    /// query on the command line tells, or else 64]
    #[arg(long, value_name = "BITS", value_parser = width::parse, requires = "corpus")]
    pub(crate) width: Option<u32>,

    /// With --corpus: memory for queries and matches, such as 8GiB [default: half of what the machine has]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory, requires = "corpus")]
    pub(crate) memory: Option<u64>,

    /// Compare with every stored fingerprint instead of using the index, to check it
    #[arg(long)]
    pub(crate) scan: bool,

    /// Whether many queries are sorted and merged with the whole store, which is read once, instead of being looked up
    /// one by one: where that is faster; always; or never. A regular file is read in lots of up to a million queries for
    /// it, a pipe in what is there
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", conflicts_with = "corpus")]
    pub(crate) batch: BatchMode,

    /// Put the query's id in front of every line; queries without ids are numbered from 0
    #[arg(long)]
    pub(crate) with_query_id: bool,

    /// How files are read: by mapping them into memory, or by reading each block
    #[arg(long, value_enum, value_name = "HOW", default_value = "mmap", conflicts_with = "corpus")]
    pub(crate) read: Read,

    /// Prefix filters, about a byte of memory for each fingerprint and table: made before the first query, or never
    /// [default: made while queries run]
    #[arg(long, value_enum, value_name = "WHETHER", conflicts_with = "corpus")]
    pub(crate) filter: Option<Switch>,

    /// The most memory that prefix filters may take, such as 2GiB; tables whose filter does not fit are searched without
    /// [default: half of the memory that is available]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with = "corpus")]
    pub(crate) filter_memory: Option<u64>,

    /// Work done and latency of queries, on standard error (a JSON object with --json)
    #[arg(long)]
    pub(crate) stats: bool,

    /// File with queries, or - for standard input
    #[arg(long, value_name = "FILE", help_heading = "Input options")]
    pub(crate) input: Option<OsString>,

    #[command(flatten)]
    pub(crate) options: InputOptions,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Args {
    /// What is meant by what was typed: where a corpus takes the store's place, all that stands by itself is queries.
    pub(crate) fn settled(mut self) -> Self {
        if self.corpus.is_some()
            && let Some(first) = self.store.take()
        {
            self.queries.insert(0, first.to_string_lossy().into_owned());
        }
        self
    }
}

/// How the store's files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Read {
    Mmap,
    Pread,
}

/// Whether queries are merged with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BatchMode {
    Auto,
    Always,
    Never,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

impl From<Switch> for fpstore::Filters {
    fn from(filter: Switch) -> Self {
        match filter {
            Switch::On => Self::AtOpen,
            Switch::Off => Self::Off,
        }
    }
}

impl From<Read> for fpstore::ReadMode {
    fn from(read: Read) -> Self {
        match read {
            Read::Mmap => Self::Mmap,
            Read::Pread => Self::Pread,
        }
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
