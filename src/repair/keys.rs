//! The segment of keys of a run of a key index.
//!
//! It has the keys of the run's records, and their sketches in the order of the records. So it is written anew if it is
//! damaged, and if records are lost: keys and sketches of the lost ones go with them. A record whose sketch is lost
//! gets one of zeros, which resembles no other.

use super::Repairing;
use super::fingerprints::fill;
use super::numbers::{PART_OF_NUMBERS, PIECES, add, ranges};
use super::rebuilt::{IdRule, Rebuilt};
use super::report::{Loss, Lost, RepairAction};
use super::segment::Repaired;
use crate::admin::check_keys;
use crate::bitset::NumberSet;
use crate::error::{Error, Result};
use crate::executor::Mutex;
use crate::extsort::{NumberedRecord, Sorted, Sorter};
use crate::fingerprint::{Fingerprint, IdAssignment, IdKind, Record};
use crate::format::KeyFormat;
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::segment::{Damage, PageBuffer, Salvage, Scratch, SketchSource, chunks};
use crate::version::{Run, SegmentRole, of_keys, of_records, open_segment};
use std::fmt;
use std::path::PathBuf;

impl<F: Fingerprint> Repairing<'_, F> {
    /// What the ids of segments of records and tombstones are known to be.
    pub(super) fn id_rule(&self) -> IdRule {
        match (self.report.is_key_index, self.manifest.id_assignment) {
            (true, IdAssignment::Auto) => IdRule::Same,
            (true, _) => IdRule::Single,
            (false, _) if self.manifest.parameters.ids() == IdKind::None => IdRule::Count,
            (false, _) => IdRule::Any,
        }
    }

    /// The segment of keys of a run, from which a damaged segment of records takes its numbers.
    pub(super) fn keys_beside(&self, run: &RunEntry) -> Result<Option<Salvage>> {
        let Some(entry) = run.keys else { return Ok(None) };
        Salvage::open(&**self.env(), &self.path_of(entry.number), &of_keys(&self.manifest.parameters), &entry)
    }

    /// The entry of a run's keys after the repair, given its records after it.
    pub(super) fn keys(&mut self, run: &RunEntry, records: &Repaired) -> Result<Option<SegmentEntry>> {
        let Some(entry) = run.keys else { return Ok(None) };
        let (path, damages) = (self.path_of(entry.number), self.damages(&entry, &of_keys(&self.manifest.parameters))?);
        let Some(new) = records.entry else {
            self.lose_all(path.clone(), &entry);
            return Ok(self.drop_segment(path, SegmentRole::Keys, true));
        };
        let is_whole = run.records.is_some_and(|old| old.records == new.records);
        if is_whole && damages.is_empty() {
            if records.entry == run.records && !records.is_refused {
                self.check_together(run)?;
            }
            return Ok(Some(entry));
        }
        if records.is_refused {
            // Its order, which the sketches have, is unknown.
            self.report.refused.extend(damages);
            return Ok(Some(entry));
        }
        let Some(salvage) = self.keys_beside(run)? else {
            self.lose_all(path.clone(), &entry);
            return Ok(self.drop_segment(path, SegmentRole::Keys, true));
        };
        if !damages.is_empty() && damages.iter().all(|damage| damage.section == "content") {
            // Every part holds, but they were not written together; the wrong one is unknown.
            let error = Error::damaged("the hash of the whole content does not hold");
            return Err(error.at_path(&path));
        }
        self.rewrite_keys(&salvage, (&entry, run.records), records)
    }

    /// Refuses keys and records that are sound and do not belong together.
    fn check_together(&mut self, run: &RunEntry) -> Result<()> {
        let run = RunEntry { tombstones: None, id_index: None, ..*run };
        if let Err(error) = self.check_run(&run) {
            let damage = Damage::from_error(&self.context.path, "segment", error)?;
            self.report.damages.push(damage.clone());
            self.report.refused.push(damage);
        }
        Ok(())
    }

    /// Opens a run and checks that its keys are those of its records.
    pub(super) fn check_run(&self, run: &RunEntry) -> Result<()> {
        let context = &self.context;
        check_keys(&Run::open(&context.path, &context.options, &self.manifest.parameters, run)?)
    }

    fn lose_all(&mut self, path: PathBuf, entry: &SegmentEntry) {
        let what = Lost::Segment { fingerprints: entry.fingerprints };
        self.lose_keys(path, ("segment", None), entry.records, what);
    }

    fn lose_keys(&mut self, path: PathBuf, (section, offset): (&str, Option<u64>), records: u64, what: Lost) {
        let (section, role) = (section.to_owned(), Some(SegmentRole::Keys));
        self.report.losses.push(Loss { path, section, offset, role, records: Some(records), what });
    }

    /// The numbers of the saved records with their ranks among the old ones.
    fn survivors(&self, records: &SegmentEntry) -> Result<Sorted<NumberedRecord<u64>>> {
        let context = &self.context;
        let parameters = of_records(&self.manifest.parameters);
        let segment = open_segment(&context.path, &context.options, &parameters, records)?;
        let mut sorter = Sorter::new(&self.workspace, self.workspace.memory_of_records() / PART_OF_NUMBERS);
        let (table, mut scratch, mut numbers) = (segment.primary_table()?, Scratch::default(), Vec::<u64>::new());
        let mut ranks = 0..;
        for block in 0..table.index().len() {
            table.fingerprints(block, &mut scratch, &mut numbers)?;
            for (&number, rank) in numbers.iter().zip(&mut ranks) {
                sorter.push(NumberedRecord { fingerprint: number, id: rank })?;
            }
        }
        sorter.finish()
    }

    /// Writes the keys and sketches of the saved records. Fails with `Damaged` if parts that hold contradict each
    /// other.
    fn rewrite_keys(
        &mut self,
        salvage: &Salvage,
        (old, old_records): (&SegmentEntry, Option<SegmentEntry>),
        records: &Repaired,
    ) -> Result<Option<SegmentEntry>> {
        let Some(old_records) = old_records else { return Ok(None) };
        salvage.check_sketches(old_records.records)?;
        let (from, parameters) = (self.path_of(old.number), of_keys(&self.manifest.parameters));
        let own;
        let survivors = match &records.survivors {
            Some(survivors) => survivors,
            None => {
                own = self.survivors(&old_records)?;
                &own
            }
        };
        let numbers = || survivors.items(PIECES).map(|record| Ok(record?.fingerprint));
        let is_whole = survivors.len() == old_records.records;
        let saved = if is_whole { None } else { Some(NumberSet::of_sorted(survivors.len(), numbers)?) };
        let fill = fill(salvage, &[], &self.workspace)?;
        let mut rebuilt = Rebuilt::<u64>::new(salvage, &fill, (SegmentRole::Keys, IdRule::Any), &self.workspace)?;
        let memory = self.workspace.memory_of_records() / PART_OF_NUMBERS;
        let (mut dropped, mut lost_pairs) = (Sorter::new(&self.workspace, memory), 0);
        let (mut kept, mut last) = ((0, 0), None);
        let mut keep = |record: Record<u64>| -> Result<Option<Record<u64>>> {
            let number = record.id.number().unwrap_or(u64::MAX);
            if saved.as_ref().is_some_and(|saved| !saved.has(number)) {
                lost_pairs += 1;
                return dropped.push(number).map(|()| None);
            }
            kept = (kept.0 + 1, kept.1 + u64::from(last.replace(record.fingerprint) != Some(record.fingerprint)));
            Ok(Some(record))
        };
        let pairs = rebuilt.by_ref().fuse().filter_map(|record| record.and_then(&mut keep).transpose());
        let sketches = Saved::new(salvage, survivors, parameters.keys().map_or(0, KeyFormat::sketch_bytes));
        let chunks = chunks(pairs, self.workspace.memory_of_chunks());
        let mut new = self.make(&parameters, 0, chunks, Some(&sketches))?;
        (new.records, new.fingerprints) = kept;
        let losses = self.report.losses.len();
        self.report.losses.append(&mut rebuilt.losses);
        let (numbers, _) = ranges(&dropped.finish()?)?;
        if lost_pairs > 0 {
            self.lose_keys(from.clone(), ("ids", None), lost_pairs, Lost::WithRecords { numbers });
        }
        let is_there = new.records > 0;
        let Found { mut numbers, mut count, mut offset } = sketches.lost.into_inner();
        if !is_there && sketches.size > 0 {
            // Without keys there is no place for sketches.
            (numbers, count, offset) = (Vec::new(), 0, None);
            for record in survivors.items(PIECES) {
                add(&mut numbers, record?.fingerprint);
                count += 1;
            }
        }
        if count > 0 {
            self.lose_keys(from.clone(), ("sketches", offset), count, Lost::Sketches { numbers });
        }
        let is_lossy = self.report.losses.len() > losses;
        if !is_there {
            return Ok(self.drop_segment(from, SegmentRole::Keys, is_lossy));
        }
        self.retired.push((from.clone(), is_lossy));
        self.report.actions.push(RepairAction::Rewrite {
            role: SegmentRole::Keys,
            from,
            to: self.path_of(new.number),
            records: (new.records, old.records),
            fingerprints: (new.fingerprints, old.fingerprints),
        });
        Ok(Some(new))
    }
}

/// The sketches of the saved records, with zeros in place of lost ones.
struct Saved<'a> {
    salvage: &'a Salvage,
    survivors: &'a Sorted<NumberedRecord<u64>>,
    /// Bytes of a sketch.
    size: usize,
    lost: Mutex<Found>,
}

/// The records without a sketch.
#[derive(Default)]
struct Found {
    numbers: Vec<(u64, u64)>,
    count: u64,
    /// Offset of the first damaged page.
    offset: Option<u64>,
}

impl<'a> Saved<'a> {
    fn new(salvage: &'a Salvage, survivors: &'a Sorted<NumberedRecord<u64>>, size: usize) -> Self {
        Self { salvage, survivors, size, lost: Mutex::default() }
    }
}

impl fmt::Debug for Saved<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Saved")
    }
}

impl SketchSource for Saved<'_> {
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (none, mut buffer, mut lost) = (vec![0; self.size], PageBuffer::default(), Found::default());
        for record in self.survivors.items(PIECES).take_while(|_| self.size > 0) {
            let NumberedRecord { fingerprint: number, id: rank } = record?;
            match self.salvage.sketch(rank, &mut buffer) {
                Ok(sketch) => visit(sketch)?,
                Err(offset) => {
                    add(&mut lost.numbers, number);
                    lost.count += 1;
                    lost.offset.get_or_insert(offset);
                    visit(&none)?;
                }
            }
        }
        *self.lost.lock() = lost;
        Ok(())
    }
}
