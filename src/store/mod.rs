//! The store: a directory of segments under one manifest.
//!
//! A store is a set of records. It is created once with its [`Parameters`], loaded in bulk, and asked. One process at a
//! time may have it open for writing; any number may read. What a load has returned from is durable; a load that fails
//! or is killed at any moment leaves the store as it was. One exception: if the very last step fails, making the new
//! manifest's name durable, nobody knows which manifest a power failure would leave. The store then takes no further
//! writes ([`ErrorKind::Poisoned`]) until it is opened again.

mod batch;
mod clusters;
mod create;
mod directory;
mod estimate;
mod filters;
mod hashers;
mod load;
mod means;
mod pairs;
mod query;
mod records;
mod rewrite;
mod statistics;
mod verify;

pub use batch::Batch;
pub use clusters::{
    ClusterReport, Clustered, ClusteredIter, Clustering, Clusters, Keeper, Label, LargeCluster, Previous, Ranking,
    SizeClass,
};
pub use hashers::check_hashers;
pub use load::LoadReport;
pub use means::Progress;
pub use pairs::{Pair, PairIter, Pairs, RecordPair, RecordPairIter, RecordPairs};
pub use query::Searcher;
pub use records::RecordIter;
pub use rewrite::RemoveReport;
pub use statistics::{Statistics, TableStatistics};
pub(crate) use statistics::{empty_tables, information_bound, of_segment as statistics_of_segment};
pub use verify::{VerifyReport, verify};

use crate::bulk::{IntoSorted, segment_name};
use crate::env::Env;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Fingerprint, Match};
use crate::format::Parameters;
use crate::format::manifest::{ManifestData, Numbering, SegmentEntry};
use crate::manifest;
use crate::options::{Filters, Options};
use crate::segment::{Filter, Segment};
use filters::FilterMaker;
use std::any::Any;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh64::Xxh64;

/// Name of the file that the writing process locks.
const LOCK: &str = "LOCK";

/// An open store.
///
/// ```
/// use fpstore::{Id, Options, Parameters, Record, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let mut store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
/// store.bulk_load(Records::WithIds(vec![
///     Record::new(0x832f_e9f6_aa2f_461a, 1),
///     Record::new(0x0000_c4d3_ba6c_de29, 2),
/// ]))?;
/// let matches = store.query(0x832f_e9f6_aa2f_461b, 3)?;
/// assert_eq!((&matches[0].id, matches[0].distance), (&Id::Number(1), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store<F: Fingerprint = u64> {
    path: PathBuf,
    options: Options,
    manifest: ManifestData,
    segments: Vec<Arc<Segment>>,
    filters: FilterMaker,
    /// Held while the store is open for writing; `None` = reading only.
    lock: Option<Box<dyn Any + Send + Sync>>,
    /// Set when it is not known which manifest is on disk; no further writes then.
    poisoned: bool,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> Store<F> {
    /// Makes an empty store and opens it for writing.
    ///
    /// # Errors
    /// `AlreadyExists` if there is a store, or a directory with other files; `InvalidInput` if the parameters are not
    /// possible; `Locked`; `Io`.
    pub fn create(path: impl AsRef<Path>, parameters: &Parameters, options: &Options) -> Result<Self> {
        create::create(path.as_ref(), parameters, options, None).map(|(store, _)| store)
    }

    /// Whether a store may be created at the path: nothing is there, or nothing but what an interrupted creation left.
    ///
    /// # Errors
    /// `AlreadyExists` if there is a store or anything else; `Io`.
    pub fn check_vacant(path: impl AsRef<Path>, options: &Options) -> Result<()> {
        directory::room_for_store(&*options.env, path.as_ref()).map(|_| ())
    }

    /// Makes a store that holds `records` from the start: after a crash at any moment it is there with all of them, or
    /// not at all.
    ///
    /// # Errors
    /// Those of [`Store::create`] and [`Store::bulk_load`].
    pub fn create_loaded(
        path: impl AsRef<Path>,
        parameters: &Parameters,
        options: &Options,
        records: impl IntoSorted<F>,
    ) -> Result<(Self, LoadReport)> {
        let records = records.into_sorted(path.as_ref(), options)?;
        create::create(path.as_ref(), parameters, options, Some(records))
    }

    /// Opens a store for reading and writing, and removes what an interrupted load has left behind.
    ///
    /// # Errors
    /// `NotFound`, `Locked` if another process writes, `Damaged`, `Unsupported`, `Io`.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        // Only a directory that is a store gets a lock file.
        manifest::read_bytes(&*options.env, path)?;
        let lock = take_lock(&*options.env, path)?;
        // The manifest may be one whose writer died before it could make the rename durable.
        options.env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
        let mut store = Self::open_read_only(path, options)?;
        directory::remove_leftovers(&*options.env, path, &store.manifest, None)?;
        store.lock = Some(lock);
        Ok(store)
    }

    /// Opens a store for reading. Nothing in the directory is changed.
    ///
    /// # Errors
    /// `NotFound`, `Damaged`, `Unsupported`, `Io`.
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        let (manifest, segments) = open_segments(path, options)?;
        check_width::<F>(&manifest.parameters, path)?;
        let filters = FilterMaker::begin(&segments, options);
        let (path, options) = (path.to_owned(), options.clone());
        Ok(Self { path, options, manifest, segments, filters, lock: None, poisoned: false, fingerprints: PhantomData })
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that is another one when the store holds something else: a checksum of its segments' checksums.
    #[must_use]
    pub fn state(&self) -> u64 {
        state_of(&self.segments, 0)
    }

    /// What was fixed when the store was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.manifest.parameters
    }

    /// Who gives the records their ids.
    #[must_use]
    pub fn numbering(&self) -> Numbering {
        self.manifest.numbering
    }

    /// Adds records, durably and all or nothing. Records that the store has already are counted and left out.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Record, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// drop(Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?);
    /// let mut store = Store::<u64>::open(&path, &Options::new())?;
    /// let page = Record::new(0x832f_e9f6_aa2f_461a, 17);
    /// let report = store.bulk_load(Records::WithIds(vec![page.clone(), page]))?;
    /// assert_eq!((report.added(), report.already_present), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the records have ids and the store numbers them itself, or the reverse; `Damaged`
    /// or `Io` from reading what is there; `Io` from writing, in which case the store is as before;
    /// `Poisoned` after a failed last step, see the module's text.
    pub fn bulk_load(&mut self, records: impl IntoSorted<F>) -> Result<LoadReport> {
        let records = records.into_sorted(&self.path, &self.options)?;
        load::bulk_load(self, records)
    }

    /// All records within distance `k` of a fingerprint, by distance, then fingerprint, then id. Complete for
    /// any `k`; slower for one above the store's maximum.
    ///
    /// To ask many times, use [`Store::searcher`], which keeps its buffers.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0b0000u64, 0b0111, 0b1111]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let near: Vec<(u32, u64)> = store.query(0b0011, 2)?.iter().map(|found| (found.distance, found.fingerprint)).collect();
    /// assert_eq!(near, [(1, 0b0111), (2, 0b0000), (2, 0b1111)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading.
    pub fn query(&self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.searcher().query(fingerprint, k)
    }

    /// Some record within distance `k` of a fingerprint, the first that is found.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn contains_near(&self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.searcher().contains_near(fingerprint, k)
    }

    /// The `count` records nearest to a fingerprint at any distance, in the order of [`Store::query`].
    ///
    /// ```
    /// # use fpstore::{Id, Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0, u64::MAX, u64::MAX << 20]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let nearest = store.nearest(u64::MAX << 8, 2)?;
    /// assert_eq!((&nearest[0].id, nearest[0].distance), (&Id::Number(1), 8));
    /// assert_eq!((&nearest[1].id, nearest[1].distance), (&Id::Number(2), 12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn nearest(&self, fingerprint: F, count: usize) -> Result<Vec<Match<F>>> {
        self.searcher().nearest(fingerprint, count)
    }

    /// What [`Store::query`] returns, found by comparing with every stored fingerprint: the way to check the index.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn scan(&self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.searcher().scan(fingerprint, k)
    }

    /// Something to ask many queries with; one a thread.
    #[must_use]
    pub fn searcher(&self) -> Searcher<'_, F> {
        Searcher::new(&self.segments)
    }

    /// Begins with the filters in the background, or makes them now, of a store that was opened without
    /// ([`crate::Filters::Off`]).
    pub fn make_filters(&mut self, when: Filters) {
        self.filters = FilterMaker::begin(&self.segments, &self.options.clone().with_filters(when));
    }

    /// Returns when the filters that are made in the background are there ([`crate::Filters`]).
    pub fn wait_for_filters(&self) {
        self.filters.wait();
    }

    /// Bytes of memory of the filters that are there now.
    #[must_use]
    pub fn filter_bytes(&self) -> u64 {
        let tables = self.segments.iter().flat_map(|segment| segment.tables());
        tables.filter_map(|table| table.filter()).map(Filter::bytes).sum()
    }

    /// Removes records, durably and all or nothing; those that the store does not have are counted. Where there are no
    /// ids, each given record is one that its fingerprint counts less.
    ///
    /// What is left is written anew, as one segment.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the records have no ids and the store's have; `Damaged` or `Io` from reading what is
    /// there; `Io` from writing, in which case the store is as before; `Poisoned`.
    pub fn remove(&mut self, records: impl IntoSorted<F>) -> Result<RemoveReport> {
        let records = records.into_sorted(&self.path, &self.options)?;
        rewrite::remove(self, &records)
    }

    /// Makes one segment of all; whether there were several.
    ///
    /// # Errors
    /// As [`Store::remove`].
    pub fn compact(&mut self) -> Result<bool> {
        rewrite::compact(self)
    }

    /// Adds records and makes one segment of all, in one step; whether there were several.
    ///
    /// # Errors
    /// As [`Store::bulk_load`]; the store is as before.
    pub fn bulk_load_compact(&mut self, records: impl IntoSorted<F>) -> Result<(LoadReport, bool)> {
        let records = records.into_sorted(&self.path, &self.options)?;
        rewrite::load_compact(self, records)
    }

    /// All records by fingerprint, then id.
    #[must_use]
    pub fn records(&self) -> RecordIter<'_, F> {
        RecordIter::new(&self.segments)
    }

    /// Sizes and counts, from what is in memory.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        statistics::collect(
            &self.manifest.parameters,
            self.manifest.write().len() as u64,
            self.segments.iter().map(|segment| &**segment),
        )
    }

    /// Checks every byte of the store's files. [`verify`] does the same for a store too damaged to open.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![1u64, 2, 3]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// assert!(store.verify()?.damages.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if something cannot be read; damage is in the report.
    pub fn verify(&self) -> Result<VerifyReport> {
        verify(&self.path, &self.options)
    }
}

/// A number that is another one for other segments, or another seed.
fn state_of(segments: &[Arc<Segment>], seed: u64) -> u64 {
    let mut state = Xxh64::new(seed);
    for segment in segments {
        state.update(&segment.footer_checksum().to_le_bytes());
        state.update(&segment.file().length().to_le_bytes());
    }
    state.digest()
}

/// The lock of a store's directory.
fn take_lock(env: &dyn Env, store: &Path) -> Result<Box<dyn Any + Send + Sync>> {
    let path = store.join(LOCK);
    env.lock(&path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let holder = error.to_string();
            let holder = if holder.starts_with("process ") { holder } else { "another process".to_owned() };
            Error::new(ErrorKind::Locked, format!("{holder} has the store open for writing"))
                .at_path(store)
                .with_remedy("wait until it is done; reading is possible meanwhile")
        }
        _ => Error::io("cannot lock", &path, error),
    })
}

/// What was fixed when the store at the path was created: its width, above all, which whoever opens it has to know.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn parameters_of(path: impl AsRef<Path>, options: &Options) -> Result<Parameters> {
    manifest::read(&*options.env, path.as_ref()).map(|manifest| manifest.parameters)
}

/// Refuses fingerprints of another width than the store's.
pub(crate) fn check_width<F: Fingerprint>(parameters: &Parameters, path: &Path) -> Result<()> {
    if parameters.width() == F::WIDTH {
        return Ok(());
    }
    let message = format!("the store is of {}-bit fingerprints, not of {}-bit ones", parameters.width(), F::WIDTH);
    Err(Error::invalid(message).at_path(path).with_remedy("open it with the type of its width"))
}

/// The manifest and the segments that it names.
pub(crate) fn open_segments(path: &Path, options: &Options) -> Result<(ManifestData, Vec<Arc<Segment>>)> {
    loop {
        let manifest = manifest::read(&*options.env, path)?;
        let segments =
            manifest.segments.iter().map(|entry| open_segment(path, options, &manifest, entry).map(Arc::new));
        match segments.collect() {
            Ok(segments) => return Ok((manifest, segments)),
            // A writer may have replaced segments since the manifest was read.
            Err(_) if manifest::read(&*options.env, path)? != manifest => {}
            Err(error) => return Err(error),
        }
    }
}

/// Opens a segment and makes sure that it is the one the manifest means.
fn open_segment(store: &Path, options: &Options, manifest: &ManifestData, entry: &SegmentEntry) -> Result<Segment> {
    let path = store.join(segment_name(entry.number));
    let segment = Segment::open(&*options.env, &path, options.read_mode).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::damaged("a segment of the store is missing").at_path(&path),
        _ => error,
    })?;
    let footer = segment.footer();
    let found = (segment.file().length(), footer.records, footer.fingerprints, segment.footer_checksum());
    let expected = (entry.file_length, entry.records, entry.fingerprints, entry.footer_checksum);
    if found != expected || footer.parameters != manifest.parameters {
        return Err(Error::damaged("the segment is not the one that the manifest names").at_path(&path));
    }
    Ok(segment)
}
