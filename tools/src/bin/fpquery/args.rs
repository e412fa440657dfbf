//! What was typed: options of `fpquery`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use fpstore_tools::common::Common;
use fpstore_tools::input::InputOptions;
use fpstore_tools::text_options::{HEADING, TextOptions};
use fpstore_tools::{memory, size, width};

const EXAMPLES: &str = "\
Output: a line for every match, `query<TAB>match<TAB>distance<TAB>id`, in the order of the queries, then by distance,
match and id; where the store has no ids, the fourth column is how many records the match has. Exit code: 0 = something was
found, 1 = nothing was found, 2 = an error, 130 = Ctrl-C, 143 = SIGTERM; with --only new 0 = some queries are new, 1 = none
is.

Examples:
  fpquery store 832fe9f6aa2f461a               what is as near as the store was made for?
  fpquery --id https://example.org/a store     what is near the page that is stored by this id?
  fpquery --distance 1 store < new.tsv         the same for many queries from a pipe or file
  fpquery --first --input new.tsv.gz store     one near record a query is enough: seen before?
  fpquery --nearest 5 store 832fe9f6aa2f461a   the five nearest, however far
  fpquery --count --with-query-id --input new.ndjson --id-column n store
  fpquery --stats --input new.u64 store > matches.tsv
  fpquery --batch always --input crawl.u64 store > matches.tsv
  fpquery --only new --input today.tsv --output new.tsv store    what is not near anything that is there
  fpquery --not-self --nearest 3 --with-query-id --input old.tsv store     the nearest others of records of the store
  fpquery --output matches.parquet --memory 1GiB --input new.tsv store
  fpquery --text --only new store pages/       documents: fingerprints are made of them as the store's were
  fpquery --input crawl.csv --fingerprint-format signed store     bigint of a database: -1 is ffff...
  fpquery --corpus all.u64 --input new.tsv     no store: the queries in memory, a file of any size streams by";

/// What is near? Finds the stored fingerprints that differ from a query in at most K bits: all of them, always.
#[derive(Clone, Debug, Parser)]
#[command(name = "fpquery", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store, a directory that fpload made
    #[arg(value_name = "STORE", required_unless_present = "corpus")]
    pub(crate) store: Option<PathBuf>,

    /// Queries: fingerprints in hexadecimal, 16, 32 or 64 digits as wide as the store's; with --text files and directories of
    /// documents [default: from --input or standard input]
    #[arg(value_name = "HEX", conflicts_with = "input")]
    pub(crate) queries: Vec<String>,

    /// In place of queries: the records of this id, each of whose fingerprints is a query; the matches are those with other
    /// ids. May be repeated. A store without an index of its ids (`fpload --id-index`) is read as a whole to find them
    #[arg(long = "id", value_name = "ID", allow_hyphen_values = true, conflicts_with_all = ["queries", "input", "corpus", "text"])]
    pub(crate) ids: Vec<String>,

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

    /// Only the queries that nothing is near: fingerprint input again, with the first line of the input if
    /// that says what the fingerprints are
    #[arg(long, value_enum, value_name = "WHICH", group = "what", conflicts_with = "with_query_id")]
    pub(crate) only: Option<Only>,

    /// Leave out matches with the query's own id: queries are records of the store
    #[arg(long, conflicts_with = "corpus")]
    pub(crate) not_self: bool,

    /// Write to this file: .tsv, .ndjson, .csv or .parquet, all but the last also with .gz or .zst. It appears when it is
    /// whole [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Instead of a STORE: a file of fingerprints, or - for standard input. It is read once, whatever its size, while
    /// all the queries are kept in memory; K is 3 if it is not told. --format and the columns describe this file; where
    /// it has no ids, its records are numbered from 0
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<OsString>,

    /// With --corpus: the width of its fingerprints, 64, 128 or 256 bits [default: what its header, its name or the first
    /// query on the command line tells, or else 64]
    #[arg(long, value_name = "BITS", value_parser = width::parse, requires = "corpus")]
    pub(crate) width: Option<u32>,

    /// Memory that the program may take, from 64MiB on, the index of the store and prefix filters included (these get up
    /// to half of it): answers are written as they are found [default: 1GiB beside index and filters; with --corpus half of
    /// what the machine has]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
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

    /// File with queries, a directory or a pattern of names, as fpload takes them; or - for standard input
    #[arg(long, value_name = "FILE", help_heading = "Input options")]
    pub(crate) input: Option<OsString>,

    #[command(flatten)]
    pub(crate) options: InputOptions,

    /// Queries are documents, as `fphash simhash` reads them: ndjson, csv and parquet with a column of text, other files and
    /// the files of directories one document each, whose path is the id. They stand behind STORE, or are named by --input.
    /// Fingerprints are made as the store records that its own were; for a store that does not, the sketch options say how
    #[arg(long, conflicts_with = "corpus", help_heading = HEADING)]
    pub(crate) text: bool,

    #[command(flatten)]
    pub(crate) texts: TextOptions,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Args {
    /// Memory for documents that are being read and worked on: a quarter of what there is.
    pub(crate) fn document_memory(&self) -> u64 {
        const MOST: u64 = 256 << 20;
        if self.text { (memory::of_load(self.memory) / 4).min(MOST) } else { 0 }
    }

    /// Refuses a distance that no two fingerprints of this width have.
    pub(crate) fn check_distance(&self, width: u32) -> anyhow::Result<()> {
        self.distance.map_or(Ok(()), |distance| width::check_distance("--distance", distance, width))
    }

    /// What is meant by what was typed: where a corpus takes the store's place, all that stands by itself is queries.
    pub(crate) fn settled(mut self) -> Self {
        if self.corpus.is_some()
            && let Some(first) = self.store.take()
        {
            self.queries.insert(0, first.to_string_lossy().into_owned());
        }
        self.not_self |= !self.ids.is_empty();
        self
    }
}

/// Which queries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// Those without a match
    New,
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
