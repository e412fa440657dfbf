//! One question to a snapshot, as [`fpstore::AnyStore`] answers it.

use fpstore::{AnyFingerprint, Fingerprint, Match, Result};

use crate::open::{AnySnapshot, with_snapshot};

impl AnySnapshot {
    /// All records within distance `k`, by distance, then fingerprint, then id.
    ///
    /// # Errors
    /// `InvalidInput` if the fingerprint has another width, or `k` exceeds it; `Damaged` or `Io` from reading.
    pub fn query(&self, fingerprint: AnyFingerprint, k: u32) -> Result<Vec<Match<AnyFingerprint>>> {
        with_snapshot!(self, snapshot => Ok(any(snapshot.searcher().query(fingerprint.typed()?, k)?)))
    }

    /// The `count` nearest records.
    ///
    /// # Errors
    /// As [`AnySnapshot::query`].
    pub fn nearest(&self, fingerprint: AnyFingerprint, count: usize) -> Result<Vec<Match<AnyFingerprint>>> {
        with_snapshot!(self, snapshot => Ok(any(snapshot.searcher().nearest(fingerprint.typed()?, count)?)))
    }

    /// A record within distance `k`, if there is one.
    ///
    /// # Errors
    /// As [`AnySnapshot::query`].
    pub fn contains_near(&self, fingerprint: AnyFingerprint, k: u32) -> Result<Option<Match<AnyFingerprint>>> {
        with_snapshot!(self, snapshot => {
            Ok(any(snapshot.searcher().contains_near(fingerprint.typed()?, k)?).pop())
        })
    }
}

fn any<F: Fingerprint>(found: impl IntoIterator<Item = Match<F>>) -> Vec<Match<AnyFingerprint>> {
    let any =
        |Match { distance, fingerprint, id }| Match { distance, fingerprint: AnyFingerprint::from(fingerprint), id };
    found.into_iter().map(any).collect()
}
