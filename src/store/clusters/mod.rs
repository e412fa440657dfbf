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

use super::clean::Source;
use super::hashers::check_hashers;
use super::means::{Means, Progress};
use super::query::check_distance;
use super::{Snapshot, Store};
use crate::cluster::{Components, Numbers, UnionFind};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
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
    own: Source<F>,
    /// Records of another store, which are new.
    new: Option<Source<F>>,
    parameters: Parameters,
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
        self.snapshot().clusters(k)
    }
}

impl<F: Fingerprint> Snapshot<F> {
    /// As [`Store::clusters`].
    ///
    /// # Errors
    /// Those of [`Store::clusters`].
    pub fn clusters(&self, k: u32) -> Result<Clusters<F>> {
        check_distance::<F>(k)?;
        Ok(Clusters {
            own: Source::new(self),
            new: None,
            parameters: self.parameters().clone(),
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
    /// names and vanish with the process. Text ids and labels from before need them. To be called before [`Clusters::previous`].
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
        self.checkpoint.as_deref().map_or(Ok(()), |path| Checkpoint::remove(&*self.means.env, path))
    }

    /// The clusters of the records of another store too, such as a crawl that is not in this one yet. They may be in both.
    ///
    /// # Errors
    /// `InvalidInput` if its ids are of another kind, or its fingerprints were made by another hasher.
    pub fn with_new(mut self, other: &Store<F>) -> Result<Self> {
        check_hashers("fingerprints", other.parameters().hasher(), self.parameters.hasher())?;
        if other.parameters().ids() != self.parameters.ids() {
            let message = format!(
                "the ids of the new records are {}, those of the store {}",
                other.parameters().ids(),
                self.parameters.ids()
            );
            return Err(Error::invalid(message));
        }
        self.new = Some(Source::new(&other.snapshot()));
        Ok(self)
    }

    /// All segments, those of the store first.
    fn segments(&self) -> Result<Vec<Arc<Segment>>> {
        let mut segments = self.own.segments(&self.means)?.to_vec();
        if let Some(new) = &self.new {
            segments.extend_from_slice(new.segments(&self.means)?);
        }
        Ok(segments)
    }

    /// How many of the segments are the store's; what the others have is new.
    fn old(&self) -> Result<usize> {
        self.own.segments(&self.means).map(<[_]>::len)
    }

    /// For labels that these records have had, to be given to [`Clusters::find_from`]. They are sorted within a quarter of the memory
    /// that is spare.
    ///
    /// # Errors
    /// Those of [`Clusters::find`] about memory and numbers.
    pub fn previous(&self) -> Result<Previous<F>> {
        Ok(Previous::new(self.parameters.ids(), self.means.workspace(self.spare()? / 4), self.progress()))
    }

    /// Bytes of memory without which they cannot be made.
    ///
    /// # Errors
    /// `Unsupported` if there are more than four billion fingerprints.
    pub fn least_memory(&self) -> Result<u64> {
        Ok(u64::from(Numbers::<F>::count_of(&self.segments()?)?) * EACH + LEAST_JOIN)
    }

    /// Bytes of memory beside what cannot be done without.
    fn spare(&self) -> Result<u64> {
        let least = self.least_memory()?;
        self.means.memory.checked_sub(least).map(|spare| spare + LEAST_JOIN).ok_or_else(|| {
            Error::invalid(format!("clusters take {} MiB of memory at least", (least >> 20) + 1))
                .with_remedy("allow more")
        })
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
    /// The labels have to be all those of a clustering at the same distance, as it gave them: each the id of a record of the cluster.
    /// A record is known by its id; so one that has been given another fingerprint since has to be among the new ones. Where
    /// several records share an id, all count as new, unless each of them had a label, all the same one, and that label is a
    /// different id.
    ///
    /// ```
    /// use fpstore::{Keeper, Label, Options, Parameters, Record, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// # let new_path = directory.path().join("new");
    /// let ids = |number: u64| Label::Id(number.into());
    /// let load = |path, records| Store::create_loaded(path, &Parameters::new(3), &Options::new(), records);
    /// let (store, _) = load(&path, Records::Numbered(vec![0b0u64, 0b111, u64::MAX]))?;
    /// let (new, _) = load(&new_path, Records::WithIds(vec![Record { fingerprint: u64::MAX - 1, id: 7.into() }]))?;
    /// let clusters = store.clusters(3)?.with_new(&new)?;
    /// let mut previous = clusters.previous()?;
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
        let spare = self.spare()?;
        let segments = self.segments()?;
        let count = Numbers::<F>::count_of(&segments)?;
        let about = previous.as_ref().map_or(0, Previous::state);
        let checkpoint = self.checkpoint.as_deref().map(|path| Checkpoint::new(self, about, path)).transpose()?;
        let before = checkpoint.as_ref().and_then(|checkpoint| checkpoint.load(count));
        let (sets, phase) = before.unwrap_or_else(|| (UnionFind::new(count), 0));
        let fresh = previous.map(|previous| previous.unite(self, &sets, spare)).transpose()?;
        // Where most are new, comparing all with all takes less than comparing the new ones with all.
        let fresh = fresh.filter(|fresh| fresh.count() <= u64::from(count) / 2);
        let mut numbers = Numbers::<F>::new(&segments, spare / 2)?;
        let uniter = || Uniter { numbers: &numbers, sets: &sets, scratch: Scratch::default() };
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(uniter()) };
        let progress = Arc::clone(&self.means.progress.0);
        let right = fresh.as_ref().map(|_| &segments[..]);
        let mut join = Join::<F>::new(&segments, right, self.k, spare - numbers.bytes(), progress);
        if let Some(fresh) = &fresh {
            join = join.only(fresh);
        }
        if fresh.as_ref().is_none_or(|fresh| fresh.count() > 0) {
            let _ = join.run(&taker, &mut Phases { checkpoint, sets: &sets }, phase)?;
        }
        numbers.release();
        let searched = fresh.map_or(count.into(), |fresh| fresh.count());
        Clustering::new(self, segments, numbers, Components::new(sets), searched, keeper)
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
