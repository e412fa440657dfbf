//! Records with keys, sorted within a given memory.

use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, Sorted, SortedTexts, Sorter, Spool, TextSorter, Workspace};
use crate::fingerprint::IdRef;
use crate::format::KeyFormat;
use crate::load::by_id_scan::write_line;
use crate::load::records::{RecordIds, RecordSorter, SortedRecords};
use crate::options::Options;
use crate::segment::id_hash_of;
use std::fmt;
use std::path::Path;

/// Parts of the memory: half for keys; ids once as they came, and once by their hashes.
const PART_OF_KEYS: u64 = 2;
const PART_OF_IDS: u64 = 4;

/// Takes records with keys one by one and sorts the keys within the memory that the options allow; the others go to
/// unnamed temporary files.
///
/// ```
/// use fpstore::keys::{KeyQuery, KeySorter};
/// use fpstore::{IdRef, KeyFormat, KeyIndex, Options, Parameters};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let format = KeyFormat::default();
/// let mut sorter = KeySorter::new(&path, &Options::new(), format);
/// sorter.push(IdRef::Number(7), &[1 << 60, 2 << 60, 3 << 60], &[])?;
/// sorter.push(IdRef::Number(8), &[3 << 60, 4 << 60], &[])?;
/// let (index, report) =
///     KeyIndex::create_loaded(&path, &Parameters::of_keys(format), &Options::new(), sorter.finish()?)?;
/// assert_eq!((report.added, report.keys), (2, 5));
/// let found = index.query(&[2 << 60, 3 << 60], &[], &KeyQuery::new())?;
/// assert_eq!((found[0].id.number(), found[0].shared), (Some(7), 2));
/// assert_eq!((found[1].id.number(), found[1].shared), (Some(8), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct KeySorter {
    workspace: Workspace,
    format: KeyFormat,
    given: u64,
    ids: RecordIds,
    /// Stored keys with the places of their records in the input.
    keys: Sorter<NumberedRecord<u64>>,
    records: RecordSorter<u64>,
    names: TextSorter<u64>,
    sketches: Spool,
    line: Vec<u8>,
}

impl fmt::Debug for KeySorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySorter").field("given", &self.given).field("format", &self.format).finish_non_exhaustive()
    }
}

impl KeySorter {
    /// For a load into the key index at `path`, which has this format; temporary files as for
    /// [`RecordSorter::new`](crate::bulk::RecordSorter::new).
    #[must_use]
    pub fn new(path: &Path, options: &Options, format: KeyFormat) -> Self {
        let workspace = Workspace::new(path, options);
        Self {
            format,
            given: 0,
            ids: RecordIds::NoRecords,
            keys: Sorter::new(&workspace, workspace.memory_of_records() / PART_OF_KEYS),
            records: RecordSorter::within(workspace.part(PART_OF_IDS)),
            names: TextSorter::new(&workspace, workspace.memory_of_records() / PART_OF_IDS),
            sketches: Spool::within(&workspace),
            line: Vec::new(),
            workspace,
        }
    }

    /// Takes a record: its id, or none for one that the index numbers; its keys, of which the leading bits count, in
    /// any order; its sketch of [`KeyFormat::sketch_bytes`] bytes. A record without keys needs no sketch.
    ///
    /// # Errors
    /// `InvalidInput` if the ids of other records were of another kind, a text cannot be an id, or the sketch has
    /// another length or bits beyond its samples; `Io` from temporary files.
    pub fn push(&mut self, id: IdRef<'_>, keys: &[u64], sketch: &[u8]) -> Result<()> {
        if !(sketch.is_empty() && keys.is_empty()) {
            self.format.check_sketch(sketch)?;
        }
        let ids = match id {
            IdRef::None => RecordIds::Without,
            IdRef::Number(_) => RecordIds::Numbers,
            IdRef::Text(_) => RecordIds::Texts,
        };
        if self.ids != RecordIds::NoRecords && self.ids != ids {
            return Err(Error::invalid("records of one load have ids of different kinds")
                .with_remedy("give all of them numbers, or all of them texts, or none of them an id"));
        }
        self.ids = ids;
        let place = self.given;
        if let Some(hash) = id_hash_of(id) {
            self.records.push(place, id)?;
            write_line(id, place, &mut self.line);
            self.names.push(hash, &self.line)?;
        }
        for &key in keys {
            self.keys.push(NumberedRecord { fingerprint: self.format.stored(key), id: place })?;
        }
        if self.format.sketch_bits() > 0 {
            let mut bytes = sketch.to_vec();
            bytes.resize(self.format.sketch_bytes(), 0);
            self.sketches.append(&mut bytes)?;
        }
        self.given += 1;
        Ok(())
    }

    /// The records with their keys in order.
    ///
    /// # Errors
    /// `Io` from temporary files.
    pub fn finish(self) -> Result<SortedKeys> {
        let Self { workspace, format, given, ids, keys, records, names, sketches, .. } = self;
        let (keys, records, names) = (keys.finish()?, records.finish()?, names.finish()?);
        Ok(SortedKeys { workspace, format, given, ids, keys, records, names, sketches })
    }
}

/// Records with keys that were sorted for a load.
pub struct SortedKeys {
    pub(super) workspace: Workspace,
    pub(super) format: KeyFormat,
    pub(super) given: u64,
    pub(super) ids: RecordIds,
    pub(super) keys: Sorted<NumberedRecord<u64>>,
    /// The places in the input with their ids, if records have ids.
    pub(super) records: SortedRecords<u64>,
    /// The same as lines by the hash of the id, then the id.
    pub(super) names: SortedTexts<u64>,
    pub(super) sketches: Spool,
}

impl fmt::Debug for SortedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedKeys").field("given", &self.given).field("format", &self.format).finish_non_exhaustive()
    }
}

impl SortedKeys {
    /// Number of records that were given.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Keys of all records, equal ones of one record once.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys.len()
    }
}
