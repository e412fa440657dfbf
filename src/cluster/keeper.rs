//! The record that stands for a cluster: its keeper.

use crate::fingerprint::Id;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The rank of a document by its id, the most important one first; `None` if it has no rank. Called at least once for
/// every record.
pub type Ranking = Arc<dyn Fn(&Id) -> Option<u64> + Send + Sync>;

/// Chooses the id that labels a cluster.
#[derive(Clone, Default)]
pub enum Keeper {
    /// The smallest.
    #[default]
    Smallest,
    /// The largest.
    Largest,
    /// The one with the lowest rank; of several, or if none has a rank, the smallest.
    Ranked(Ranking),
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Smallest => "Smallest",
            Self::Largest => "Largest",
            Self::Ranked(_) => "Ranked",
        })
    }
}

impl Keeper {
    /// `Less` if `a` is kept rather than `b`.
    pub(crate) fn compare<T: Ord>(&self, a: &T, b: &T, id: impl Fn(&T) -> Id) -> Ordering {
        match self {
            Self::Smallest => a.cmp(b),
            Self::Largest => b.cmp(a),
            Self::Ranked(rank) => {
                let rank = |one: &T| rank(&id(one)).unwrap_or(u64::MAX);
                (rank(a), a).cmp(&(rank(b), b))
            }
        }
    }

    /// Calls the ranking for ids that are not compared, too.
    pub(crate) fn ask(&self, ids: &[Id]) {
        if let Self::Ranked(rank) = self {
            for id in ids {
                let _ = rank(id);
            }
        }
    }

    pub(crate) fn best(&self, ids: &[Id]) -> Option<Id> {
        let best = match self {
            Self::Smallest => ids.iter().min(),
            Self::Largest => ids.iter().max(),
            Self::Ranked(rank) => ids.iter().min_by_key(|&id| (rank(id).unwrap_or(u64::MAX), id)),
        };
        best.cloned()
    }

    pub(crate) fn better(&self, a: Option<Id>, b: Option<Id>) -> Option<Id> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.compare(&b, &a, Clone::clone).is_lt() { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}
