//! All pairs of near records of a store, or between two.

use crate::db::check_hashers;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::clean::CleanSegments;
use crate::join::expand::{Expander, How};
use crate::join::iter::{PairIter, RecordPairIter};
use crate::join::job::{JobContext, Progress};
use crate::join::ordered::Output;
use crate::join::passes::{MakeTaker, Taker};
use crate::join::results::{Results, Ticket};
use crate::join::sink::Sink;
use crate::join::stop::Step;
use crate::join::whole::Join;
use crate::query::check_distance;
use crate::version::Snapshot;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Less than this is taken as so much.
const LEAST_MEMORY: u64 = 1 << 20;
/// Pairs that are handed on together: so few that what is made of them is small too.
pub(crate) const CHUNK: usize = 2048;

/// Two fingerprints near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair<F = u64> {
    /// The smaller one; between two stores, the first one's.
    pub a: F,
    /// The other one.
    pub b: F,
}

impl<F: Fingerprint> Pair<F> {
    /// Number of bits in which they differ.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.a.distance(self.b)
    }
}

/// Two records near each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPair<F = u64> {
    /// The one with the smaller fingerprint or, of equal ones, the smaller id; between two stores, the first one's.
    pub a: Record<F>,
    /// The other one.
    pub b: Record<F>,
}

impl<F: Fingerprint> RecordPair<F> {
    /// Number of bits in which their fingerprints differ.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.a.fingerprint.distance(self.b.fingerprint)
    }
}

/// Pairs of records with the same two fingerprints: each of some ids with each of some others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPairs<'a, F = u64> {
    /// The fingerprints.
    pub pair: Pair<F>,
    /// Ids of records with the first one.
    pub a: &'a [Id],
    /// Ids of records with the second one.
    pub b: &'a [Id],
}

/// A join that can be carried out: all pairs within a distance.
///
/// Every pair comes once, in an order that is always the same for the same stores, however many threads there are.
/// Results come while the work goes on; nobody has to hold them all. Where there are no ids, each pair of fingerprints
/// comes once with their counts, and a fingerprint that was counted several times with itself.
///
/// ```
/// use fpstore::{Options, Parameters, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let loaded = Records::Numbered(vec![0b0000u64, 0b0111, 0b0111, u64::MAX]);
/// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
/// let distinct: Vec<_> = store.pairs(3)?.distinct()?.collect::<Result<_, _>>()?;
/// assert_eq!((distinct.len(), distinct[0].a, distinct[0].b), (1, 0b0000, 0b0111));
/// let pairs: Vec<_> = store.pairs(3)?.records()?.collect::<Result<_, _>>()?;
/// assert_eq!(pairs.iter().filter(|pair| pair.distance() == 0).count(), 1);
/// assert_eq!(pairs.iter().filter(|pair| pair.distance() == 3).count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pairs<F: Fingerprint = u64> {
    pub(crate) left: CleanSegments<F>,
    pub(crate) right: Option<CleanSegments<F>>,
    k: u32,
    pub(crate) job: JobContext,
    sorted: bool,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Pairs<F> {
    /// The pairs of the records of a snapshot, or between two.
    pub(crate) fn new(one: &Snapshot<F>, other: Option<&Snapshot<F>>, k: u32) -> Result<Self> {
        check_distance::<F>(k)?;
        if let Some(other) = other {
            check_hashers("fingerprints", other.parameters().hasher(), one.parameters().hasher())?;
        }
        Ok(Self {
            left: CleanSegments::new(one),
            right: other.map(CleanSegments::new),
            k,
            job: JobContext::new(one),
            sorted: false,
            fingerprints: PhantomData,
        })
    }

    /// Takes about so many bytes of memory, 1 GiB unless it is told, beside the block indexes of the stores. Less than 1 MiB
    /// counts as so much.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.job.memory = bytes.max(LEAST_MEMORY);
        self
    }

    /// Makes temporary files in this directory; without it, in that of the store's options or else of the system. They have no
    /// names and vanish with the process. Only sorting needs them.
    #[must_use]
    pub fn with_temp_dir(mut self, directory: &Path) -> Self {
        self.job = self.job.in_directory(directory);
        self
    }

    /// Returns pairs sorted by their fingerprints, then ids. The first one comes when all were found.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// How far the join is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.job.progress.clone()
    }

    /// Pairs of distinct fingerprints; between two stores, equal ones are pairs too.
    ///
    /// # Errors
    /// `Io` if no thread can be started; the iterator returns those of reading.
    pub fn distinct(self) -> Result<PairIter<F>> {
        PairIter::new(self)
    }

    /// Pairs of records.
    ///
    /// # Errors
    /// As [`Pairs::distinct`].
    pub fn records(self) -> Result<RecordPairIter<F>> {
        RecordPairIter::new(self)
    }

    /// Calls `sink` with all pairs of distinct fingerprints, some at a time and in order, after `map` has made something of
    /// them on the threads that find them. Ends when `sink` breaks.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading, or from temporary files; those of `sink`.
    pub fn visit_distinct<T: Send>(
        &self,
        map: impl Fn(&[Pair<F>]) -> T + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.prepare()?;
        let results = Results::default();
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&map, &results)) };
        let mut sink = results.taken_by(sink);
        if self.sorted { self.visit_sorted(false, &taker, &mut sink) } else { self.run(&taker, &mut sink) }
    }

    /// Calls `sink` with what was gathered of all pairs of records, in order, until it breaks. `add` is called on the threads
    /// that find them, and breaks when so much was gathered that it is to be handed on.
    ///
    /// # Errors
    /// As [`Pairs::visit_distinct`].
    pub fn visit_records<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, RecordPairs<'_, F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.prepare()?;
        let results = Results::default();
        let how = How { add: &add, results: &results, in_order: self.sorted, progress: &self.job.progress };
        let expander = || Expander::new(self.left.ready(), self.right.as_ref().map(CleanSegments::ready), how);
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(expander()) };
        let mut sink = results.taken_by(sink);
        if self.sorted {
            return self.visit_sorted(true, &taker, &mut sink);
        }
        if self.right.is_none() && self.visit_repeated(&taker, &mut sink)?.is_break() {
            return Ok(());
        }
        self.run(&taker, &mut sink)
    }

    /// Has the segments of both sides at hand.
    fn prepare(&self) -> Result<()> {
        self.left.segments(&self.job)?;
        self.right.as_ref().map_or(Ok(()), |right| right.segments(&self.job).map(|_| ()))
    }

    pub(crate) fn run(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<()> {
        let progress = Arc::clone(&self.job.progress.0);
        let right = self.right.as_ref().map(CleanSegments::ready);
        let join = Join::new(self.left.ready(), right, self.k, self.job.memory, progress, &self.job.executor);
        join.run(taker, sink).map(drop)
    }
}

/// Gathers pairs and makes something of many at a time.
pub(crate) struct PairChunks<'a, F, T, M> {
    pairs: Vec<Pair<F>>,
    map: &'a M,
    results: &'a Results<T>,
}

impl<'a, F, T, M> PairChunks<'a, F, T, M> {
    pub(crate) fn new(map: &'a M, results: &'a Results<T>) -> Self {
        Self { pairs: Vec::new(), map, results }
    }
}

impl<F: Fingerprint, T: Send, M: Fn(&[Pair<F>]) -> T> Taker<F> for PairChunks<'_, F, T, M> {
    fn take(&mut self, pairs: &[(F, F)], output: &Output<Ticket>) -> Step {
        for chunk in pairs.chunks(CHUNK) {
            self.pairs.extend(chunk.iter().map(|&(a, b)| Pair { a, b }));
            if self.pairs.len() >= CHUNK {
                self.flush(output)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, output: &Output<Ticket>) -> Step {
        if self.pairs.is_empty() {
            return Ok(());
        }
        let made = (self.map)(&self.pairs);
        self.pairs.clear();
        output.send(self.results.put(made))
    }
}
