//! All pairs of near records of a state, or between two.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::format::parameters::check_hashers;
use crate::join::budget::Join;
use crate::join::clean::CleanSegments;
use crate::join::expand::Expander;
use crate::join::job::{JobContext, Progress};
use crate::join::pair::{Pair, RecordPairs};
use crate::join::taker::{MakeTaker, PairChunks, Results, Sink, Taker};
use crate::plan::Part;
use crate::query::check_distance;
use crate::version::Snapshot;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::Path;

const LEAST_MEMORY: u64 = 1 << 20;

/// A join: all pairs within a distance.
///
/// Every pair comes once, in an order that depends only on the stores, not on the number of threads. Results come while
/// the work goes on. Without ids, each pair of fingerprints comes once with their counts; a fingerprint that was
/// counted several times comes as a pair with itself.
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
    pub(crate) left: CleanSegments,
    pub(crate) right: Option<CleanSegments>,
    k: u32,
    pub(crate) job: JobContext,
    pub(crate) sorted: bool,
    part: Option<Part>,
    first_only: bool,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Pairs<F> {
    /// The pairs of the records of a snapshot, or between two.
    pub(crate) fn new(one: &Snapshot<F>, other: Option<&Snapshot<F>>, k: u32) -> Result<Self> {
        check_distance(k, F::WIDTH)?;
        if let Some(other) = other {
            check_hashers("fingerprints", other.parameters().hasher(), one.parameters().hasher())?;
        }
        Ok(Self {
            left: CleanSegments::new(one),
            right: other.map(CleanSegments::new),
            k,
            job: JobContext::new(one),
            sorted: false,
            part: None,
            first_only: false,
            fingerprints: PhantomData,
        })
    }

    /// Takes about this many bytes of memory, at least 1 MiB, beside the block indexes of the stores. The default is 1
    /// GiB.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.job.memory = bytes.max(LEAST_MEMORY);
        self
    }

    /// Makes temporary files in this directory. The default is that of the store's options, or else of the system. The
    /// files have no names and vanish with the process.
    #[must_use]
    pub fn with_temp_dir(mut self, directory: &Path) -> Self {
        self.job = self.job.in_directory(directory);
        self
    }

    /// Returns pairs sorted by their fingerprints, then ids. The first one comes after all were found.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// Takes only the smallest id of each fingerprint: one pair of records for each pair of distinct fingerprints.
    #[must_use]
    pub fn first_ids(mut self) -> Self {
        self.first_only = true;
        self
    }

    /// Returns only the pairs of this part. Those of all parts together are all pairs, each once.
    ///
    /// # Errors
    /// `InvalidInput` if it is a part for another distance.
    pub fn of_part(mut self, part: Part) -> Result<Self> {
        part.check_distance(self.k)?;
        self.part = Some(part);
        Ok(self)
    }

    /// Adds the records of other stores, as if they were in the first one. A record may be in several.
    ///
    /// # Errors
    /// `InvalidInput` if their ids are of another kind, or their fingerprints were made by another hasher.
    pub fn with_more(mut self, others: &[Snapshot<F>]) -> Result<Self> {
        self.left = self.left.with_more(others)?;
        Ok(self)
    }

    /// The progress of the join.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.job.progress.clone()
    }

    /// Calls `sink` with all pairs of distinct fingerprints, some at a time and in order, after `map` has made a result
    /// of them on the threads that find them. Ends when `sink` breaks.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading, or from temporary files; those of `sink`.
    pub fn visit_distinct<T: Send>(
        &self,
        map: impl Fn(&[Pair<F>]) -> T + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.prepare()?;
        let results = Results::new();
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&map, &results)) };
        let mut sink = results.taken_by(sink);
        if self.sorted {
            self.visit_sorted(false, &taker, &mut sink)
        } else {
            self.run(self.job.memory, &taker, &mut sink).map(drop)
        }
    }

    /// Calls `sink` with the gathered results of all pairs of records, in order, until it breaks. `add` is called on
    /// several threads, and breaks when a result is large enough to be handed on.
    ///
    /// # Errors
    /// As [`Pairs::visit_distinct`].
    pub fn visit_records<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, RecordPairs<'_, F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.prepare()?;
        let results = Results::new();
        let (left, right) = (self.left.ready(), self.right.as_ref().map(CleanSegments::ready));
        let expander =
            || Expander::new(left, right, &add, &results, (self.sorted, self.first_only), &self.job.progress);
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(expander()) };
        let mut sink = results.taken_by(sink);
        if self.sorted { self.visit_sorted(true, &taker, &mut sink) } else { self.visit_in_lots(&taker, &mut sink) }
    }

    fn prepare(&self) -> Result<()> {
        self.left.segments::<F>(&self.job)?;
        self.right.as_ref().map_or(Ok(()), |right| right.segments::<F>(&self.job).map(|_| ()))
    }

    pub(crate) fn run(&self, memory: u64, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<ControlFlow<()>> {
        let right = self.right.as_ref().map(CleanSegments::ready);
        let JobContext { progress, executor, .. } = &self.job;
        let mut join = Join::new(self.left.ready(), right, self.k, memory, progress, executor);
        join.part = self.part;
        join.run(taker, sink)
    }

    /// Whether equal fingerprints are among the pairs: within one state they are pairs, which agree in the first part.
    pub(crate) fn has_repeated(&self) -> bool {
        self.right.is_none() && !self.first_only && self.part.is_none_or(|part| part.number() == 0)
    }
}
