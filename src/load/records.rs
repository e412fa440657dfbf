//! Records for a load: unsorted and sorted.

use crate::error::{Error, ErrorKind, LARGER_TMP_DIR, Result};
use crate::extsort::{NumberedRecord, Sample, Sorted, SortedTexts, Sorter, TextSorter, Workspace, drop_equal};
use crate::fingerprint::{Fingerprint, IdKind, IdRef, Record, check_text};
use crate::options::Options;
use crate::plan::Skew;
use crate::segment::RecordChunk;
use rayon::prelude::*;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Records to load, all in memory. [`RecordSorter`] takes more than memory holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Records<F = u64> {
    /// Fingerprints with the ids of their documents, all numbers or all texts.
    WithIds(Vec<Record<F>>),
    /// Fingerprints that the store numbers, in this order, from its own counter; a store without ids counts them.
    /// Numbers begin at 0 and are never reused.
    Numbered(Vec<F>),
}

/// The kind of the ids of some records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordIds {
    NoRecords,
    Without,
    /// None, and no numbers either.
    Counted,
    Numbers,
    Texts,
}

impl RecordIds {
    /// Whether a store with ids of this kind may have the records.
    pub(crate) fn fit(self, kind: IdKind) -> bool {
        match self {
            Self::NoRecords => true,
            Self::Without | Self::Counted => kind == IdKind::None,
            Self::Numbers => kind == IdKind::Number,
            Self::Texts => kind == IdKind::Text,
        }
    }
}

/// Takes records one by one and sorts them within the memory that the options allow; the others go to unnamed temporary
/// files.
///
/// ```
/// use fpstore::bulk::RecordSorter;
/// use fpstore::{IdRef, Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let options = Options::new().with_load_memory(256 << 20);
/// let mut sorter = RecordSorter::<u64>::new(&path, &options);
/// for number in 0..1000 {
///     sorter.push(number << 40, IdRef::Number(number))?;
/// }
/// let (store, report) = Store::create_loaded(&path, &Parameters::new(3), &options, sorter.finish()?)?;
/// assert_eq!(report.added(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RecordSorter<F: Fingerprint = u64> {
    workspace: Workspace,
    given: u64,
    is_counted: bool,
    sample: Sample<F>,
    sorter: Sorters<F>,
}

#[derive(Debug)]
enum Sorters<F: Fingerprint> {
    Nothing,
    Without(Sorter<NumberedRecord<F>>),
    Counted(Sorter<F>),
    Numbers(Sorter<NumberedRecord<F>>),
    Texts(TextSorter<F>),
}

impl<F: Fingerprint> RecordSorter<F> {
    /// For a load into the store at `path`: temporary files are made in the directory that the options name, or in the
    /// one that the store is in.
    #[must_use]
    pub fn new(path: &Path, options: &Options) -> Self {
        Self::within(Workspace::new(path, options))
    }

    pub(crate) fn within(workspace: Workspace) -> Self {
        let sample = Sample::new(workspace.most_sampled::<F>());
        Self { workspace, given: 0, is_counted: false, sample, sorter: Sorters::Nothing }
    }

    /// Makes a sorter without records take fingerprints alone, for a store without ids, which counts equal ones: they
    /// are sorted without numbers, in half of the memory if they have 64 bits. A store of numbers refuses them.
    ///
    /// ```
    /// use fpstore::bulk::RecordSorter;
    /// use fpstore::{Id, IdKind, IdRef, Options, Parameters, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let mut sorter = RecordSorter::<u64>::new(&path, &Options::new()).counted();
    /// [7, 9, 7].into_iter().try_for_each(|fingerprint| sorter.push(fingerprint, IdRef::None))?;
    /// let parameters = Parameters::new(3).with_ids(IdKind::None);
    /// let (store, _) = Store::create_loaded(&path, &parameters, &Options::new(), sorter.finish()?)?;
    /// assert_eq!(store.query(7, 0)?[0].id, Id::Count(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.is_counted = true;
        self
    }

    /// Refuses this many records if they take more temporary space than is free.
    ///
    /// # Errors
    /// `Io` with both numbers.
    pub fn check_space(&self, records: u64) -> Result<()> {
        let records = u128::from(records);
        // Sorting in memory takes a copy.
        let item = if self.is_counted { size_of::<F>() } else { size_of::<NumberedRecord<F>>() } as u128;
        if records * 2 * item <= self.workspace.memory_of_records().into() {
            return Ok(());
        }
        // Runs are compressed: even fingerprints to some two thirds, with numbers of the records to half.
        let bytes = if self.is_counted { records * item / 3 * 2 } else { records * item / 2 };
        match self.workspace.env.free_bytes(&self.workspace.directory) {
            Some(free) if u128::from(free) < bytes => {
                let message = format!("{records} records take some {bytes} bytes in temporary files, {free} are free");
                let error = Error::new(ErrorKind::Io, message).at_path(&self.workspace.directory);
                Err(error.with_remedy(LARGER_TMP_DIR))
            }
            _ => Ok(()),
        }
    }

    /// Takes a record.
    ///
    /// # Errors
    /// `InvalidInput` if the ids of other records were of another kind, or a text cannot be an id; `Io` from temporary
    /// files.
    #[inline]
    pub fn push(&mut self, fingerprint: F, id: IdRef<'_>) -> Result<()> {
        if matches!(self.sorter, Sorters::Nothing) {
            let memory = self.workspace.memory_of_records();
            self.sorter = match id {
                IdRef::None if self.is_counted => Sorters::Counted(Sorter::keeping_equal(&self.workspace, memory)),
                IdRef::None => Sorters::Without(Sorter::new(&self.workspace, memory)),
                IdRef::Number(_) => Sorters::Numbers(Sorter::new(&self.workspace, memory)),
                IdRef::Text(_) => Sorters::Texts(TextSorter::new(&self.workspace, memory)),
            };
        }
        let number = self.given;
        self.given += 1;
        if F::WIDTH <= 64 {
            self.sample.push(fingerprint);
        }
        match (&mut self.sorter, id) {
            (Sorters::Without(sorter), IdRef::None) => sorter.push(NumberedRecord { fingerprint, id: number }),
            (Sorters::Counted(sorter), IdRef::None) => sorter.push(fingerprint),
            (Sorters::Numbers(sorter), IdRef::Number(id)) => sorter.push(NumberedRecord { fingerprint, id }),
            (Sorters::Texts(sorter), IdRef::Text(text)) => {
                check_text(text)?;
                sorter.push(fingerprint, text.as_bytes())
            }
            _ => Err(Error::invalid("records of one load have ids of different kinds")
                .with_remedy("give all of them numbers, or all of them texts, or none of them an id")),
        }
    }

    /// The records in order.
    ///
    /// # Errors
    /// `Io` from temporary files.
    pub fn finish(self) -> Result<SortedRecords<F>> {
        let source = match self.sorter {
            Sorters::Nothing => RecordSource::Nothing,
            Sorters::Without(sorter) => RecordSource::Without(sorter.finish()?),
            Sorters::Counted(sorter) => RecordSource::Counted(sorter.finish()?),
            Sorters::Numbers(sorter) => RecordSource::Numbers(sorter.finish()?),
            Sorters::Texts(sorter) => RecordSource::Texts(sorter.finish()?),
        };
        let (workspace, given, distinct) = (self.workspace, self.given, OnceLock::new());
        let mut sorted = SortedRecords { workspace, given, sample: Vec::new(), source, distinct };
        if !sorted.is_in_memory() {
            sorted.sample = self.sample.finish();
        }
        Ok(sorted)
    }
}

/// Records that were sorted for loading: by fingerprint, then id.
///
/// A load sorts its records first. Sort them before the load to plan for their [`Skew`].
///
/// ```
/// use fpstore::plan::{Design, Goal, Workload};
/// use fpstore::bulk::RecordSorter;
/// use fpstore::{IdRef, Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let mut sorter = RecordSorter::<u64>::new(&path, &Options::new());
/// (1..=1000u64).try_for_each(|i| sorter.push(i << 50 | i, IdRef::None))?;
/// let records = sorter.finish()?;
/// let fingerprints = records.fingerprints();
/// let workload = Workload { fingerprints, width: 64, distance: 3, block_size: 256, filter: true };
/// let design = records.skew().recommend(Goal::Balanced, &workload)?;
/// let parameters = Parameters::new(3).with_design(design);
/// let (store, _) = Store::create_loaded(&path, &parameters, &Options::new(), records)?;
/// assert_eq!(store.query(1 << 50, 3)?[0].id, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SortedRecords<F: Fingerprint = u64> {
    workspace: Workspace,
    given: u64,
    /// Some fingerprints from all over, if not all are in memory.
    sample: Vec<F>,
    source: RecordSource<F>,
    distinct: OnceLock<u64>,
}

#[derive(Debug)]
enum RecordSource<F: Fingerprint> {
    Nothing,
    Without(Sorted<NumberedRecord<F>>),
    Counted(Sorted<F>),
    Numbers(Sorted<NumberedRecord<F>>),
    Texts(SortedTexts<F>),
}

/// Records to load: [`Records`] or [`SortedRecords`].
pub trait IntoSorted<F: Fingerprint>: sealed::Sealed {
    /// The records in order, sorted for a load into the store at `path`.
    ///
    /// # Errors
    /// `InvalidInput` if their ids are of different kinds; `Io` from temporary files.
    fn into_sorted(self, path: &Path, options: &Options) -> Result<SortedRecords<F>>;
}

impl<F: Fingerprint> IntoSorted<F> for SortedRecords<F> {
    fn into_sorted(self, _: &Path, _: &Options) -> Result<Self> {
        Ok(self)
    }
}

impl<F: Fingerprint> IntoSorted<F> for Records<F> {
    fn into_sorted(self, path: &Path, options: &Options) -> Result<SortedRecords<F>> {
        let mut sorter = RecordSorter::new(path, options);
        match self {
            Self::WithIds(records) => {
                records.iter().try_for_each(|record| sorter.push(record.fingerprint, record.id.as_ref()))?;
            }
            Self::Numbered(fingerprints) => {
                fingerprints.into_iter().try_for_each(|fingerprint| sorter.push(fingerprint, IdRef::None))?;
            }
        }
        sorter.finish()
    }
}

mod sealed {
    /// Limits the implementations of [`crate::load::records::IntoSorted`] to types that sort as a load needs it.
    pub trait Sealed {}
    impl<F: crate::fingerprint::Fingerprint> Sealed for crate::load::records::SortedRecords<F> {}
    impl<F> Sealed for crate::load::records::Records<F> {}
}

impl<F: Fingerprint> SortedRecords<F> {
    /// Number of records that were given, equal ones included.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given == 0
    }

    pub(crate) fn ids(&self) -> RecordIds {
        match self.source {
            RecordSource::Nothing => RecordIds::NoRecords,
            RecordSource::Without(_) => RecordIds::Without,
            RecordSource::Counted(_) => RecordIds::Counted,
            RecordSource::Numbers(_) => RecordIds::Numbers,
            RecordSource::Texts(_) => RecordIds::Texts,
        }
    }

    /// Number of distinct fingerprints; an upper bound if not all are in memory.
    #[must_use]
    pub fn fingerprints(&self) -> u64 {
        // Without threads to count, the load will fail.
        *self.distinct.get_or_init(|| self.count().and_then(Result::ok).unwrap_or(self.given))
    }

    /// Whether [`SortedRecords::chunks`] returns at most one chunk.
    pub(crate) fn come_at_once(&self) -> bool {
        self.is_in_memory() && !matches!(self.source, RecordSource::Texts(_))
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        match &self.source {
            RecordSource::Nothing => true,
            RecordSource::Counted(sorted) => sorted.in_memory().is_some(),
            RecordSource::Without(sorted) | RecordSource::Numbers(sorted) => sorted.in_memory().is_some(),
            RecordSource::Texts(sorted) => sorted.is_in_memory(),
        }
    }

    pub(crate) fn text_bytes(&self) -> u64 {
        if let RecordSource::Texts(sorted) = &self.source { sorted.text_bytes() } else { 0 }
    }

    /// The skew of fingerprints of 64 bits; of a sample if not all are in memory.
    #[must_use]
    pub fn skew(&self) -> Skew {
        if F::WIDTH > 64 {
            return Skew::new(Vec::new());
        }
        let executor = &self.workspace.executor;
        let by = |some: &mut dyn Iterator<Item = F>| {
            Skew::by(some.map(|fingerprint| fingerprint.word(0)).collect(), Arc::clone(executor))
        };
        let of_sorted = |words: &(dyn Fn() -> Vec<u64> + Sync)| {
            let distinct = || {
                let mut all = words();
                drop_equal(&mut all);
                Ok(all)
            };
            // Without threads the load will fail.
            Skew::of_sorted(Arc::new(executor.run(distinct).unwrap_or_default()), Arc::clone(executor))
        };
        match &self.source {
            RecordSource::Without(Sorted::Memory(entries)) | RecordSource::Numbers(Sorted::Memory(entries)) => {
                of_sorted(&|| entries.par_iter().map(|entry| entry.fingerprint.word(0)).collect())
            }
            RecordSource::Counted(Sorted::Memory(all)) => of_sorted(&|| F::leading_words(all).into_owned()),
            RecordSource::Texts(sorted) => match sorted.in_memory() {
                Some(mut all) => by(&mut all),
                None => by(&mut self.sample.iter().copied()),
            },
            _ => by(&mut self.sample.iter().copied()),
        }
    }

    /// The number of distinct fingerprints, if everything is in memory.
    fn count(&self) -> Option<Result<u64>> {
        let executor = &self.workspace.executor;
        Some(match &self.source {
            RecordSource::Nothing => Ok(0),
            RecordSource::Without(sorted) | RecordSource::Numbers(sorted) => {
                let entries = sorted.in_memory()?;
                executor.run(|| Ok(distinct(entries, |entry| entry.fingerprint)))
            }
            RecordSource::Counted(sorted) => {
                let all = sorted.in_memory()?;
                executor.run(|| Ok(distinct(all, |&fingerprint| fingerprint)))
            }
            RecordSource::Texts(sorted) => {
                let mut last = None;
                Ok(sorted.in_memory()?.filter(|&fingerprint| last.replace(fingerprint) != Some(fingerprint)).count()
                    as u64)
            }
        })
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The distinct records in order. Not for records without ids.
    pub(crate) fn records(&self) -> impl Iterator<Item = Result<Record<F>>> {
        self.chunks().flat_map(|batch| {
            batch.map_or_else(|error| Box::new(std::iter::once(Err(error))) as Box<_>, RecordChunk::into_records)
        })
    }

    pub(crate) fn chunks(&self) -> Box<dyn Iterator<Item = Result<RecordChunk<'_, F>>> + '_> {
        let memory = self.workspace.memory_of_chunks();
        match &self.source {
            RecordSource::Nothing => Box::new(std::iter::empty()),
            RecordSource::Without(sorted) => {
                Box::new(sorted.chunks(memory).map(|chunk| Ok(RecordChunk::Unnumbered(chunk?))))
            }
            RecordSource::Counted(sorted) => {
                Box::new(sorted.chunks(memory).map(|chunk| Ok(RecordChunk::Fingerprints(chunk?))))
            }
            RecordSource::Numbers(sorted) => {
                Box::new(sorted.chunks(memory).map(|chunk| Ok(RecordChunk::Numbers(chunk?))))
            }
            RecordSource::Texts(sorted) => Box::new(sorted.chunks(memory).map(|chunk| Ok(RecordChunk::Texts(chunk?)))),
        }
    }
}

/// The number of distinct fingerprints of sorted items.
fn distinct<T: Sync, F: Fingerprint>(items: &[T], of: impl Fn(&T) -> F + Sync + Send) -> u64 {
    let differ = |two: &&[T]| matches!(two, [a, b] if of(a) != of(b));
    (items.par_windows(2).filter(differ).count() + items.len().min(1)) as u64
}
