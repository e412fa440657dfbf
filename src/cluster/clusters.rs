//! The clusters of a store, before they are searched.

use crate::bitset::{Bitset, NumberSet};
use crate::cluster::linkage::Linkage;
use crate::cluster::linker::Linker;
use crate::cluster::nearness::Measure;
use crate::cluster::numbers::Numbers;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::format::parameters::{Parameters, check_same_records};
use crate::join::{CleanSegments, JobContext, Progress, visit_wanted};
use crate::plan::Part;
use crate::query::check_distance;
use crate::segment::Segment;
use crate::version::{Share, Snapshot};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// If more than one of this many fingerprints is wanted, all are read instead of looking each up.
pub(crate) const LOOKED_UP: u64 = 256;
const LEAST_JOIN: u64 = 16 << 20;
pub(crate) const COMPONENT: u64 = 4;
/// Bytes of the number of keys that a record and its keeper both have.
const SHARED: u64 = 4;
/// Bytes of the number of a record whose sketch is compared.
const RECORD: u64 = 8;
/// Bytes of a kept record's place among the ids of its fingerprint.
const PLACE: u64 = 4;

/// The connected components of a store's records at a distance. Two records are linked if their
/// fingerprints are within it; the same id on two fingerprints links nothing.
///
/// ```
/// use fpstore::clusters::{Keeper, Label};
/// use fpstore::{Id, Options, Parameters, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// // Each is near the one before, so all but the last are one cluster, although its ends are far apart.
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
    /// The segments of another store, whose records are new.
    new: Option<CleanSegments>,
    pub(crate) parameters: Parameters,
    pub(crate) k: u32,
    pub(crate) part: Option<Part>,
    pub(crate) linkage: Linkage,
    pub(crate) job: JobContext,
    pub(crate) sizes: bool,
    pub(crate) keepers: bool,
    pub(crate) chains: bool,
    pub(crate) removals: bool,
    /// What links records, if it is not the distance of their fingerprints.
    pub(crate) linker: Option<Arc<dyn Linker<F>>>,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Clusters<F> {
    pub(crate) fn new(snapshot: &Snapshot<F>, k: u32) -> Result<Self> {
        check_distance(k, F::WIDTH)?;
        Ok(Clusters {
            own: CleanSegments::new(snapshot),
            new: None,
            parameters: snapshot.parameters().clone(),
            k,
            part: None,
            linkage: Linkage::Single,
            job: JobContext::new(snapshot),
            sizes: false,
            keepers: false,
            chains: false,
            removals: false,
            linker: None,
            fingerprints: PhantomData,
        })
    }

    /// The clusters of records that a linker links, with new ones.
    pub(crate) fn linked(
        snapshot: &Snapshot<F>,
        new: Option<&Snapshot<F>>,
        linker: Arc<dyn Linker<F>>,
    ) -> Result<Self> {
        Ok(Self { linker: Some(linker), new: new.map(CleanSegments::new), ..Self::new(snapshot, 0)? })
    }

    /// Keys of more records than may count ([`crate::keys::KeyRule::with_max_key_frequency`]), after the clusters of a
    /// key index were found; of the keys of the records that were searched, if earlier clusters were continued.
    #[must_use]
    pub fn skipped_keys(&self) -> u64 {
        self.linker.as_ref().map_or(0, |linker| linker.skipped())
    }

    /// Measures how near records are to the keepers of their components.
    pub(crate) fn measure(&self) -> Result<Measure<F>> {
        let Some(linker) = &self.linker else { return Ok(Measure::Distance { k: self.k }) };
        let (job, all_near) = (self.job_within(self.spare()? / 2), self.linkage != Linkage::Single);
        Ok(Measure::Linked { linker: Arc::clone(linker), shared: OnceLock::new(), job, all_near })
    }

    /// A part of the work with this much memory, and the same progress.
    pub(crate) fn job_within(&self, memory: u64) -> JobContext {
        let mut job = self.job.clone();
        (job.memory, job.progress) = (memory, self.progress());
        job
    }

    /// Makes clusters by this rule. The keeper given to [`Clusters::find`] decides on the priorities: the record that
    /// it prefers comes first.
    #[must_use]
    pub fn with_linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// Takes about this many bytes of memory beside the block indexes of the store; 1 GiB by default. It needs at least
    /// some four bytes a fingerprint, eight for star and twelve for complete linkage, and eight for each cluster of
    /// several fingerprints; to compare sketches, up to nine more for each record. Star and complete linkage write
    /// eight bytes a near pair of distinct fingerprints to a temporary file, and as many again to sort them, if the
    /// pairs do not fit the memory.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.job.memory = bytes;
        self
    }

    /// Makes temporary files in this directory instead of that of the store's options or of the system. They have no
    /// names and vanish with the process. Text ids and earlier labels need them. Call it before [`Clusters::previous`].
    #[must_use]
    pub fn with_temp_dir(mut self, directory: &Path) -> Self {
        self.job = self.job.in_directory(directory);
        self
    }

    /// Counts the records of each cluster ([`crate::clusters::Clustered::size`]) in eight bytes a cluster of several
    /// fingerprints.
    #[must_use]
    pub fn with_sizes(mut self) -> Self {
        self.sizes = true;
        self
    }

    /// Keeps the fingerprint of each cluster's keeper, for the decision on each record
    /// ([`crate::clusters::Clustering::visit_kept`]) and the numbers of records by how near they are to it
    /// ([`crate::clusters::ClusterReport::removed`]). Takes the bytes of a fingerprint a cluster of several.
    #[must_use]
    pub fn with_keepers(mut self) -> Self {
        self.keepers = true;
        self
    }

    /// Finds the connected components, too, if the linkage is star or complete: the report tells then which of them are
    /// chains ([`crate::clusters::ClusterReport::chains`]), unless earlier stars are continued
    /// ([`Clusters::find_from_removals`]), where the pairs of old records are unknown, or stars of a key index have a
    /// rule that not every shared key fulfils: they are found without all pairs. Takes four more bytes a fingerprint,
    /// eight in a key index, and sixteen a chain.
    #[must_use]
    pub fn with_chains(mut self) -> Self {
        self.chains = true;
        self
    }

    /// Prepares for the evidence of earlier stars ([`Clusters::removals`]), as [`Clusters::with_keepers`]. Takes four
    /// bytes more a fingerprint of the store.
    #[must_use]
    pub fn with_removals(mut self) -> Self {
        self.removals = true;
        self.with_keepers()
    }

    /// Includes the records of another store, such as a crawl that is not in this one yet. A record may be in both.
    ///
    /// # Errors
    /// `InvalidInput` if its ids are of another kind, or its fingerprints were made by another hasher.
    pub fn with_new(mut self, other: &Snapshot<F>) -> Result<Self> {
        if self.linker.is_some() {
            let message = "new records beside a key index are those of another one";
            return Err(Error::new(ErrorKind::Unsupported, message).with_remedy("name it: `KeyIndex::clusters_with`"));
        }
        check_same_records(&self.parameters, other.parameters())?;
        self.new = Some(CleanSegments::new(other));
        Ok(self)
    }

    /// Adds the records of other stores, as if they were in the first one. A record may be in several.
    ///
    /// # Errors
    /// As [`Clusters::with_new`].
    pub fn with_more(mut self, others: &[Snapshot<F>]) -> Result<Self> {
        self.own = self.own.with_more(others)?;
        Ok(self)
    }

    /// Unites only the pairs of this part ([`crate::pairs::Part`]). The components of the clusters of all parts are the
    /// clusters.
    ///
    /// # Errors
    /// `InvalidInput` if it is a part for another distance; `Unsupported` for a key index.
    pub fn of_part(mut self, part: Part) -> Result<Self> {
        if self.linker.is_some() {
            return Err(Error::new(ErrorKind::Unsupported, "the records of a key index have no parts"));
        }
        part.check_distance(self.k)?;
        self.part = Some(part);
        Ok(self)
    }

    /// Refuses to decide about the records of a part: stars and cliques depend on all pairs.
    pub(crate) fn check_whole(&self) -> Result<()> {
        if self.part.is_none() {
            return Ok(());
        }
        let message = "the pairs of a part make clusters by single linkage only";
        Err(Error::new(ErrorKind::Unsupported, message).with_remedy("collect the pairs of all parts"))
    }

    /// All segments, those of the store first.
    pub(crate) fn segments(&self) -> Result<Vec<Arc<Segment>>> {
        let mut segments = self.own.segments::<F>(&self.job)?.to_vec();
        if let Some(new) = &self.new {
            segments.extend_from_slice(new.segments::<F>(&self.job)?);
        }
        Ok(segments)
    }

    /// Number of the store's segments. The records of the others are new.
    pub(crate) fn old(&self) -> Result<usize> {
        self.own.segments::<F>(&self.job).map(<[_]>::len)
    }

    /// Least bytes of memory.
    ///
    /// # Errors
    /// `Unsupported` if there are more than four billion fingerprints.
    pub fn least_memory(&self) -> Result<u64> {
        let has_keys = self.linker.is_some();
        let in_chains = if has_keys { COMPONENT + SHARED } else { COMPONENT };
        let chains = if self.chains && self.linkage != Linkage::Single { in_chains } else { 0 };
        let linker = self.linker.as_ref().map_or(0, |linker| linker.resident_bytes());
        let shared = if self.keepers && has_keys { SHARED } else { 0 };
        let records = if self.linkage == Linkage::Star && has_keys { RECORD } else { 0 };
        // A byte for the bits.
        let each = self.linkage.bytes() + chains + shared.max(records) + 1;
        let segments = self.segments()?;
        let old = segments.get(..self.old()?).filter(|_| self.removals).unwrap_or_default();
        let places = u64::from(Numbers::<F>::count_of(old)?) * PLACE;
        Ok(u64::from(Numbers::<F>::count_of(&segments)?) * each + places + linker + LEAST_JOIN)
    }

    /// For a linker, the first words of the fingerprints with these numbers, if they fit `memory` bytes.
    pub(crate) fn first_words(
        &self,
        segments: &[Arc<Segment>],
        numbers: &Bitset,
        memory: u64,
    ) -> Result<Option<NumberSet>> {
        if self.linker.is_none() || numbers.count() * RECORD > memory {
            return Ok(None);
        }
        let mut words = Vec::new();
        visit_wanted(segments, Share::ALL, numbers, &mut |fingerprint: F, _| {
            words.push(fingerprint.word(0));
            Ok(())
        })?;
        Ok(Some(NumberSet::new(words)))
    }

    /// Bytes of memory beyond [`Clusters::least_memory`], and those of the smallest join.
    pub(crate) fn spare(&self) -> Result<u64> {
        let least = self.least_memory()?;
        self.job.memory.checked_sub(least).map(|spare| spare + LEAST_JOIN).ok_or_else(|| {
            Error::invalid(format!("clusters take {} MiB of memory at least", (least >> 20) + 1))
                .with_remedy("allow more")
        })
    }

    /// The progress of the search for pairs.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.job.progress.clone()
    }
}
