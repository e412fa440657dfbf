//! Errors of background work, which is tried again later.
//!
//! A failed flush or compaction leaves the logs and the runs unchanged, so a damaged page, a full disk or a missing
//! file descriptor is no reason to refuse writes.

use crate::error::{Error, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The pause after the first failure. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause: an attempt may read much before it fails.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// The longest pause if the device has too little space, which is cheap to check.
const LONGEST_FOR_SPACE: Duration = Duration::from_secs(10);

/// The work that an open store cannot do at present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The error that left the on-disk state unknown. The store takes no writes until it is opened again
    /// ([`ErrorKind::Poisoned`]).
    pub poisoned: Option<String>,
    /// The failing flush. Writes go on until the memtables are full, then fail.
    pub flushing: Option<Trouble>,
    /// The failing compaction. Writes go on; queries search more and more runs.
    pub compacting: Option<Trouble>,
}

impl Health {
    /// Whether there is nothing to report.
    #[must_use]
    pub fn is_good(&self) -> bool {
        *self == Self::default()
    }
}

/// Background work that fails, and is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trouble {
    /// The last error: message, place and remedy.
    pub error: String,
    /// Number of failed attempts in a row.
    pub attempts: u32,
}

/// A [`Trouble`], the writes concerned, and the time of the next attempt.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    pub(crate) trouble: Trouble,
    /// The last sequence number concerned. Work on newer writes may go on.
    pub(crate) up_to: u64,
    next: Instant,
}

impl Failing {
    pub(crate) fn again(before: Option<&Self>, error: &Error, up_to: u64) -> Self {
        let attempts = before.map_or(0, |before| before.trouble.attempts).saturating_add(1);
        let longest = if error.is_out_of_room() { LONGEST_FOR_SPACE } else { LONGEST_PAUSE };
        let pause = FIRST_PAUSE.saturating_mul(1 << (attempts - 1).min(16)).min(longest);
        let trouble = Trouble { error: error.to_string(), attempts };
        Self { trouble, up_to, next: Instant::now() + pause }
    }

    pub(crate) fn pause(&self) -> Option<Duration> {
        self.next.checked_duration_since(Instant::now()).filter(|pause| !pause.is_zero())
    }

    pub(crate) fn refusal(&self, path: &Path) -> Error {
        let cause = &self.trouble.error;
        let message = format!("the memtables are full and cannot be flushed ({cause})");
        Error::new(ErrorKind::Io, message)
            .at_path(path)
            .with_remedy("remove the cause and write again; nothing that was acknowledged is lost")
    }
}
