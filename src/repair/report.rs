//! The report of a repair.

use crate::db::TornLog;
use crate::fingerprint::{AnyFingerprint, Fingerprint, Id};
use crate::segment::Damage;
use crate::version::SegmentRole;
use std::path::PathBuf;

/// The outcome of a repair, or of a plan of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairReport {
    /// Number of files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether the store is a key index: its fingerprints are the numbers of its records, and segments of keys have
    /// keys in their place.
    pub is_key_index: bool,
    /// Every damaged place of the manifest and of segments, and the first one of the logs.
    pub damages: Vec<Damage>,
    /// Logs with a torn tail, which was never durable.
    pub torn: Vec<TornLog>,
    /// The actions, in order.
    pub actions: Vec<RepairAction>,
    /// Everything that could not be saved.
    pub losses: Vec<Loss>,
    /// Damaged files that stay as they are, because repairing them would need guessing.
    pub refused: Vec<Damage>,
    /// The new names of old files whose content is not all in new ones. The store never removes them.
    pub kept_aside: Vec<PathBuf>,
}

impl RepairReport {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty() && self.actions.is_empty() && self.refused.is_empty()
    }

    /// Whether everything can be saved, or has been.
    #[must_use]
    pub fn saves_everything(&self) -> bool {
        self.losses.is_empty() && self.refused.is_empty()
    }
}

/// A step of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairAction {
    /// Writes a new segment with all records of a damaged one that can be saved.
    Rewrite {
        /// Its role.
        role: SegmentRole,
        /// The damaged segment.
        from: PathBuf,
        /// The new segment.
        to: PathBuf,
        /// Number of records that are saved, and of all records; in a segment of keys, of pairs of a key and a record.
        records: (u64, u64),
        /// The same of distinct fingerprints, or keys.
        fingerprints: (u64, u64),
    },
    /// Makes a new id index from its segment.
    RebuildIdIndex {
        /// The old index.
        from: PathBuf,
        /// The new index.
        to: PathBuf,
    },
    /// Drops a segment without a record to save, or an id index without its segment.
    Drop {
        /// Its role.
        role: SegmentRole,
        /// The segment.
        path: PathBuf,
    },
    /// Moves every batch of the logs that holds to segments, and drops the logs.
    FlushLogs {
        /// The logs.
        logs: Vec<PathBuf>,
        /// Number of batches that were in no segment.
        batches: u64,
        /// Number of their entries.
        operations: u64,
    },
}

/// Something that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The file.
    pub path: PathBuf,
    /// The part of it, in the words of format-spec/.
    pub section: String,
    /// Offset of the first lost byte, unless the whole file is lost.
    pub offset: Option<u64>,
    /// The role of the segment; `None` for a log. Lost tombstones let the records that they hid come back.
    pub role: Option<SegmentRole>,
    /// Number of records, unknown for logs. A record whose fingerprint and id are both lost counts with the ids. In a
    /// segment of keys, number of pairs of a key and a record, except where [`Lost`] says otherwise.
    pub records: Option<u64>,
    /// The content.
    pub what: Lost,
}

/// The content of a loss. Fingerprints are in hexadecimal digits, lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// A whole segment.
    Segment {
        /// Number of its distinct fingerprints.
        fingerprints: u64,
    },
    /// Ids of fingerprints that are known.
    Ids {
        /// The fingerprints. One before a damaged page may have lost nothing.
        fingerprints: Vec<String>,
    },
    /// Counts of fingerprints that are known, in a store without ids. Each fingerprint stays with one record.
    Counts {
        /// The fingerprints.
        fingerprints: Vec<String>,
    },
    /// Fingerprints that follow one another, with all their records.
    Fingerprints {
        /// Number of distinct fingerprints of the segment before them.
        first: u64,
        /// Number of lost fingerprints.
        count: u64,
        /// The fingerprint before them.
        after: Option<String>,
        /// The fingerprint after them.
        before: Option<String>,
        /// Their readable ids or counts, in the order of the fingerprints. Empty in a segment of keys, whose losses end
        /// with one of `KeysOf`.
        ids: Vec<Id>,
    },
    /// Numbers of records behind keys that are known.
    Numbers {
        /// The keys. The first one of each range may have lost nothing.
        keys: Vec<KeyRange>,
    },
    /// The records that have lost keys, as far as they are known; the loss has their number. They stay, with the keys
    /// that are left.
    KeysOf {
        /// Ranges of the numbers of the records: first and last.
        numbers: Vec<(u64, u64)>,
    },
    /// Sketches; the loss has their number. The records stay, with sketches of zeros.
    Sketches {
        /// Ranges of the numbers of the records: first and last.
        numbers: Vec<(u64, u64)>,
    },
    /// Keys and sketches of records that are lost in the segment of records.
    WithRecords {
        /// Ranges of the numbers of the records that had keys: first and last.
        numbers: Vec<(u64, u64)>,
    },
    /// Batches of writes of a log: records that they inserted are missing, records that they removed are there.
    Batches {
        /// The first one's sequence number.
        first: u64,
        /// The last one's, if it is known.
        last: Option<u64>,
    },
}

/// Keys that follow one another, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key.
    pub first: String,
    /// The last key.
    pub last: String,
    /// Number of keys.
    pub count: u64,
}

/// A fingerprint in hexadecimal digits.
pub(super) fn hex<F: Fingerprint>(fingerprint: F) -> String {
    AnyFingerprint::from(fingerprint).to_string()
}
