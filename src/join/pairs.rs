//! All pairs of near records of a store, or between two.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use crate::join::clean::CleanSegments;
use crate::join::job::{JobContext, Progress};
use crate::join::ordered::Output;
use crate::join::pair::Pair;
use crate::join::results::{Results, Ticket};
use crate::join::settings::Join;
use crate::join::sink::Sink;
use crate::join::stop::Step;
use crate::join::taker::{MakeTaker, Taker};
use crate::query::check_distance;
use crate::version::Snapshot;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// Less than this is taken as so much.
const LEAST_MEMORY: u64 = 1 << 20;
/// Pairs that are handed on together: so few that what is made of them is small too.
pub(crate) const CHUNK: usize = 2048;

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
    pub(crate) left: CleanSegments,
    pub(crate) right: Option<CleanSegments>,
    k: u32,
    pub(crate) job: JobContext,
    pub(crate) sorted: bool,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Pairs<F> {
    /// The pairs of the records of a snapshot, or between two.
    pub(crate) fn new(one: &Snapshot<F>, other: Option<&Snapshot<F>>, k: u32) -> Result<Self> {
        check_distance(k, F::WIDTH)?;
        if let Some(other) = other {
            Parameters::check_hashers("fingerprints", other.parameters().hasher(), one.parameters().hasher())?;
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
