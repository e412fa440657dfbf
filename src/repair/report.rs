//! What repairing a store does, and what it cannot save.

use crate::db::TornLog;
use crate::fingerprint::{Fingerprint, Id};
use crate::segment::Damage;
use crate::version::SegmentRole;
use std::path::PathBuf;

/// What a repair has done, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairReport {
    /// Files that were looked at.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Every damaged place.
    pub damages: Vec<Damage>,
    /// Logs that end with writes which a crash has cut short, and which nobody was promised.
    pub torn: Vec<TornLog>,
    /// What is done, in this order.
    pub actions: Vec<RepairAction>,
    /// What could not be saved.
    pub losses: Vec<Loss>,
    /// What is damaged and stays as it is, because nobody can tell what it was without guessing.
    pub refused: Vec<Damage>,
    /// Damaged files of which something could not be saved: they stay beside the store under these names, and nobody removes
    /// them.
    pub kept_aside: Vec<PathBuf>,
}

impl RepairReport {
    /// Whether there is nothing to do: no damage, and no log to cut.
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

/// Something that a repair does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairAction {
    /// A manifest in which one byte had changed gets that byte back. The checksum tells which one it is, and all that the
    /// manifest names agrees.
    RestoreManifest {
        /// The manifest.
        path: PathBuf,
        /// Where the byte stands.
        offset: u64,
    },
    /// A segment is written anew with all that can be saved of it.
    Rewrite {
        /// What it is for.
        role: SegmentRole,
        /// The damaged one.
        from: PathBuf,
        /// The new one.
        to: PathBuf,
        /// Records that are saved, and as many as there were.
        records: (u64, u64),
        /// The same of distinct fingerprints.
        fingerprints: (u64, u64),
    },
    /// The index of ids of a segment is made anew from that segment.
    RebuildIdIndex {
        /// The old one.
        from: PathBuf,
        /// The new one.
        to: PathBuf,
    },
    /// The store goes on without a segment: nothing of it can be saved, or nothing is left that it is an index of.
    Drop {
        /// What it was for.
        role: SegmentRole,
        /// The segment.
        path: PathBuf,
    },
    /// The end of a log is cut off: writes that were cut short, and which nobody was promised.
    CutLog {
        /// The log.
        path: PathBuf,
        /// Where it ends then.
        offset: u64,
        /// Bytes behind that.
        bytes: u64,
    },
    /// All writes of the logs that can be read go to segments, and the store goes on without these logs.
    FlushLogs {
        /// The logs that are there.
        logs: Vec<PathBuf>,
        /// Batches of writes that are in no segment yet and can be read.
        batches: u64,
        /// What these say of records.
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
    /// Where in the file it was, unless it was all of it.
    pub offset: Option<u64>,
    /// How many bytes.
    pub bytes: Option<u64>,
    /// Whether it is about tombstones: what is lost of them comes back to life.
    pub tombstones: bool,
    /// How many records, where that is known.
    pub records: Option<u64>,
    /// What it was.
    pub what: Lost,
}

/// What a loss was. Fingerprints are in hexadecimal digits, lower case. Ranks count the distinct fingerprints of a segment in
/// ascending order, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// All of a segment.
    Segment {
        /// Distinct fingerprints that it had.
        fingerprints: u64,
    },
    /// Ids of fingerprints that are known: each of these has lost at least one record.
    Ids {
        /// The fingerprints.
        fingerprints: Vec<String>,
        /// One more that may have lost records.
        perhaps: Option<String>,
        /// Ids that can be read, but not whose they were.
        ids: Vec<Id>,
    },
    /// Counts of fingerprints that are known, where there are no ids: they had more records together, by the number that stands
    /// beside this, and it is not known which of them. Each stays with one record.
    Counts {
        /// The fingerprints.
        fingerprints: Vec<String>,
    },
    /// Fingerprints, with their records.
    Fingerprints(LostFingerprints),
    /// Batches of writes of a log. What they said of records is not known: inserted ones are missing, removed ones are there.
    Batches {
        /// The first one's sequence number.
        first: u64,
        /// The last one's, where that is known.
        last: Option<u64>,
    },
}

/// Fingerprints that follow one another in a segment, some or all of which are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostFingerprints {
    /// The rank of the first one.
    pub first: u64,
    /// How many there were.
    pub count: u64,
    /// The greatest fingerprint before them that is known.
    pub after: Option<String>,
    /// The least one behind them that is known.
    pub before: Option<String>,
    /// Those of them that are known, though not of which rank: where there are ids, nobody can say which were theirs.
    pub known: Vec<String>,
    /// Where there are no ids: records with which each of the known ones stays in the store.
    pub kept: u64,
    /// What is known of single ones.
    pub parts: Vec<PartlyKnown>,
    /// Their ids, or counts, by rank. Where a rank is missing, its ids are not known either.
    pub ids: Vec<(u64, Vec<Id>)>,
}

/// A fingerprint of which some bits are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartlyKnown {
    /// Its rank.
    pub rank: u64,
    /// Its bits; those that are not known are 0.
    pub bits: String,
    /// Which of them are known.
    pub mask: String,
}

/// A fingerprint in hexadecimal digits.
pub(crate) fn hex<F: Fingerprint>(fingerprint: F) -> String {
    (0..F::WORDS).map(|number| format!("{:016x}", fingerprint.word(number))).collect()
}
