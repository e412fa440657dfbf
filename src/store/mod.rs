//! The store: a directory of segments and logs under one manifest.
//!
//! A store is a set of records. It is created once with its [`Parameters`], loaded in bulk or written to at any time, and
//! asked. One process at a time may have it open for writing, from any number of threads; any number of processes may read.
//!
//! **What is kept.** A write is appended to a log and entered in a memtable, where all who ask see it at once; how durable it
//! is when it returns, the caller says ([`Durability`]). Full memtables become segments, segments are merged
//! (`compaction`), and the logs go. What a write or a load has returned from is there after any crash that its durability
//! covers; a batch, and a load, is there whole or not at all.
//!
//! **What fails.** If a sync fails, or a manifest cannot be made durable, it is in doubt what the files hold, and asking the
//! device again would not tell. The store then takes no further writes ([`ErrorKind::Poisoned`]) until it is opened again; it
//! goes on answering. So it does if its directory was moved away and another one is in its place. Everything else touches
//! nothing that was acknowledged: a write or a load that fails may be tried again; flushing and merging in the background are
//! tried again by themselves, and [`Store::health`] tells what they fail of.

mod ahead;
mod apart;
mod background;
mod backup;
mod batch;
mod by_id;
mod check;
mod clean;
mod clusters;
mod common;
mod compact;
mod core;
mod count;
mod create;
mod directory;
mod estimate;
mod filters;
mod flush;
mod following;
mod gathered;
mod handed;
mod hashers;
mod health;
mod id_index;
mod live;
mod load;
mod means;
mod pairs;
mod pressure;
mod query;
mod records;
mod recovery;
mod remove;
mod repair;
mod replace;
mod resolved;
mod run;
mod segments;
mod snapshot;
mod statistics;
mod tree;
mod verify;
mod view;
mod write;
mod write_batch;
mod writer;

pub use backup::{BackupMode, BackupReport};
pub use batch::Batch;
pub use by_id::RemoveIdsReport;
pub use check::Check;
pub use clusters::{
    ClusterChange, ClusterChanges, ClusterReport, ClusterUpdate, Clustered, ClusteredIter, Clustering, Clusters,
    Keeper, Label, LabelRef, LargeCluster, LeftOut, Previous, Ranking, SizeClass,
};
pub use filters::FilterStatistics;
pub use hashers::check_hashers;
pub use health::{Health, Trouble};
pub use id_index::add_id_index;
pub use load::LoadReport;
pub use means::Progress;
pub use pairs::{Pair, PairIter, Pairs, RecordPair, RecordPairIter, RecordPairs};
pub use pressure::WritePressure;
pub use query::{Searcher, Visit};
pub use records::RecordIter;
pub use recovery::{Recovery, TornLog};
pub use remove::RemoveReport;
pub use repair::{Loss, Lost, RepairAction, RepairReport, plan_repair, repair};
pub use replace::ReplaceReport;
pub use snapshot::Snapshot;
pub use statistics::{Statistics, TableStatistics, WrittenBytes};
pub use verify::{VerifyReport, verify};
pub use write_batch::{WriteBatch, Written};

pub(crate) use common::check_width;
pub(crate) use run::open_runs;
pub(crate) use statistics::{empty_tables, information_bound, of_segment as statistics_of_segment};

use self::core::Core;
use crate::bulk::IntoSorted;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Match};
use crate::format::Parameters;
use crate::format::log::write_operations;
use crate::format::manifest::Numbering;
use crate::manifest;
use crate::options::{Filters, Options};
use crate::segment::{Filter, Segment};
use background::Background;
use common::{Common, Lock, absolute, hold};
use following::Following;
use load::Merging;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tree::Tree;
use view::View;
use writer::Writer;
use xxhash_rust::xxh64::Xxh64;

/// From so many logs of earlier processes on, what is in them goes to a segment when a store is opened for writing.
const MOST_LOGS: usize = 8;

/// An open store. It may be shared by any number of threads.
///
/// ```
/// use fpstore::{Durability, Id, Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
/// store.insert(0x832f_e9f6_aa2f_461a, 1, Durability::SyncData)?;
/// store.insert(0x0000_c4d3_ba6c_de29, 2, Durability::SyncData)?;
/// let matches = store.query(0x832f_e9f6_aa2f_461b, 3)?;
/// assert_eq!((&matches[0].id, matches[0].distance), (&Id::Number(1), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store<F: Fingerprint = u64> {
    // The order matters: threads end before the lock goes.
    background: Option<Background<F>>,
    core: Arc<Core<F>>,
    recovery: Recovery,
    /// What a store that is open for reading only knows of the logs.
    following: Mutex<Option<Following<F>>>,
    /// Held while the store is open for writing.
    lock: Option<Lock>,
}

impl<F: Fingerprint> Drop for Store<F> {
    fn drop(&mut self) {
        self.core.stop();
        drop(self.background.take());
        self.core.let_go();
        self.core.forget();
        self.core.common.remover.close();
        drop(self.lock.take());
    }
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

    /// Opens a store for reading and writing, and removes what an interrupted process has left behind. Writes that were in
    /// no segment yet are read from the logs; [`Store::recovery`] tells what was found there.
    ///
    /// # Errors
    /// `NotFound`, `Locked` if another process writes, `InvalidInput` if the store is of another width, `Damaged`,
    /// `Unsupported`, `Io`.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = &*absolute(path.as_ref(), options)?;
        // Only a directory that is a store gets a lock file.
        manifest::read_bytes(&*options.env, path)?;
        let (lock, options) = &hold(path, options)?;
        let env = &*options.env;
        // The manifest may be one whose writer died before it could make the rename durable.
        env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
        let (manifest, runs) = open_runs(path, options, &[])?;
        let common = Common::new::<F>(path, options, &manifest.parameters)?;
        let recovered = recovery::Recovered::<F>::read(&common, &manifest)?;
        directory::remove_leftovers(env, path, &manifest, None)?;
        let (logs, recovery) = (recovered.logs.len(), recovered.found.clone());
        let (tree, writer) = Writer::after(Tree::new(manifest, runs), recovered);
        let core = Arc::new(Core::new(common, tree, Some(writer)));
        if logs >= MOST_LOGS && core.flush().is_err() {
            // What fails otherwise is noted, and tried again.
            core.check_poison()?;
        }
        Self::of(core, recovery, None, Some(Arc::clone(lock)))
    }

    /// Opens a store for reading. Nothing in the directory is changed. What a writer writes later is seen after
    /// [`Store::refresh`].
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` if the store is of another width, `Damaged`, `Unsupported`, `Io`.
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = absolute(path.as_ref(), options)?;
        let (core, following, recovery) = Following::open(&path, options)?;
        Self::of(core, recovery, Some(following), None)
    }

    fn of(core: Arc<Core<F>>, recovery: Recovery, following: Option<Following<F>>, lock: Option<Lock>) -> Result<Self> {
        let background = if lock.is_some() { Background::begin(&core)? } else { None };
        Ok(Self { background, core, recovery, following: Mutex::new(following), lock })
    }

    /// Sees what another process has written since a store was opened for reading, or refreshed; whether there was anything. A
    /// store that is open for writing sees everything anyway.
    ///
    /// # Errors
    /// `InvalidInput` if the store at the path is another one now, with other parameters: it is to be opened anew. `Damaged`,
    /// `Unsupported`, `Io`: then the state is the one of before, or with as many of the later batches as could be read; asking
    /// again reads on.
    pub fn refresh(&self) -> Result<bool> {
        match &mut *self::core::lock(&self.following) {
            Some(following) => following.refresh(&self.core),
            None => Ok(false),
        }
    }

    /// What was found in the logs when the store was opened.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.core.common.path
    }

    /// The state of now, for as long as it is kept.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<F> {
        Snapshot::new(&self.core.common, self.core.state())
    }

    /// A number that is another one when the store holds something else: a checksum of its segments' checksums, and of what was
    /// written behind them. The same records may have several, as they are stored.
    #[must_use]
    pub fn content_checksum(&self) -> u64 {
        let state = self.core.state();
        let mut sum = Xxh64::new(0);
        add_segments(&mut sum, state.view.runs.iter().flat_map(|run| run.segments()));
        let mut bytes = Vec::new();
        for (memtable, visible) in state.memtables() {
            bytes.clear();
            write_operations(&memtable.mentions(visible), &mut bytes);
            sum.update(&bytes);
        }
        sum.digest()
    }

    /// What was fixed when the store was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.core.common.parameters
    }

    /// Who gives the records their ids.
    #[must_use]
    pub fn numbering(&self) -> Numbering {
        self.core.tree().manifest.numbering
    }

    fn view(&self) -> Arc<View<F>> {
        self.core.view()
    }

    /// Adds records, durably and all or nothing. Records that the store has already are counted and left out.
    ///
    /// Other threads may write meanwhile. All new records are there at one moment, shortly before the call returns. Which are new
    /// is decided when it begins: one that is there then and that another thread removes meanwhile stays removed.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Record, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// drop(Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?);
    /// let store = Store::<u64>::open(&path, &Options::new())?;
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
    pub fn bulk_load(&self, records: impl IntoSorted<F>) -> Result<LoadReport> {
        let records = records.into_sorted(self.path(), &self.core.common.options)?;
        self.core.bulk_load(records, Merging::AsDue).map(|(report, _)| report)
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
        self.core.ask(|searcher| searcher.query(fingerprint, k))
    }

    /// Some record within distance `k` of a fingerprint, the first that is found.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn contains_near(&self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.core.ask(|searcher| searcher.contains_near(fingerprint, k))
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
        self.core.ask(|searcher| searcher.nearest(fingerprint, count))
    }

    /// What [`Store::query`] returns, found by comparing with every stored fingerprint: the way to check the index.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn scan(&self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.core.ask(|searcher| searcher.scan(fingerprint, k))
    }

    /// Something to ask many queries with; one a thread. It asks for the latest state each time.
    #[must_use]
    pub fn searcher(&self) -> Searcher<'_, F> {
        Searcher::following(&self.core.common, &self.core.latest)
    }

    /// Begins with the filters in the background, or makes them now, of a store that was opened without
    /// ([`crate::Filters::Off`]).
    pub fn make_filters(&self, when: Filters) {
        self.core.make_filters(when);
    }

    /// Returns when the filters that are made in the background are there ([`crate::Filters`]).
    pub fn wait_for_filters(&self) {
        self.core.wait_for_filters();
    }

    /// Bytes of memory of the filters that are there now.
    #[must_use]
    pub fn filter_bytes(&self) -> u64 {
        let view = self.view();
        let tables = view.segments.iter().flat_map(|segment| segment.tables());
        tables.filter_map(|table| table.filter()).map(Filter::bytes).sum()
    }

    /// Which filters there are now, and which there is no memory for.
    #[must_use]
    pub fn filter_statistics(&self) -> FilterStatistics {
        filters::statistics(&self.view().segments, self.core.common.filter_budget())
    }

    /// Makes one segment of all that there is when it is called, without what was removed; whether there was anything to do. What
    /// is written meanwhile stays in segments of its own.
    ///
    /// # Errors
    /// `ReadOnly`, `Poisoned`; `Damaged` or `Io` from reading; `Io` from writing, in which case the store is as before.
    pub fn compact(&self) -> Result<bool> {
        self.core.flush()?;
        self.core.compact_all()
    }

    /// Adds records and makes one segment of all; whether there were several. In one step, unless other threads write meanwhile:
    /// then the records are added first, and are there whatever becomes of the rest.
    ///
    /// # Errors
    /// As [`Store::bulk_load`]; the store is as before.
    pub fn bulk_load_compact(&self, records: impl IntoSorted<F>) -> Result<(LoadReport, bool)> {
        let records = records.into_sorted(self.path(), &self.core.common.options)?;
        self.core.bulk_load(records, Merging::All)
    }

    /// All records by fingerprint, then id, as they are now.
    #[must_use]
    pub fn records(&self) -> RecordIter<F> {
        RecordIter::new(&self.core.state())
    }

    /// Sizes and counts. Takes about a second for a million records that no segment has yet: they are looked up.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.snapshot().statistics();
        let manifest = self.core.tree().manifest.clone();
        statistics.add_manifest(&manifest);
        statistics.log_bytes = directory::log_bytes(&**self.core.common.env(), self.path());
        statistics.file_bytes += statistics.log_bytes;
        statistics.pressure = self.core.pressure();
        statistics
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
        verify(self.path(), &self.core.common.options)
    }
}

/// A number that is another one for other segments, or another seed.
fn checksum_of(segments: &[Arc<Segment>], seed: u64) -> u64 {
    let mut sum = Xxh64::new(seed);
    add_segments(&mut sum, segments);
    sum.digest()
}

fn add_segments<'a>(sum: &mut Xxh64, segments: impl IntoIterator<Item = &'a Arc<Segment>>) {
    for segment in segments {
        sum.update(&segment.footer_checksum().to_le_bytes());
        sum.update(&segment.file().length().to_le_bytes());
    }
}

/// What was fixed when the store at the path was created: its width, above all, which whoever opens it has to know.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn parameters_of(path: impl AsRef<Path>, options: &Options) -> Result<Parameters> {
    manifest::read(&*options.env, path.as_ref()).map(|manifest| manifest.parameters)
}
