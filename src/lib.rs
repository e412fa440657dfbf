//! A compressed, on-disk store of similarity fingerprints that answers exactly: *which stored fingerprints differ from
//! this one in at most k bits?*
//!
//! Fingerprints are numbers of 64, 128 or 256 bits such as simhash makes of documents and PDQ of pictures: what is
//! nearly the same gets fingerprints that differ in few bits. A [`Store`] keeps records of fingerprint and document id
//! in a directory, some eleven bytes a fingerprint of 64 bits with the default two tables, and finds near ones in
//! microseconds. It follows Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007): sorted
//! tables of permuted fingerprints, compressed in blocks; the last fingerprint of every block in memory; only candidate
//! blocks are decoded.
//!
//! ```
//! use fpstore::{Durability, Options, Parameters, Records, Store};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("store");
//! let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
//! store.bulk_load(Records::Numbered(vec![0x832f_e9f6_aa2f_461a, 0x0000_c4d3_ba6c_de29]))?;
//! assert!(store.contains_near(0x832f_e9f6_aa2d_461a, 3)?.is_some());
//! assert!(store.contains_near(0x7777_7777_7777_7777, 3)?.is_none());
//! // A crawler's question: if nothing is near, this is new, and durable when the call returns.
//! let seen = store.insert_if_new(0x7777_7777_7777_7777, fpstore::IdRef::None, 3, Durability::SyncData)?;
//! assert!(seen.inserted && seen.number == Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Records are loaded in bulk, or written one by one and in atomic batches at any time, from any number of threads; the
//! caller says how durable a write is when it returns ([`Durability`]). [`Store::snapshot`] keeps a state, other
//! processes follow with [`Store::open_read_only`], and [`Store::backup`] copies a store that is in use.
//!
//! Answers are complete and exact for every distance; [`Parameters::max_distance`] says for which ones they are fast.
//! Damaged files give errors that name file and offset, never wrong answers. How files are read, and the one hazard of
//! memory maps, is described in [`mod@env`]. ARCHITECTURE.md describes the modules, format-spec/ the files.

// `inspect` is the only user of some of the internals.
#![cfg_attr(not(feature = "unstable"), allow(dead_code, unreachable_pub, unused_imports))]

pub mod admin;
mod bits;
mod bitset;
mod cluster;
mod codec;
mod db;
pub mod env;
mod error;
mod executor;
mod extsort;
mod fingerprint;
mod format;
#[doc(hidden)]
#[cfg(fuzzing)]
pub mod fuzzing;
#[cfg(feature = "unstable")]
pub mod inspect;
mod join;
mod load;
mod memtable;
mod options;
pub mod plan;
mod query;
mod query_stats;
pub mod repair;
mod segment;
mod store;
mod version;
mod wal;

pub use codec::Codec;
pub use db::{InsertOutcome, WriteBatch, WriteSummary};
pub use env::ReadMode;
pub use error::{Error, ErrorKind, Result};
pub use fingerprint::{AnyFingerprint, Fingerprint, Id, IdAssignment, IdKind, IdRef, Match, Record, U256, distance};
#[cfg(feature = "unstable")]
pub use format::parameters::check_hashers;
pub use format::{KeyFormat, Parameters};
pub use join::Progress;
pub use load::Records;
pub use options::{Filters, Maintenance, Options};
pub use plan::Design;
pub use query::{BatchStrategy, QueryTables, Searcher, Visit};
pub use query_stats::QueryStats;
pub use store::any::AnyStore;
pub use store::key_index::KeyIndex;
pub use store::{Store, parameters_of};
pub use version::{RecordIter, Snapshot};
pub use wal::Durability;

/// Many records at once: sorting them within a memory limit, and the reports of loads, removals and replacements.
pub mod bulk {
    #[cfg(feature = "unstable")]
    pub use crate::extsort::TextRanks;
    pub use crate::load::{
        DealtStore, IdSorter, IntoSorted, LoadReport, RecordSorter, RemoveIdsReport, RemoveReport, ReplaceReport,
        SortedIds, SortedRecords, deal,
    };
}

/// Records with keys, such as MinHash bands: [`KeyIndex`].
pub mod keys {
    pub use crate::join::keys::{KeyPair, KeyPairs, KeyRule};
    pub use crate::load::{KeyLoadReport, KeySorter, SortedKeys};
    pub use crate::query::keys::{KeyMatch, KeyQuery, KeySearcher, QueryKeys, jaccard};
    pub use crate::store::key_snapshot::KeySnapshot;
}

/// All pairs of near records, of one store or of two: [`Store::pairs`], [`Store::pairs_with`].
pub mod pairs {
    pub use crate::join::{Pair, PairIter, Pairs, RecordPair, RecordPairIter, RecordPairs};
    pub use crate::plan::{Part, PartGroups};
}

/// Clusters of near records, and which record of each to keep: [`Store::clusters`].
pub mod clusters {
    pub use crate::cluster::{
        Chain, Chains, ClusterChange, ClusterChanges, ClusterReport, ClusterUpdate, Clustered, ClusteredIter,
        Clustering, Clusters, Decision, Keeper, Label, LabelRef, LargeCluster, LeftOut, Linkage, Nearness, Nearnesses,
        Previous, Ranking, Removals, Removed, SizeClass, Spread, linked,
    };
}
