//! Subcommands and options of `fpring`, as given on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use fpring::{Hash, Settings};
use fpstore_tools::common::Common;
use fpstore_tools::size;

use crate::node_argument::{NodeArgument, PathArgument};

const EXAMPLES: &str = "\
Nodes and keys are on a circle of hashes. A node is there at many places, its virtual nodes; a key belongs to the \
first of them at or after its own place. When a node joins, keys move to it alone; when it leaves, only its keys \
move.

A ring FILE is JSON; format-spec/ring.md specifies it, and how a key becomes a place. The id of a record is its key, \
so a store can be split over nodes: records with id 17 are where `fpring locate FILE 17` says.

Exit code: 0 = done, 2 = an error, 130 = Ctrl-C, 143 = SIGTERM.

Examples:
  fpring create ring.json a b c                three nodes, one replica
  fpring create --replicas 2 ring.json a b=2 c         b has twice the share; every key is on two nodes
  fpring locate ring.json 17 http://example.org/
  fpring report ring.json                      balance, and what moves when nodes join and leave
  cp ring.json next.json && fpring add next.json d
  fpring diff ring.json next.json              the share that would move
  fpring rebalance ring.json next.json         moves the records, and makes next.json the ring";

const CREATE_DETAILS: &str = "\
A name has no white space and none of # = , / \\. A node of weight 2 has twice as many virtual nodes as one of \
weight 1, and so twice the share of keys. More virtual nodes balance better: loads differ by about 1 / sqrt(V) of \
the mean, 3% for 1,024. A virtual node takes 16 bytes of memory of each program that has the ring.

The store of a node is in the directory of its name beside FILE, or in the one that --path names, relative to FILE's.

Examples:
  fpring create ring.json a b c
  fpring create --virtual 256 --replicas 2 ring.json a b=2 c=0.5
  fpring create --path a=/disk1/store --path b=/disk2/store ring.json a b";

const ADD_DETAILS: &str = "\
This changes FILE alone and moves no records. Where nodes have stores, add nodes to a copy of FILE and call `fpring \
rebalance`. FILE is replaced as a whole.

Examples:
  fpring add ring.json d e=2
  fpring add --path d=/disk4/store ring.json d";

const REMOVE_DETAILS: &str = "\
This changes FILE alone and moves no records, as with `fpring add`.

Examples:
  fpring remove ring.json b";

const WEIGHT_DETAILS: &str = "\
This changes FILE alone and moves no records, as with `fpring add`. With a greater weight a node gets keys of all \
others, with a smaller one it gives keys to them.

Examples:
  fpring weight ring.json a=2 b=0.5";

const LOCATE_DETAILS: &str = "\
A line for each key, `key<TAB>node[,node...]`, with as many nodes as there are replicas, the first one first. \
Without KEY, or with -, keys are the lines of standard input, without blank lines. A key is any text without TAB and \
line breaks; an id that is a number is written in decimal, without leading zeros, as `fpdump scan` prints it.

Examples:
  fpring locate ring.json 17 18 19
  fpdump scan store | cut -f 2 | grep -v '^#' | fpring locate ring.json -
  fpring locate --json ring.json < urls.txt | jq -r '.nodes[0]'";

const REPORT_DETAILS: &str = "\
Places N keys (the ids 0, 1, ...) on the nodes of FILE, by rings of 1 to 1,024 virtual nodes and, to compare, by \
hash mod N, jump hashing and rendezvous hashing. The properties are those of Karger and others, \"Consistent Hashing \
and Random Trees\" (1997). Only the first replica of a key counts.

Balance: the load of a node is its number of keys, as a part of the share that its weight promises. The table has \
the standard deviation, the least and the greatest load. For rings, JSON also has the deviation of exact shares (of \
arcs).

Monotonicity: when a node joins or leaves, keys move to or from this node alone. A node of mean weight joins; the \
middle node of FILE leaves. The table has the share of keys that moves, and the share that moves between other \
nodes, which is 0 if the placement is monotone.

Spread and load: each of --views clients knows a random half of the nodes and places keys on these. The spread of a \
key is the number of different nodes that clients place it on. The load of a node is here the number of different \
keys that any client places on it, again as a part of the promised share. Broken: keys whose node is known to a \
client that places them elsewhere.

Hash mod N and jump hashing know no weights. With jump hashing, only the last node can leave without moving other \
keys.

Examples:
  fpring report ring.json
  fpring report --keys 1000000 --picture ring.svg ring.json
  fpring report --json ring.json | jq '.rows[] | [.placement, .virtual, .balance.deviation]'";

const DIFF_DETAILS: &str = "\
The shares are exact: sums over the arcs of both rings. With several replicas they are shares of all copies. `least` \
is the share that has to move because nodes have more than before; `ideal` is what would have to move if every node \
had exactly the share of its weight. --keys also counts the ids 0, 1, ...; it is needed for rings of different \
hashes, whose arcs cannot be compared.

Examples:
  fpring diff ring.json next.json
  fpring diff --keys 1000000 --json ring.json next.json | jq .moved";

const REBALANCE_DETAILS: &str = "\
OLD is the ring file of a sharded store: the store of each node is in the directory that its path names, or beside \
OLD in the directory of its name, and a record is on the nodes of its id. NEW is the ring that the store is to have, \
a file in the same directory as OLD.

First every record is copied to those of its new nodes that do not have it; a node without a store gets one with the \
parameters of the others. The store of a node that joins has to be empty. Then all of them are looked up again. Then NEW's ring takes the place of OLD's in the file \
OLD. Last the records are removed from nodes that they do not belong to any more. So at every moment the nodes of \
OLD have all records together. A query is complete if it asks all nodes of OLD, drops equal answers, and asks again \
if OLD has changed meanwhile. The stores of nodes that left are empty afterwards; remove them when no reader uses them.

Stopped or killed at any moment, the command continues when it is run again. Between replacing OLD and the end, the \
former ring is in OLD.former. Stores without ids, and those that number their records themselves, are refused, \
because only an id given from outside tells where a record belongs. Nothing else may write to the stores meanwhile; \
the program locks each store as it writes to it, and OLD.lock while it runs. Programs that hold this lock to add or \
remove records are told to wait, also after an interrupted run until it was continued.

Examples:
  cp ring.json next.json && fpring add next.json d
  fpring rebalance ring.json next.json
  fpring rebalance --memory 1GiB --json ring.json next.json | jq .copied
  fpring create one.json store                 one store, ...
  fpring create four.json store a b c
  fpring rebalance one.json four.json          ... spread over four nodes";

/// Shards on a consistent-hash ring: where keys belong, what moves when nodes join and leave, moving records
#[derive(Clone, Debug, Parser)]
#[command(name = "fpring", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) what: What,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum What {
    /// Make a ring file
    #[command(after_help = CREATE_DETAILS)]
    Create(Create),
    /// Add nodes to a ring file
    #[command(after_help = ADD_DETAILS)]
    Add(Add),
    /// Remove nodes from a ring file
    #[command(after_help = REMOVE_DETAILS)]
    Remove {
        /// The ring file
        file: PathBuf,
        /// Names of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<String>,
    },
    /// Set the weights of nodes in a ring file
    #[command(after_help = WEIGHT_DETAILS)]
    Weight {
        /// The ring file
        file: PathBuf,
        /// Nodes with their new weights
        #[arg(value_name = "NODE=WEIGHT", required = true)]
        nodes: Vec<NodeArgument>,
    },
    /// The nodes of keys
    #[command(after_help = LOCATE_DETAILS)]
    Locate {
        /// The ring file
        file: PathBuf,
        /// Keys, or - for lines of standard input
        #[arg(value_name = "KEY")]
        keys: Vec<OsString>,
    },
    /// Balance, monotonicity, spread and load, beside other placements
    #[command(after_help = REPORT_DETAILS)]
    Report(Report),
    /// The share of keys that moves between two rings, from where to where
    #[command(after_help = DIFF_DETAILS)]
    Diff {
        /// Count over N keys, too
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_KEYS))]
        keys: Option<u64>,
        /// The ring file before
        old: PathBuf,
        /// The ring file after
        new: PathBuf,
    },
    /// Move the records of a sharded store from one ring to another
    #[command(after_help = REBALANCE_DETAILS)]
    Rebalance(Rebalance),
}

/// Most keys of a report.
const MOST_KEYS: u64 = 10_000_000_000;

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Create {
    /// Virtual nodes of a node of weight 1, from 1 to 65536
    #[arg(long = "virtual", value_name = "V", default_value_t = Settings::VIRTUAL_NODES)]
    pub(crate) virtual_nodes: u32,
    /// Number of different nodes that each key belongs to
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(crate) replicas: u32,
    /// Hash that places keys and virtual nodes: xxh64 (a circle of 2^64), murmur3-32 or md5-32 (of 2^32)
    #[arg(long, value_name = "NAME", default_value_t = Hash::Xxh64)]
    pub(crate) hash: Hash,
    #[command(flatten)]
    pub(crate) nodes: Add,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Add {
    /// Directory of a node's store, relative to FILE's; may be repeated [default: the node's name]
    #[arg(long = "path", value_name = "NODE=DIR")]
    pub(crate) paths: Vec<PathArgument>,
    /// The ring file
    pub(crate) file: PathBuf,
    /// Nodes, each with a weight if it is not 1
    #[arg(value_name = "NODE[=WEIGHT]", required = true)]
    pub(crate) nodes: Vec<NodeArgument>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Report {
    /// Number of keys
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=MOST_KEYS))]
    pub(crate) keys: u64,
    /// Number of clients that know a half of the nodes
    #[arg(long, value_name = "V", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) views: u32,
    /// Seed of the random halves
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// File for a picture of the report (.svg)
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// The ring file
    pub(crate) file: PathBuf,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Rebalance {
    /// Memory for sorting, at least 64MiB; the rest goes to temporary files [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,
    /// Directory for temporary files [default: that of each store]. They have no names and vanish with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,
    /// The ring file of the sharded store, which is replaced
    pub(crate) old: PathBuf,
    /// The ring file that the store is to have
    pub(crate) new: PathBuf,
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
