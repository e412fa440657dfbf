//! What fails in the background while no write is in doubt: it is told, and tried again later.
//!
//! Flushing and merging touch nothing that was acknowledged: the logs, or the runs that were to be merged, are still there. So
//! a damaged page, a full disk or a missing file descriptor is no reason to refuse writes.

use crate::error::{Error, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// After so long a failed attempt is repeated; after each further one twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause. Attempts may read much before they fail again.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// The longest while there is too little room, which costs hardly anything to find out.
const LONGEST_FOR_ROOM: Duration = Duration::from_secs(10);

/// What an open store cannot do at present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The error that left in doubt what the files hold. The store takes no writes until it is opened again
    /// ([`ErrorKind::Poisoned`]).
    pub poisoned: Option<String>,
    /// What keeps memtables from being moved to segments. Writes go on until memory is full, and fail then.
    pub flushing: Option<Trouble>,
    /// What keeps runs from being merged. Writes go on; queries have more and more runs to ask.
    pub merging: Option<Trouble>,
}

impl Health {
    /// Whether there is nothing to report.
    #[must_use]
    pub fn is_good(&self) -> bool {
        *self == Self::default()
    }
}

/// Work in the background that fails, and is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trouble {
    /// The last error: what is wrong, where, and the remedy.
    pub error: String,
    /// How many attempts in a row have failed.
    pub attempts: u32,
}

/// The same inside: what it concerns, and when the next attempt is due.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    pub(crate) trouble: Trouble,
    /// The greatest sequence number that is concerned: what is newer may go on.
    pub(crate) up_to: u64,
    next: Instant,
}

impl Failing {
    /// Work up to a sequence number has failed, again or for the first time.
    pub(crate) fn again(before: Option<&Self>, error: &Error, up_to: u64) -> Self {
        let attempts = before.map_or(0, |before| before.trouble.attempts).saturating_add(1);
        let longest = if error.is_out_of_room() { LONGEST_FOR_ROOM } else { LONGEST_PAUSE };
        let pause = FIRST_PAUSE.saturating_mul(1 << (attempts - 1).min(16)).min(longest);
        let trouble = Trouble { error: error.to_string(), attempts };
        Self { trouble, up_to, next: Instant::now() + pause }
    }

    /// How long to wait for the next attempt, if it is not due.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.next.checked_duration_since(Instant::now()).filter(|pause| !pause.is_zero())
    }

    /// The error of a write that has to wait for work which fails.
    pub(crate) fn refusal(&self, path: &Path) -> Error {
        let cause = &self.trouble.error;
        let message = format!("what is in memory cannot be moved to segments, and there is no room for more ({cause})");
        Error::new(ErrorKind::Io, message)
            .at_path(path)
            .with_remedy("remove the cause and write again; nothing that was acknowledged is lost")
    }
}
