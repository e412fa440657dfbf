//! Which record stands for a cluster.

use crate::fingerprint::Id;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Tells how important a document is: the less, the more. None: nothing is known of it. It is asked about the id of every record at
/// least once.
pub type Ranking = Arc<dyn Fn(&Id) -> Option<u64> + Send + Sync>;

/// Which id stands for a cluster.
#[derive(Clone, Default)]
pub enum Keeper {
    /// The smallest.
    #[default]
    Smallest,
    /// The largest.
    Largest,
    /// The one with the lowest rank; of several, and where none has one, the smallest.
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
    /// Less: `a` rather than `b` is kept.
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

    /// Asks about ids that are not compared, too.
    pub(crate) fn ask(&self, ids: &[Id]) {
        if let Self::Ranked(rank) = self {
            for id in ids {
                let _ = rank(id);
            }
        }
    }

    /// The best of some ids.
    pub(crate) fn best(&self, ids: &[Id]) -> Option<Id> {
        ids.iter().min_by(|a, b| self.compare(*a, *b, Clone::clone)).cloned()
    }

    /// The better of two, of which there may be one only.
    pub(crate) fn better(&self, a: Option<Id>, b: Option<Id>) -> Option<Id> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.compare(&b, &a, Clone::clone).is_lt() { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}
