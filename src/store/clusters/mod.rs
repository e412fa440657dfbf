//! Clusters: records that are linked by near pairs, directly or by others in between.

mod checkpoint;
mod clustering;
mod groups;
mod keeper;
mod known;
mod labelled;
mod labels;
mod previous;
mod report;
mod sorted;

use checkpoint::Checkpoint;
pub use clustering::{Clustered, ClusteredIter, Clustering};
pub use keeper::{Keeper, Ranking};
pub use labels::Label;
pub use previous::Previous;
pub use report::{ClusterReport, LargeCluster, SizeClass};

use super::Store;
use super::means::{Means, Progress};
use super::query::check_distance;
use crate::cluster::{Components, Numbers, UnionFind};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdKind};
use crate::join::{Join, Output, Parcel, Sink, Step, Taker};
use crate::segment::{Scratch, Segment};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The join never gets less.
const LEAST_JOIN: u64 = 16 << 20;
/// Bytes of a fingerprint in memory: its component, and one bit.
const EACH: u64 = 5;

/// Clusters that can be made: the connected components of a store's records at a distance. Two records are linked if their
/// fingerprints are within it; the same id on two fingerprints links nothing.
///
/// ```
/// use fpstore::{Id, Keeper, Label, Options, Parameters, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// // Each is near the one before, so all but the last are one cluster, however far the ends are apart.
/// let chain = vec![0b0, 0b111, 0b111_111, u64::MAX];
/// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), Records::Numbered(chain))?;
/// let clustering = store.clusters(3)?.find(&Keeper::Smallest)?;
/// let labels: Vec<Label> = clustering.records()?.map(|one| Ok(one?.label)).collect::<fpstore::Result<_>>()?;
/// assert_eq!(labels, [0, 0, 0, 3].map(|id: u64| Label::Id(id.into())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clusters<F: Fingerprint = u64> {
    segments: Vec<Arc<Segment>>,
    /// How many of them are the store's; what the others have is new.
    old: usize,
    kind: IdKind,
    k: u32,
    means: Means,
    sizes: bool,
    checkpoint: Option<PathBuf>,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Store<F> {
    /// The clusters of all records at distance `k`. The store may be written to meanwhile: the records are those of now.
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width.
    pub fn clusters(&self, k: u32) -> Result<Clusters<F>> {
        check_distance::<F>(k)?;
        Ok(Clusters {
            segments: self.segments.clone(),
            old: self.segments.len(),
            kind: self.parameters().ids(),
            k,
            means: Means::new(self),
            sizes: false,
            checkpoint: None,
            fingerprints: PhantomData,
        })
    }
}

impl<F: Fingerprint> Clusters<F> {
    /// Takes about so many bytes of memory, 1 GiB unless it is told, beside the block indexes of the store. Some four bytes a
    /// fingerprint, and eight for each cluster of several fingerprints, it cannot do without.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.means.memory = bytes;
        self
    }

    /// Makes temporary files in this directory; without it, in that of the store's options or else of the system. They have no
    /// names and vanish with the process. Only text ids need them.
    #[must_use]
    pub fn with_temp_dir(mut self, directory: &Path) -> Self {
        self.means = self.means.in_directory(directory);
        self
    }

    /// Counts the records of each cluster too, for [`Clustered::size`]; eight bytes for each cluster of several fingerprints.
    #[must_use]
    pub fn with_sizes(mut self) -> Self {
        self.sizes = true;
        self
    }

    /// Keeps what was done in this file, so that a run that was stopped or killed can go on with the same file. It takes four bytes
    /// a fingerprint, is written after each phase of the search, a few times in all, and is there until
    /// [`Clusters::remove_checkpoint`].
    #[must_use]
    pub fn with_checkpoint(mut self, file: &Path) -> Self {
        self.checkpoint = Some(file.to_owned());
        self
    }

    /// Removes the file of [`Clusters::with_checkpoint`], if it is there.
    ///
    /// # Errors
    /// `Io` if it cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<()> {
        self.checkpoint.as_deref().map_or(Ok(()), |path| Checkpoint::new(self, 0, path).remove())
    }

    /// The clusters of the records of another store too, such as a crawl that is not in this one yet. They may be in both.
    ///
    /// # Errors
    /// `InvalidInput` if its ids are of another kind.
    pub fn with_new(mut self, other: &Store<F>) -> Result<Self> {
        if other.parameters().ids() != self.kind {
            let message = format!(
                "the ids of the new records are {}, those of the store {}",
                other.parameters().ids(),
                self.kind
            );
            return Err(Error::invalid(message));
        }
        self.segments.extend_from_slice(&other.segments);
        Ok(self)
    }

    /// For labels that these records have had, to be given to [`Clusters::find_from`].
    #[must_use]
    pub fn previous(&self) -> Previous<F> {
        Previous::new(self.kind, &self.means.workspace(self.means.memory / 4))
    }

    /// How far the search for pairs is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.means.progress.clone()
    }

    /// Makes the clusters. Each is labelled with one of its ids, as the keeper says; where there are no ids, with one of its
    /// fingerprints.
    ///
    /// # Errors
    /// `InvalidInput` if the memory is too small; `Unsupported` if there are more than four billion fingerprints; `Damaged` or
    /// `Io` from reading, or from temporary files.
    pub fn find(&self, keeper: &Keeper) -> Result<Clustering<F>> {
        self.find_after(None, keeper)
    }

    /// The same clusters as those of [`Clusters::find`], without looking again for pairs of records that had labels: near ones are
    /// looked for of new records only ([`Clusters::with_new`], and those without a label) and of all those in clusters from which a
    /// record is missing.
    ///
    /// The labels have to be those of a clustering at the same distance. A record is known by its id; so one that has been given
    /// another fingerprint since has to be among the new ones. An id that several records have makes all of them look new, unless
    /// they had the same label, as many times, and it is another id.
    ///
    /// ```
    /// use fpstore::{Keeper, Label, Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// # let new_path = directory.path().join("new");
    /// let ids = |number: u64| Label::Id(number.into());
    /// let load = |path, records| Store::create_loaded(path, &Parameters::new(3), &Options::new(), records);
    /// let (store, _) = load(&path, Records::Numbered(vec![0b0u64, 0b111, u64::MAX]))?;
    /// let (new, _) = load(&new_path, Records::WithIds(vec![(u64::MAX - 1, 7)]))?;
    /// let clusters = store.clusters(3)?.with_new(&new)?;
    /// let mut previous = clusters.previous();
    /// for (id, label) in [(0, 0), (1, 0), (2, 2)] {
    ///     previous.push(&ids(id), &ids(label))?;
    /// }
    /// let clustering = clusters.find_from(previous, &Keeper::Smallest)?;
    /// let labels: Vec<Label> = clustering.records()?.map(|one| Ok(one?.label)).collect::<fpstore::Result<_>>()?;
    /// assert_eq!(labels, [0, 0, 2, 2].map(ids));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Clusters::find`].
    pub fn find_from(&self, previous: Previous<F>, keeper: &Keeper) -> Result<Clustering<F>> {
        self.find_after(Some(previous), keeper)
    }

    fn find_after(&self, previous: Option<Previous<F>>, keeper: &Keeper) -> Result<Clustering<F>> {
        let count = u64::from(Numbers::<F>::count_of(&self.segments)?);
        let needed = count * EACH + LEAST_JOIN;
        let Some(spare) = self.means.memory.checked_sub(needed) else {
            let message =
                format!("clusters of {count} fingerprints take {} MiB of memory at least", (needed >> 20) + 1);
            return Err(Error::invalid(message).with_remedy("allow more, with --memory"));
        };
        let count = Numbers::<F>::count_of(&self.segments)?;
        let about = previous.as_ref().map_or(0, Previous::state);
        let mut sets = UnionFind::new(count);
        let fresh = previous.map(|previous| previous.unite(self, &sets)).transpose()?;
        let numbers = Numbers::<F>::new(&self.segments, spare / 2)?;
        let checkpoint = self.checkpoint.as_deref().map(|path| Checkpoint::new(self, about, path));
        let mut phase = 0;
        if let Some(before) = checkpoint.as_ref().and_then(|checkpoint| checkpoint.load(count)) {
            (sets, phase) = before;
        }
        let uniter = || Uniter { numbers: &numbers, sets: &sets, scratch: Scratch::default() };
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(uniter()) };
        let progress = Arc::clone(&self.means.progress.0);
        let right = fresh.as_ref().map(|_| &self.segments[..]);
        let mut join = Join::<F>::new(&self.segments, right, self.k, LEAST_JOIN + spare / 2, progress);
        if let Some(fresh) = &fresh {
            join = join.only(fresh);
        }
        if fresh.as_ref().is_none_or(|fresh| fresh.count() > 0) {
            let _ = join.run(&taker, &mut Phases { checkpoint, sets: &sets }, phase)?;
        }
        let components = Components::new(sets);
        let searched = fresh.map_or(numbers.count().into(), |fresh| fresh.count());
        Clustering::new(self, numbers, components, searched, keeper)
    }
}

/// Writes a checkpoint after each phase.
struct Phases<'a> {
    checkpoint: Option<Checkpoint>,
    sets: &'a UnionFind,
}

impl Sink<Parcel> for Phases<'_> {
    fn take(&mut self, _: Parcel) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    fn before_phase(&mut self, phase: u32) -> Result<()> {
        self.checkpoint.as_ref().map_or(Ok(()), |checkpoint| checkpoint.save(self.sets, phase))
    }
}

/// Unites the sets of fingerprints that are near each other.
struct Uniter<'a, F> {
    numbers: &'a Numbers<F>,
    sets: &'a UnionFind,
    scratch: Scratch,
}

impl<F: Fingerprint> Taker<F> for Uniter<'_, F> {
    fn take(&mut self, pairs: &[(F, F)], _: &Output) -> Step {
        for &(a, b) in pairs {
            let a = self.numbers.of(a, &mut self.scratch)?;
            self.sets.unite(a, self.numbers.of(b, &mut self.scratch)?);
        }
        Ok(())
    }

    fn flush(&mut self, _: &Output) -> Step {
        Ok(())
    }
}
