//! Another key index beside this one, without changing either.
//!
//! Records are known by their numbers, which both indexes give from 0 on. So the other one's records are numbered anew
//! behind the own ones, as a load would number them, and written to a run of unnamed files; their order stays, so
//! nothing is sorted. Those whose ids the index has too are left out, as by a load: they are listed as it has them.

use crate::bitset::NumberSet;
use crate::db::{Maker, Parts, StoreInner};
use crate::error::{Error, ErrorKind, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Id, IdAssignment, Record};
use crate::format::parameters::check_same_keys;
use crate::load::sorted_ids::IdSorter;
use crate::segment::{Making, PageBuffer, Segment, SketchSource, chunks};
use crate::version::{ReadView, Run, SketchCursor, SuperVersion, keys_of, removed_numbers};
use std::fmt;
use std::sync::Arc;

/// Bytes of sketches that are written at once.
const PIECE: usize = 1 << 16;

/// The records of an index and of another one.
pub(crate) struct Beside {
    /// The index as it is.
    pub(crate) own: ReadView,
    /// The same with a run of the records that only the other one has.
    pub(crate) all: ReadView,
    /// The other one's records: those that the index has too, and those of that run.
    pub(crate) new: Vec<Arc<Segment>>,
}

impl StoreInner {
    /// Puts the records of another index beside those of this one.
    pub(crate) fn beside(&self, other: &Self) -> Result<Beside> {
        self.check_beside(other)?;
        let (own, view) = (self.read_view(), other.read_view());
        // No record of the view has a greater number.
        let first = self.versions().manifest.next_id;
        let options = &self.context.options;
        let directory = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let workspace = self.beside_indexes(&other.beside_indexes(&self.foreground_workspace()));
        let workspace = &Workspace { directory, ..workspace };

        let mut ids = IdSorter::within(workspace);
        view.newest_entries::<u64>().live().try_for_each(|record| ids.push(record?.id.as_ref()))?;
        let (known, _) = self.records_of_ids::<u64>(&own, &ids.finish()?, workspace)?;
        let mut ids = IdSorter::within(workspace);
        known.records().try_for_each(|record| ids.push(record?.id.as_ref()))?;
        let (again, _) = other.records_of_ids::<u64>(&view, &ids.finish()?, workspace)?;
        let numbers = || again.records().map(|record| record.map(|record| record.fingerprint));
        let more = More { view: &view, left_out: NumberSet::of_sorted(again.given(), numbers)?, first };

        let parameters = &self.context.parameters.clone().with_id_index(false);
        let maker = Maker { path: &workspace.directory, options, parameters, next: None, obsolete_files: None };
        let known = maker.records(Making::new(workspace), chunks(known.records(), workspace.memory_of_chunks()))?;
        let run = more.run(maker, workspace)?.numbered(0, 0, None);
        let new = known.map(|(_, segment)| segment).into_iter();
        let new = new.chain(run.iter().filter_map(|run| run.records.clone())).collect();
        let runs = own.version.runs.iter().cloned().chain(run).collect();
        let all = ReadView::of(Arc::new(SuperVersion::new(runs, own.version.memtables.clone())));
        Ok(Beside { own, all, new })
    }

    /// Refuses an index whose records cannot be compared with those of this one, or told from them.
    fn check_beside(&self, other: &Self) -> Result<()> {
        check_same_keys(&self.context.parameters, &other.context.parameters)?;
        let [own, others] = [self, other].map(|inner| inner.context.parameters.ids());
        if own != others {
            return Err(Error::invalid(format!("the ids of the new records are {others}, those of the index {own}")));
        }
        if [self, other].iter().any(|inner| inner.versions().manifest.id_assignment == IdAssignment::Auto) {
            let message =
                "an index that numbers its records itself: the same number names other records in another one";
            return Err(Error::new(ErrorKind::Unsupported, message).with_remedy("load the new records into it"));
        }
        Ok(())
    }
}

/// The records that only the other index has.
struct More<'a> {
    view: &'a ReadView,
    /// The numbers of the others.
    left_out: NumberSet,
    /// The number of a record that has number 0 there.
    first: u64,
}

impl More<'_> {
    fn run(&self, maker: Maker<'_>, workspace: &Workspace) -> Result<Run> {
        let (plain, chunk) = (Making::new(workspace), workspace.memory_of_chunks());
        let later = |record: Result<Record>| {
            let record = record?;
            Ok(Record { fingerprint: self.later(record.fingerprint)?, id: record.id })
        };
        let records = maker.records(plain, chunks(self.records().map(later), chunk))?;
        let removed = removed_numbers(&self.view.version.runs)?;
        let keys = keys_of(self.view.version.runs.iter()).filter_map(|entry| {
            let Record { fingerprint: key, id } = match entry {
                Ok(entry) => entry.entry.record,
                Err(error) => return Some(Err(error)),
            };
            let number = id.number().filter(|&number| !removed.has(number) && !self.left_out.has(number))?;
            Some(self.later(number).map(|number| Record { fingerprint: key, id: Id::Number(number) }))
        });
        let has_sketches = maker.parameters.keys().is_some_and(|keys| keys.sketch_bits() > 0);
        let sketches = Sketches { records: self, bytes: maker.parameters.keys().unwrap_or_default().sketch_bytes() };
        let sketches = has_sketches.then_some(&sketches as &dyn SketchSource);
        let keys = maker.keys(Making { sketches, ..plain }, chunks(keys, chunk))?;
        maker.run::<u64>(Parts { tombstones: None, records, keys }, plain)
    }

    /// The records as the other index has them.
    fn records(&self) -> impl Iterator<Item = Result<Record>> {
        let stays = |record: &Result<Record>| record.as_ref().map_or(true, |one| !self.left_out.has(one.fingerprint));
        self.view.newest_entries::<u64>().live().filter(stays)
    }

    fn later(&self, number: u64) -> Result<u64> {
        self.first.checked_add(number).ok_or_else(|| Error::invalid("the index has no numbers left for new records"))
    }
}

/// The sketches of these records.
struct Sketches<'a> {
    records: &'a More<'a>,
    bytes: usize,
}

impl fmt::Debug for Sketches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sketches")
    }
}

impl SketchSource for Sketches<'_> {
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut sketches = SketchCursor::new(self.records.view.version.runs.iter())?;
        let (mut piece, mut buffer) = (Vec::new(), PageBuffer::default());
        for record in self.records.records() {
            let end = piece.len() + self.bytes;
            piece.extend_from_slice(sketches.of(record?.fingerprint, &mut buffer)?);
            // A record without keys may have none.
            piece.resize(end, 0);
            if piece.len() >= PIECE {
                visit(&piece)?;
                piece.clear();
            }
        }
        visit(&piece)
    }
}
