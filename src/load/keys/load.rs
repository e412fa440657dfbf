//! A load of records with keys: one new run and one new manifest.

use super::known::Known;
use super::sorter::SortedKeys;
use crate::bitset::NumberSet;
use crate::db::{Parts, StoreInner};
use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, Piece, Workspace};
use crate::fingerprint::{Id, Record};
use crate::load::bulk_load::{CompactAfter, MadeRun, last_of};
use crate::load::records::RecordIds;
use crate::segment::{Expected, Making, RecordChunk, SketchSource, chunks};
use crate::version::Run;
use std::fmt;
use std::iter;

/// What becomes of a record whose id the index has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownIds {
    /// The stored record stays, the new one is left out.
    Stay,
    /// The new record takes the place of the stored ones.
    Replace,
}

/// The result of a load of records with keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyLoadReport {
    /// Records in the input.
    pub records: u64,
    /// Records that were left out because their id came before in the input.
    pub repeated: u64,
    /// Records that were left out because the index has their id.
    pub already_present: u64,
    /// Records that were added.
    pub added: u64,
    /// Stored records that added ones replaced.
    pub replaced: u64,
    /// Keys of the added records.
    pub keys: u64,
    /// Bytes of the new segments; 0 if nothing was added.
    pub segment_bytes: u64,
}

impl StoreInner {
    /// Adds records with keys. Returns whether runs were merged.
    pub(crate) fn load_keys(
        &self,
        input: SortedKeys,
        known: KnownIds,
        after: CompactAfter,
    ) -> Result<(KeyLoadReport, bool)> {
        if self.context.parameters.keys() != Some(input.format) {
            return Err(Error::invalid("keys of another format than the index has")
                .at_path(&self.context.path)
                .with_remedy("sort them for the format of the index"));
        }
        self.flush_beside()?;
        let numbers = self.reserve(input.ids, input.given)?;
        let loaded = self.load_numbered(input, known, numbers.start, after);
        self.end_reservation(numbers, loaded.is_ok());
        loaded
    }

    fn load_numbered(
        &self,
        input: SortedKeys,
        known: KnownIds,
        first: u64,
        after: CompactAfter,
    ) -> Result<(KeyLoadReport, bool)> {
        let workspace = self.beside_indexes(&input.workspace);
        let runs = self.versions().runs.clone();
        let found = match input.ids {
            RecordIds::Numbers | RecordIds::Texts => Some(Known::of(&input, self, &workspace)?),
            RecordIds::NoRecords | RecordIds::Without | RecordIds::Counted => None,
        };
        let replaces = known == KnownIds::Replace;
        let left_out = match &found {
            Some(found) => found.left_out(replaces, &workspace)?,
            None => NumberSet::new(Vec::new()),
        };
        let mut report = KeyLoadReport { records: input.given, ..KeyLoadReport::default() };
        if let Some(found) = &found {
            report.repeated = found.repeated.len();
            report.already_present = if replaces { 0 } else { found.stored.len() };
        }
        self.check_room_to_load(report.records - report.repeated, input.records.text_bytes())?;
        let run = self.make_numbered(&input, found.filter(|_| replaces), &left_out, first, &workspace)?;
        drop(input);
        report.added = run.entry.records();
        report.replaced = run.entry.removed();
        report.keys = run.entry.keys.map_or(0, |keys| keys.records);
        report.segment_bytes = run.entry.bytes();
        let made = MadeRun { run, last: last_of(&runs), is_apart: true };
        let merged = self.add_run(made, after, &workspace)?;
        Ok((report, merged))
    }

    /// Makes the run of the records that are not left out, numbered from `first` on.
    fn make_numbered(
        &self,
        input: &SortedKeys,
        replaced: Option<Known>,
        left_out: &NumberSet,
        first: u64,
        workspace: &Workspace,
    ) -> Result<Run> {
        let maker = self.maker();
        let plain = Making::new(workspace);
        let tombstones = match &replaced {
            Some(known) => maker.tombstones(plain, known.numbers.chunks())?,
            None => None,
        };
        let stays = |place: &u64| !left_out.has(*place);
        let records: Box<dyn Iterator<Item = Result<Record>>> = match input.ids {
            RecordIds::Without => {
                let numbers = (0..input.given).filter(stays).map(move |place| first + place);
                Box::new(numbers.map(|number| Ok(Record { fingerprint: number, id: Id::Number(number) })))
            }
            _ => Box::new(input.records.records().filter_map(move |record| match record {
                Ok(record) if left_out.has(record.fingerprint) => None,
                Ok(record) => Some(Ok(Record { fingerprint: first + record.fingerprint, id: record.id })),
                Err(error) => Some(Err(error)),
            })),
        };
        let expected = Expected { text_bytes: input.records.text_bytes(), ..Expected::default() };
        let making = Making { expected, ..plain };
        let records = maker.records(making, chunks(records, workspace.memory_of_chunks()))?;
        let sketches = Sketches { input, left_out };
        let sketches = if input.format.sketch_bits() > 0 { Some(&sketches as &dyn SketchSource) } else { None };
        let expected = Expected { at_once: input.keys.in_memory().is_some(), ..Expected::default() };
        let keys =
            maker.keys(Making { expected, sketches, ..plain }, input.numbered_keys(left_out, first, workspace))?;
        maker.run::<u64>(Parts { tombstones, records, keys }, plain)
    }
}

impl SortedKeys {
    /// The stored keys with the numbers of their records.
    fn numbered_keys<'a>(
        &'a self,
        left_out: &'a NumberSet,
        first: u64,
        workspace: &Workspace,
    ) -> impl Iterator<Item = Result<RecordChunk<'a, u64>>> {
        let numbered = move |entries: Piece<'_, NumberedRecord<u64>>| {
            let staying = entries.iter().filter(|entry| !left_out.has(entry.id));
            let numbered = |entry: &NumberedRecord<u64>| NumberedRecord { id: first + entry.id, ..*entry };
            RecordChunk::Numbers(Piece::Owned(staying.map(numbered).collect()))
        };
        self.keys.chunks(workspace.memory_of_chunks()).map(move |chunk| chunk.map(numbered))
    }
}

/// The sketches of the records that are not left out.
struct Sketches<'a> {
    input: &'a SortedKeys,
    left_out: &'a NumberSet,
}

impl fmt::Debug for Sketches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sketches")
    }
}

impl SketchSource for Sketches<'_> {
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let size = self.input.format.sketch_bytes();
        let mut places = 0..;
        self.input.sketches.visit(size, |piece| {
            let mut staying = Vec::with_capacity(piece.len());
            for (sketch, place) in iter::zip(piece.chunks_exact(size), &mut places) {
                if !self.left_out.has(place) {
                    staying.extend_from_slice(sketch);
                }
            }
            visit(&staying)
        })
    }
}
