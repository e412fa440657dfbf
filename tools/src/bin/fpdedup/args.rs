//! Subcommands and options of `fpdedup`, as given on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args as ClapArgs, Parser, Subcommand};
use fpstore::clusters::Linkage;
use fpstore_tools::common::Common;
use fpstore_tools::input::InputOptions;
use fpstore_tools::ranks::First;
use fpstore_tools::size;

use crate::documents::args::{self as documents, DocumentsArgs};
use crate::rule::Rule;

const EXAMPLES: &str = "\
Nothing is ever written to a STORE. Output does not depend on --threads. Exit code: 0 = done, 1 = `pairs` or `join` \
found \
nothing, 2 = an error, 130 = Ctrl-C, 143 = SIGTERM.

Examples:
  fpdedup documents pages.parquet -o clean.parquet         documents without near-duplicates, no store needed
  fpdedup pairs store > pairs.tsv              all pairs of records within the store's K
  fpdedup pairs --distinct -k 2 store          all pairs of fingerprints within 2 bits
  fpdedup clusters store --output labels.parquet
  fpdedup clusters --report store              sizes of the clusters, and chains
  fpdedup keep store > keep.txt                one id for each cluster: the corpus without near-duplicates
  fpdedup join store new.tsv                   new against old
  fpdedup clusters --min-jaccard 0.7 bands     records of a key index that share a key";

const PAIRS_EXAMPLES: &str = "\
A line for each unordered pair of records, `fp_a<TAB>fp_b<TAB>distance<TAB>id_a<TAB>id_b`, with fp_a <= fp_b, and id_a \
< id_b if \
the two are equal. For a store without ids, a line for each pair of fingerprints, with counts instead of ids, and a \
line for \
each fingerprint that was counted several times, with itself. The order is deterministic; --sort orders by columns.

Of a key index: `id_a<TAB>id_b<TAB>shared<TAB>jaccard` for each pair of records that share keys, with id_a < id_b; the \
last column is empty without sketches.

Examples:
  fpdedup pairs store
  fpdedup pairs --distinct --sort store --output pairs.tsv.zst
  fpdedup pairs --memory 4GiB store --json | jq .distance";

const CLUSTERS_EXAMPLES: &str = "\
Records are linked if their fingerprints differ in at most K bits; the clusters are the connected components. A line \
for each \
record, `id<TAB>cluster`, by fingerprint and id; cluster is the smallest id in it. For a store without ids, a line for \
each \
fingerprint, with the smallest fingerprint of its cluster.

Memory: about five bytes for each fingerprint, and eight for each cluster of several fingerprints; more --memory makes \
it faster.

With --linkage star or complete, records are taken by the priority that --keep and --keep-by say: a star has all \
records that are \
near its first one and in no star yet; a complete cluster has records that are all near each other. Pairs of near \
fingerprints take 16 bytes of temporary space each beyond the memory.

--report: how many near-duplicates differ in so many bits from the record that represents their cluster (the far ones \
in more than K), the number of clusters of each size and, for the largest clusters, the diameter (the greatest \
distance between two fingerprints) and the share of pairs of records that are farther apart than K. If that share is \
large, the cluster is a chain: choose a smaller K. With --linkage star or complete, also what single linkage would \
do, as for `fpdedup keep`. Of a key index, the report counts shared keys and, with sketches, estimated Jaccard \
similarities in twentieths, instead of bits and diameters.

--previous: records are identified by their ids. A record that has another fingerprint now must be in --new. Labels \
may be in any \
order, but labels of records that share an id must keep their order; the order in which they were written is the \
fastest. The \
file must be complete: a missing label does not mean that its record was removed.

In a key index, the labels have to be those of the same --min-shared, --min-jaccard and --max-key-frequency. Records \
of --new whose ids STORE has already count once, with the keys that STORE has; a record whose keys were replaced \
(fpload --replace) must be in --new. With --max-key-frequency, all are compared if labels are of records that are \
gone, or of records in --new. --new takes temporary space for the keys of the new records, which are numbered behind \
those of STORE.

Examples:
  fpdedup clusters store > labels.tsv
  fpdedup clusters --previous labels.tsv --new today.tsv store > labels-today.tsv
  fpdedup clusters --previous labels.tsv --new today.ndjson --min-shared 2 bands > labels-today.tsv
  fpdedup clusters --linkage star --keep pages.parquet --keep-by crawled store
  fpdedup clusters --min-size 2 store          without records that have no near-duplicate
  fpdedup clusters --report --output labels.parquet store
  fpdedup clusters --picture clusters.svg --output labels.parquet store";

const KEEP_EXAMPLES: &str = "\
A line for each cluster: the id of the record to keep. A FILE lists ids by priority, one on each line, the most \
important first; \
other ids follow, the smallest first. With --keep-by, FILE is a table, and a column of it is the priority. A listed \
id takes 16 bytes of the memory, or 24 if it is a text. For a store without ids, fingerprints are kept.

In a key index, records are near if they share keys (--min-shared, --min-jaccard) instead of being within K bits. \
Its stars take 8 bytes of memory for each kept record and key of more than 32 records that it has, if --min-shared or \
--min-jaccard is given; time grows with the kept records that share such keys.

With --linkage star, the default, records are taken by priority: one that is not removed yet is kept, and removes all \
records within K bits of it. So every removed record is near its keeper. With single, clusters are connected \
components, and a record that is left out may differ in more than K bits from the record that is kept; a warning tells \
the exact number of such records. With complete, a record joins the first cluster all of whose members are near it.

--evidence: `id<TAB>keeper<TAB>cluster<TAB>distance` for every record that is not kept; for a store without ids, \
fingerprints instead of ids, and the count of the records; for a key index `shared_keys` and the estimated `jaccard` \
instead of the distance. What is kept and the evidence are together all records.

--previous: every record of STORE that EVIDENCE does not list was kept, and stays. A new record is removed by the \
record of highest priority among the kept ones of STORE that are near it; new records far from all of these are taken \
by priority. A new record with the fingerprint of an old one has the keeper of that. Old rows of the evidence keep \
their keepers; their column cluster is the smallest id of old and new records together. A record that \
STORE has already is an old one, and stays if EVIDENCE does not list it: load the new records after the run, and the \
new \
evidence is that of the next one. Ids name records: if several \
records share an id, all of them must be removed, or all kept and none of them a keeper in EVIDENCE.

If EVIDENCE is what a run over STORE alone writes with the same K and --keep, the kept records are those of a run \
without --previous, unless a new record has priority over the record that removes it. A run without --previous would \
take such a record first: it might be kept and remove the old keeper, which changes what is near either. A warning \
tells the exact number of these new records.

Even without them the evidence may name other keepers: an old removed record keeps its keeper if a new one of higher \
priority is near, too. Every removed record is within K bits of its keeper all the same. If no new record has priority \
over an old one, as with ids that grow and --keep smallest, all output is the same byte for byte.

In a key index, the evidence has to be that of the same --min-shared, --min-jaccard and --max-key-frequency. Keys that \
too many records have only together with the new ones no longer count, but what was removed by them stays removed; a \
warning tells the number of such keys. After records were removed or replaced, search all again.

--report: how many removed records differ in so many bits from their keepers, sizes of clusters, and the largest \
clusters with a few removed ids and their distances. For star and complete, also chains: connected components of \
several clusters, how many more records single linkage would remove from them, and how many bits those differ in from \
the record that it would keep. Finding the components takes four bytes a fingerprint. With --previous, chains are \
unknown, because old records are not compared, and the report says so; they are null in JSON, as for single. So are \
chains of stars in a key index with --min-shared or --min-jaccard, as finding them would take all pairs. Of a key \
index the report counts shared keys and, with sketches, estimated Jaccard similarities in twentieths, instead of bits. \
--picture draws sizes, and distances or shared keys and similarities.

Examples:
  fpdedup keep store > keep.txt
  fpdedup keep --evidence removed.parquet store > keep.txt
  fpdedup keep --report --picture removed.svg --output keep.txt store
  fpdedup keep --previous removed.tsv --new today.tsv --evidence removed.tsv store > keep.txt
  fpdedup keep --keep trusted.txt store
  fpdedup keep --keep pages.parquet --keep-by crawled --keep-order max store";

const JOIN_EXAMPLES: &str = "\
Every record of STORE with every record of OTHER within K bits: `fp_a<TAB>fp_b<TAB>distance<TAB>id_a<TAB>id_b`, the \
record of \
STORE first. OTHER is a store, or input as for fpload: a file, a directory of files or a pattern of names (- is \
standard input); \
records without ids are numbered from 0.

Of a key index: `id_a<TAB>id_b<TAB>shared<TAB>jaccard` for each record of STORE and record of OTHER that share keys; \
OTHER is a key index with keys and sketches of the same widths, or records with keys as for fpload.

Examples:
  fpdedup join yesterday today
  fpdedup join store crawl.parquet --id-column url
  fpdedup join --distinct store new.txt
  fpdedup join --min-jaccard 0.7 bands today.ndjson";

/// All against all: near-duplicate pairs, clusters, records to keep, new against old.
#[derive(Clone, Debug, Parser)]
#[command(name = "fpdedup", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) what: What,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum What {
    /// Every pair of near records, once
    #[command(after_help = PAIRS_EXAMPLES)]
    Pairs {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        options: Options,
        /// The store
        store: PathBuf,
    },
    /// The cluster of every record
    #[command(after_help = CLUSTERS_EXAMPLES)]
    Clusters {
        /// Labels that this command wrote for STORE before, with the same K or key index options and without --min-size
        /// (.tsv, .txt, .csv, .ndjson, .parquet, or - for lines on standard input): only records that are new since, or
        /// in a cluster that has lost some, are compared
        #[arg(long, value_name = "LABELS")]
        previous: Option<PathBuf>,
        /// Records to label together with those of STORE: another store, or input as for fpload: files, a directory or
        /// a pattern of names (- is standard input); beside a key index another one, or records with keys. Some of them
        /// may already be in STORE
        #[arg(long, value_name = "INPUT")]
        new: Option<PathBuf>,
        /// Only clusters of at least N records
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        min_size: u64,
        #[command(flatten)]
        report: ReportOptions,
        #[command(flatten)]
        order: Order,
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        input: InputOptions,
        /// The store
        store: PathBuf,
    },
    /// One id for each cluster: the records without near-duplicates
    #[command(after_help = KEEP_EXAMPLES)]
    Keep {
        #[command(flatten)]
        keep: KeepOptions,
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        input: InputOptions,
        /// The store
        store: PathBuf,
    },
    /// Documents in, documents without near-duplicates out
    #[command(after_help = documents::EXAMPLES)]
    Documents(Box<DocumentsArgs>),
    /// Every near pair of a record of one store and one of another store or a file
    #[command(after_help = JOIN_EXAMPLES)]
    Join {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        input: InputOptions,
        /// The store
        store: PathBuf,
        /// Another store, a file of fingerprints, or - for standard input
        other: PathBuf,
    },
}

/// Which pairs are written, and in which order.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct Which {
    /// Pairs of distinct fingerprints, not of records: three columns
    #[arg(long)]
    pub(crate) distinct: bool,
    /// Sort by fp_a, fp_b, id_a and id_b; the first line is written when all pairs have been found
    #[arg(long)]
    pub(crate) sort: bool,
}

/// How near records become clusters.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Order {
    /// Rule that makes clusters of near records: single, the connected components; star, a kept record with near ones;
    /// complete, records that are all near each other [default: single for clusters, star for keep]
    #[arg(long, value_enum, value_name = "RULE")]
    linkage: Option<Rule>,
    /// Record of a cluster to keep, which comes first when star and complete clusters are made: the one with the
    /// smallest or the largest id, or a file with ids by priority
    #[arg(long, value_name = "WHICH", default_value = "smallest")]
    pub(crate) keep: OsString,
    /// Column by which records come first: --keep FILE is then a table with this column and that of --id-column
    /// (.parquet, .ndjson, .jsonl, .json, .csv or .tsv with a row of names; .gz, .zst). Numbers, dates, times and
    /// booleans come by value, texts by their bytes; a column of csv has numbers if all its values are. Records with
    /// equal values come by id, the smallest first, and records without a value last
    #[arg(long, value_name = "COLUMN")]
    pub(crate) keep_by: Option<String>,
    /// Which value of --keep-by comes first; of an id that occurs several times, that value counts
    #[arg(long, value_enum, value_name = "ORDER", requires = "keep_by", default_value_t = First::Min)]
    pub(crate) keep_order: First,
}

impl Order {
    /// Returns the linkage, or the default of the subcommand.
    pub(crate) fn linkage_or(&self, default: Linkage) -> Linkage {
        self.linkage.map_or(default, Rule::linkage)
    }

    /// Rejects an order of clusters that have none.
    pub(crate) fn check_order(&self, linkage: Linkage) -> anyhow::Result<()> {
        if self.keep_by.is_some() && linkage == Linkage::Single {
            bail!("--keep-by: it orders the records of --linkage star and complete; clusters of single have no order");
        }
        Ok(())
    }
}

/// Options of `keep`.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct KeepOptions {
    #[command(flatten)]
    pub(crate) order: Order,
    /// File for the evidence: a row for every record that is not kept, with its keeper, the smallest id of its cluster
    /// and its distance from the keeper, or the shared keys and estimated similarity (.tsv, .csv, .ndjson, or .parquet;
    /// .gz, .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: Option<PathBuf>,
    /// Evidence that this command wrote for STORE before, with the same K or key index options (.tsv, .txt, .csv,
    /// .ndjson, .parquet, or - for lines on standard input): its records stay removed, all others of STORE are kept,
    /// and only the records of --new are compared. The new evidence has all rows
    #[arg(long, value_name = "EVIDENCE")]
    pub(crate) previous: Option<PathBuf>,
    /// Records to add to those of STORE: another store, or input as for fpload: files, a directory or a pattern of
    /// names (- is standard input); beside a key index another one, or records with keys. Those that are in STORE too
    /// count once, as old
    #[arg(long, value_name = "INPUT")]
    pub(crate) new: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// The report on clusters.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ReportOptions {
    /// Report: distances of removed records from their keepers (of a key index, shared keys and similarities), sizes of
    /// clusters, chains, the largest clusters. With it, ids and labels are written to --output only
    #[arg(long)]
    pub(crate) report: bool,
    /// File for a picture of sizes and distances, or shared keys and similarities (.svg)
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
}

/// Options of all subcommands.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Options {
    /// Bits in which near fingerprints may differ [default: the store's maximum]
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) distance: Option<u32>,

    /// Memory of the program, such as 4GiB; at least 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size::parse_memory)]
    pub(crate) memory: u64,

    /// Directory for temporary files. They have no names and vanish with the process [default: the system's directory
    /// for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// File to write; it appears when it is complete: .tsv or .txt (lines with TABs), .csv (with a row of names),
    /// .ndjson (each of them also with .gz or .zst) or .parquet [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: KeyOptions,
}

/// What makes records of a key index near.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct KeyOptions {
    /// In a key index: near records share at least M keys [default: 1]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..), help_heading = KEYS)]
    pub(crate) min_shared: Option<u64>,

    /// In a key index with sketches: near records have at least this estimated Jaccard similarity, 0 to 1
    #[arg(long, value_name = "T", help_heading = KEYS)]
    pub(crate) min_jaccard: Option<f64>,

    /// In a key index: keys of more than N records do not count; a warning tells how many [default: all count]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = KEYS)]
    pub(crate) max_key_frequency: Option<u64>,
}

const KEYS: &str = "Key index options";

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn options_do_not_contradict_each_other() {
        Args::command().debug_assert();
    }
}
