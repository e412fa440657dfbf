//! Clusters: records that are linked by near pairs, directly or by others in between.

use crate::cluster::numbers::Numbers;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::format::parameters::Parameters;
use crate::join::{CleanSegments, JobContext, Progress};
use crate::query::check_distance;
use crate::segment::Segment;
use crate::version::Snapshot;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// Of so many fingerprints at most one is looked up by itself, instead of reading all.
pub(crate) const LOOKED_UP: u64 = 256;
/// The join never gets less.
const LEAST_JOIN: u64 = 16 << 20;
/// Bytes of a fingerprint in memory: its component, and one bit.
const EACH: u64 = 5;
/// Bytes of its component alone.
pub(crate) const COMPONENT: u64 = 4;

/// Clusters that can be made: the connected components of a store's records at a distance. Two records are linked if their
/// fingerprints are within it; the same id on two fingerprints links nothing.
///
/// ```
/// use fpstore::clusters::{Keeper, Label};
/// use fpstore::{Id, Options, Parameters, Records, Store};
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
    own: CleanSegments,
    /// Records of another store, which are new.
    new: Option<CleanSegments>,
    pub(crate) parameters: Parameters,
    pub(crate) k: u32,
    pub(crate) job: JobContext,
    pub(crate) sizes: bool,
    pub(crate) keepers: bool,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Clusters<F> {
    /// The clusters of the records of a snapshot at distance `k`.
    pub(crate) fn new(snapshot: &Snapshot<F>, k: u32) -> Result<Self> {
        check_distance(k, F::WIDTH)?;
        Ok(Clusters {
            own: CleanSegments::new(snapshot),
            new: None,
            parameters: snapshot.parameters().clone(),
            k,
            job: JobContext::new(snapshot),
            sizes: false,
            keepers: false,
            fingerprints: PhantomData,
        })
    }

    /// Takes about so many bytes of memory, 1 GiB unless it is told, beside the block indexes of the store. Some four bytes a
    /// fingerprint, and eight for each cluster of several fingerprints, it cannot do without.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.job.memory = bytes;
        self
    }

    /// Makes temporary files in this directory; without it, in that of the store's options or else of the system. They have no
    /// names and vanish with the process. Text ids and labels from before need them. To be called before [`Clusters::previous`].
    #[must_use]
    pub fn with_temp_dir(mut self, directory: &Path) -> Self {
        self.job = self.job.in_directory(directory);
        self
    }

    /// Counts the records of each cluster too, for [`crate::clusters::Clustered::size`]; eight bytes for each cluster of several fingerprints.
    #[must_use]
    pub fn with_sizes(mut self) -> Self {
        self.sizes = true;
        self
    }

    /// Remembers the fingerprint of the record that stands for each cluster, to count the records that are far from it
    /// ([`crate::clusters::LeftOut::far`], [`crate::clusters::ClusterReport::far_records`]); takes a fingerprint's bytes for each cluster of several.
    #[must_use]
    pub fn with_keepers(mut self) -> Self {
        self.keepers = true;
        self
    }

    /// The clusters of the records of another store too, such as a crawl that is not in this one yet. They may be in both.
    ///
    /// # Errors
    /// `InvalidInput` if its ids are of another kind, or its fingerprints were made by another hasher.
    pub fn with_new(mut self, other: &Snapshot<F>) -> Result<Self> {
        Parameters::check_hashers("fingerprints", other.parameters().hasher(), self.parameters.hasher())?;
        if other.parameters().ids() != self.parameters.ids() {
            let message = format!(
                "the ids of the new records are {}, those of the store {}",
                other.parameters().ids(),
                self.parameters.ids()
            );
            return Err(Error::invalid(message));
        }
        self.new = Some(CleanSegments::new(other));
        Ok(self)
    }

    /// All segments, those of the store first.
    pub(crate) fn segments(&self) -> Result<Vec<Arc<Segment>>> {
        let mut segments = self.own.segments::<F>(&self.job)?.to_vec();
        if let Some(new) = &self.new {
            segments.extend_from_slice(new.segments::<F>(&self.job)?);
        }
        Ok(segments)
    }

    /// How many of the segments are the store's; what the others have is new.
    pub(crate) fn old(&self) -> Result<usize> {
        self.own.segments::<F>(&self.job).map(<[_]>::len)
    }

    /// Bytes of memory without which they cannot be made.
    ///
    /// # Errors
    /// `Unsupported` if there are more than four billion fingerprints.
    pub fn least_memory(&self) -> Result<u64> {
        Ok(u64::from(Numbers::<F>::count_of(&self.segments()?)?) * EACH + LEAST_JOIN)
    }

    /// Bytes of memory beside what cannot be done without.
    pub(crate) fn spare(&self) -> Result<u64> {
        let least = self.least_memory()?;
        self.job.memory.checked_sub(least).map(|spare| spare + LEAST_JOIN).ok_or_else(|| {
            Error::invalid(format!("clusters take {} MiB of memory at least", (least >> 20) + 1))
                .with_remedy("allow more")
        })
    }

    /// How far the search for pairs is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.job.progress.clone()
    }
}
