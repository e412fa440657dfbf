//! Options of `fpquery`, as given on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use fpstore_tools::common::Common;
use fpstore_tools::input::InputOptions;
use fpstore_tools::text_options::{HEADING, TextOptions};
use fpstore_tools::{memory, size, threads, width};

const EXAMPLES: &str = "\
Output: a line for every match, `query<TAB>match<TAB>distance<TAB>id`, in the order of the queries, then by distance,
match and id; for a store without ids, the fourth column is the number of records of the match. Exit code: 0 = there are
matches, 1 = there are none, 2 = an error, 130 = Ctrl-C, 143 = SIGTERM; with --only new 0 = some queries are new, 1 = \
none
is.

Examples:
  fpquery store 832fe9f6aa2f461a               matches within the distance that the store was made for
  fpquery --id https://example.org/a store     matches of the page that is stored under this id
  fpquery --distance 1 store < new.tsv         many queries from a pipe or file
  fpquery --first --input new.tsv.gz store     one match for each query: seen before?
  fpquery --nearest 5 store 832fe9f6aa2f461a   the five nearest, at any distance
  fpquery --count --with-query-id --input new.ndjson --id-column n store
  fpquery --stats --input new.u64 store > matches.tsv
  fpquery --batch always --input crawl.u64 store > matches.tsv
  fpquery --only new --input today.tsv --output new.tsv store    the queries without a match
  fpquery --not-self --nearest 3 --with-query-id --input old.tsv store     the nearest neighbours of stored records
  fpquery --output matches.parquet --memory 1GiB --input new.tsv store
  fpquery --text --only new store pages/       documents, whose fingerprints are made like the store's
  fpquery --input crawl.csv --fingerprint-format signed store     bigint of a database: -1 is ffff...
  fpquery --corpus all.u64 --input new.tsv     no store: queries in memory, and a file of any size
  fphash bands --json new/ | fpquery --min-shared 2 bands     a key index: query, id, shared keys, Jaccard estimate";

/// Finds the stored fingerprints that differ from a query in at most K bits: always all of them
#[derive(Clone, Debug, Parser)]
#[command(name = "fpquery", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store, a directory that fpload created
    #[arg(value_name = "STORE", required_unless_present = "corpus")]
    pub(crate) store: Option<PathBuf>,

    /// Queries: fingerprints in hexadecimal, 16, 32 or 64 digits, as wide as the store's; with --text, files and
    /// directories of documents [default: from --input or standard input]
    #[arg(value_name = "HEX", conflicts_with = "input")]
    pub(crate) queries: Vec<String>,

    /// In place of queries: the records of this id. Each of their fingerprints is a query; records of the same id are
    /// left out. May be repeated. Without an index of the ids (`fpload --id-index`) all records of the store are read
    /// to find them
    #[arg(
        long = "id",
        value_name = "ID",
        allow_hyphen_values = true,
        conflicts_with_all = ["queries", "input", "corpus", "text"]
    )]
    pub(crate) ids: Vec<String>,

    /// Number of bits in which a match may differ [default: the store's maximum; larger distances are slow, but
    /// complete]
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) distance: Option<u32>,

    /// Only one match for each query: any one within the distance
    #[arg(long, group = "what")]
    pub(crate) first: bool,

    /// The N nearest records: at any distance, or within --distance if it is given
    #[arg(long, value_name = "N", group = "what", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) nearest: Option<u64>,

    /// In a key index: only records that share at least M keys with the query [default: 1]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "corpus")]
    pub(crate) min_shared: Option<u64>,

    /// In a key index with sketches: only records of at least this estimated Jaccard similarity, 0 to 1
    #[arg(long, value_name = "T", conflicts_with = "corpus")]
    pub(crate) min_jaccard: Option<f64>,

    /// The number of matches: a line for every query, `query<TAB>count`
    #[arg(long, group = "what")]
    pub(crate) count: bool,

    /// Only the queries without a match, in the format of the input, with its header line if it has one
    #[arg(long, value_enum, value_name = "WHICH", group = "what", conflicts_with = "with_query_id")]
    pub(crate) only: Option<Only>,

    /// Leave out matches with the query's own id, for queries that are records of the store
    #[arg(long, conflicts_with = "corpus")]
    pub(crate) not_self: bool,

    /// File to write: .tsv, .ndjson, .csv or .parquet, all but the last also with .gz or .zst. It appears when it is
    /// complete [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Instead of a STORE: a file of fingerprints, or - for standard input. It is read once, whatever its size, while
    /// all queries are kept in memory; K is 3 by default. --format and the columns describe this file; its records are
    /// numbered from 0 if it has no ids
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<OsString>,

    /// With --corpus: the width of its fingerprints, 64, 128 or 256 bits [default: that of its header, its name or the
    /// first query on the command line, or else 64]
    #[arg(long, value_name = "BITS", value_parser = width::parse, requires = "corpus")]
    pub(crate) width: Option<u32>,

    /// Memory of the program, at least 64MiB, including the index of the store and prefix filters (which get up to half
    /// of it); answers are written as they are found [default: 1GiB beside index and filters; with --corpus half of the
    /// machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,

    /// Compare with every stored fingerprint instead of using the index, to check it
    #[arg(long)]
    pub(crate) scan: bool,

    /// Whether many queries are sorted and merged with the whole store, which is read once, instead of being looked up
    /// one by one: auto = if that is faster; always; never. A regular file is read in batches of up to a million
    /// queries for it, a pipe in batches of what is available
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", conflicts_with = "corpus")]
    pub(crate) batch: BatchMode,

    /// Put the query's id in front of every line; queries without ids are numbered from 0
    #[arg(long)]
    pub(crate) with_query_id: bool,

    /// How files are read: mapped into memory, or block by block
    #[arg(long, value_enum, value_name = "HOW", default_value = "mmap", conflicts_with = "corpus")]
    pub(crate) read: Read,

    /// With --read pread: memory for blocks, which are neither read nor checked again while they are in it [default:
    /// 64MiB, or an eighth of --memory if that is less]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with = "corpus")]
    pub(crate) page_cache: Option<u64>,

    /// Prefix filters, one to four bytes of memory for each fingerprint and table: on = built before the first query;
    /// off [default: built while queries run, if there are more than 256]
    #[arg(long, value_enum, value_name = "WHETHER", conflicts_with = "corpus")]
    pub(crate) filter: Option<Switch>,

    /// Most memory of prefix filters, such as 2GiB; filters that should have more have fewer bits [default: half of the
    /// available memory]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with = "corpus")]
    pub(crate) filter_memory: Option<u64>,

    /// Work done and latency of queries, on standard error (a JSON object with --json)
    #[arg(long)]
    pub(crate) stats: bool,

    /// File of queries, a directory or a pattern of names, as for fpload; or - for standard input
    #[arg(long, value_name = "FILE", help_heading = "Input options")]
    pub(crate) input: Option<OsString>,

    #[command(flatten)]
    pub(crate) options: InputOptions,

    /// Queries are documents, as for `fphash simhash`: ndjson, csv and parquet with a column of text, and other files
    /// and files of directories as one document each, whose path is the id. They follow STORE, or are named by --input.
    /// Fingerprints are made as the store records; for a store that does not, the sketch options determine how
    #[arg(long, conflicts_with = "corpus", help_heading = HEADING)]
    pub(crate) text: bool,

    #[command(flatten)]
    pub(crate) texts: TextOptions,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Args {
    /// Returns the memory for documents in flight: a quarter of the whole.
    pub(crate) fn document_memory(&self) -> u64 {
        const MOST: u64 = 256 << 20;
        if self.text { (memory::of_load(self.memory) / 4).min(MOST) } else { 0 }
    }

    /// Returns the memory for blocks that were read: none if files are mapped.
    pub(crate) fn page_cache(&self) -> u64 {
        const MOST: u64 = 64 << 20;
        let usual = || self.memory.map_or(MOST, |memory| (memory / 8).min(MOST));
        if self.read == Read::Pread { self.page_cache.unwrap_or_else(usual) } else { 0 }
    }

    /// Returns the options of opening the store: how files are read.
    pub(crate) fn reading(&self) -> fpstore::Options {
        threads::options().with_read_mode(self.read.into()).with_page_cache(self.page_cache())
    }

    /// Rejects a distance larger than the width.
    pub(crate) fn check_distance(&self, width: u32) -> anyhow::Result<()> {
        self.distance.map_or(Ok(()), |distance| width::check_distance("--distance", distance, width))
    }

    /// Resolves the operands: with a corpus in place of the store, all of them are queries.
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
    /// Queries without a match
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

impl From<BatchMode> for fpstore::BatchStrategy {
    fn from(mode: BatchMode) -> Self {
        match mode {
            BatchMode::Auto => Self::Auto,
            BatchMode::Always => Self::Always,
            BatchMode::Never => Self::Never,
        }
    }
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
