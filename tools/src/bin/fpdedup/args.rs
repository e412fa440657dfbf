//! What was typed: subcommands and options of `fpdedup`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use fpstore_tools::common::Common;
use fpstore_tools::input::InputOptions;
use fpstore_tools::size;

const EXAMPLES: &str = "\
Nothing is ever written to a STORE. Output does not depend on --threads. Exit code: 0 = done, 1 = `pairs` or `join` found \
nothing, 2 = an error, 130 = Ctrl-C, 143 = SIGTERM.

Examples:
  fpdedup pairs store > pairs.tsv              every two records within the store's K
  fpdedup pairs --distinct -k 2 store          every two fingerprints within 2 bits
  fpdedup clusters store --output labels.parquet
  fpdedup clusters --report store              how large are they, and are they chains?
  fpdedup keep store > keep.txt                one id a cluster: the corpus without near-duplicates
  fpdedup join store new.tsv                   new against old";

const PAIRS_EXAMPLES: &str = "\
A line for each unordered pair of records, `fp_a<TAB>fp_b<TAB>distance<TAB>id_a<TAB>id_b`, with fp_a <= fp_b, and id_a < id_b where \
the two are equal. Where the store has no ids, a line for each pair of fingerprints, with their counts instead of ids, and one for \
each fingerprint that was counted several times, with itself. The order is always the same; that of --sort is by columns.

Examples:
  fpdedup pairs store
  fpdedup pairs --distinct --sort store --output pairs.tsv.zst
  fpdedup pairs --memory 4GiB store --json | jq .distance";

const CLUSTERS_EXAMPLES: &str = "\
Records are linked if their fingerprints differ in at most K bits; a cluster is all that hangs together. A line for each record, \
`id<TAB>cluster`, by fingerprint and id; cluster is the smallest id in it. Where the store has no ids, a line for each \
fingerprint, with the smallest fingerprint of its cluster.

Memory: some five bytes a fingerprint, eight for each cluster of several fingerprints; the rest of --memory makes it faster.

--report: how many clusters there are of each size and, of the largest, the diameter (the greatest distance of two of its \
fingerprints) and the share of its pairs of records that are farther apart than K. Where that is large, the cluster is a \
chain: choose a smaller K. The far ones of the near-duplicates differ in more than K bits from the record that stands for \
their cluster.

--previous: a record is known by its id. One that has got another fingerprint since has to be in --new. Labels may stand in any \
order, but those of records that share an id must keep theirs; in the order in which they were written they take the least \
time. All of them have to be there: one that is left out is no sign that its record is gone.

Examples:
  fpdedup clusters store > labels.tsv
  fpdedup clusters --previous labels.tsv --new today.tsv store > labels-today.tsv
  fpdedup clusters --min-size 2 store          without records that are like no other
  fpdedup clusters --report --output labels.parquet store";

const KEEP_EXAMPLES: &str = "\
A line for each cluster: the id of the record to keep. A FILE names ids by priority, one a line, the most important first; \
of a cluster with none of them, the smallest id is kept. Where the store has no ids, fingerprints are kept.

A cluster is all that hangs together, so a record may be left out that differs in more than K bits from the one that is kept. \
A warning says how many there are, counted exactly; `fpdedup clusters --report` shows the largest of such clusters.

Examples:
  fpdedup keep store > keep.txt
  fpdedup keep --keep trusted.txt store";

const JOIN_EXAMPLES: &str = "\
Every record of STORE with every one of OTHER that is within K bits: `fp_a<TAB>fp_b<TAB>distance<TAB>id_a<TAB>id_b`, the record of STORE \
first. OTHER is a store, or fingerprints as fpload takes them: a file, a directory of files, a pattern of names (- is standard input); records without ids are numbered \
from 0.

Examples:
  fpdedup join yesterday today
  fpdedup join store crawl.parquet --id-column url
  fpdedup join --distinct store new.txt";

/// All against all: near-duplicate pairs, clusters, what to keep, new against old.
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
    /// For every record the cluster that it is in
    #[command(after_help = CLUSTERS_EXAMPLES)]
    Clusters {
        /// What this has written for STORE before, at the same K and without --min-size (.tsv, .txt, .csv, .ndjson, .parquet, or - for
        /// lines on standard input): only records that are new since, or in a cluster that has lost some, are compared
        #[arg(long, value_name = "LABELS")]
        previous: Option<PathBuf>,
        /// Records to label together with those of STORE: another store, or fingerprints as fpload takes them: files, a directory or a
        /// pattern of names of them (- is standard input). Some may be in STORE already
        #[arg(long, value_name = "INPUT")]
        new: Option<PathBuf>,
        /// Only clusters with at least so many records
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        min_size: u64,
        /// What the clusters look like: sizes, the largest ones, chains. With it, labels are written to --output only
        #[arg(long)]
        report: bool,
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        input: InputOptions,
        /// The store
        store: PathBuf,
    },
    /// One id a cluster: what is left without near-duplicates
    #[command(after_help = KEEP_EXAMPLES)]
    Keep {
        /// Which one: smallest, largest, or a file with ids by priority
        #[arg(long, value_name = "WHICH", default_value = "smallest")]
        keep: OsString,
        #[command(flatten)]
        options: Options,
        /// The store
        store: PathBuf,
    },
    /// Every near pair of a record of one store and one of another, or of a file
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
    /// Sorted by fp_a, fp_b, id_a and id_b; the first line comes when all were found
    #[arg(long)]
    pub(crate) sort: bool,
}

/// What all subcommands take.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Options {
    /// Bits in which near fingerprints may differ [default: the store's maximum]
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) distance: Option<u32>,

    /// Memory, such as 4GiB; 64MiB is the least
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size::parse_memory)]
    pub(crate) memory: u64,

    /// Where temporary files go; they have no names and vanish with the process [default: the system's place for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// File to write to, which appears when it is whole: .tsv or .txt (lines with TABs), .csv (with a row of names), .ndjson (each of
    /// them also with .gz or .zst) or .parquet [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn options_do_not_contradict_each_other() {
        Args::command().debug_assert();
    }
}
