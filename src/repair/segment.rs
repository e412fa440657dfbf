//! Replacing the damaged segments of a run.

use super::Repairing;
use super::fingerprints::fill;
use super::rebuilt::{IdRule, Rebuilt};
use super::report::{Loss, Lost, RepairAction};
use crate::db::TEXTS_OF_COMPRESSED;
use crate::error::{ErrorKind, Result};
use crate::extsort::{NumberedRecord, Sorted, Sorter};
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::segment::{
    Damage, Expected, IdIndexEntries, Making, RecordChunk, Salvage, Segment, SketchSource, chunks, segment_name,
    verify_segment,
};
use crate::version::{SegmentRole, of_id_index, open_segment};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A segment after the repair.
#[derive(Default)]
pub(super) struct Repaired {
    /// Its entry: the same if it is sound or refused; `None` if it is dropped, or was not there.
    pub(super) entry: Option<SegmentEntry>,
    pub(super) is_refused: bool,
    /// The saved records of a key index with their ranks, if the segment was written anew.
    pub(super) survivors: Option<Sorted<NumberedRecord<u64>>>,
}

impl<F: Fingerprint> Repairing<'_, F> {
    /// Reads the segments of a run and replaces damaged ones. `None` if none is left.
    pub(super) fn run_of(&mut self, run: &RunEntry) -> Result<Option<RunEntry>> {
        let tombstones = self.segment(run, SegmentRole::Tombstones)?;
        let before = [self.report.actions.len(), self.report.losses.len(), self.retired.len()];
        let next = self.next_segment.load(Ordering::Relaxed);
        let records = self.segment(run, SegmentRole::Records)?;
        let id_index = match run.id_index {
            Some(entry) => self.id_index(entry, (run.records, records.entry), records.is_refused)?,
            None => None,
        };
        let new = RunEntry { tombstones: tombstones.entry, records: records.entry, id_index, ..*run };
        let keys = match self.keys(run, &records) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                // Keys stay only beside the records that they were written with.
                let [actions, losses, retired] = before;
                self.report.actions.truncate(actions);
                self.report.losses.truncate(losses);
                self.retired.truncate(retired);
                self.remove_segments(next);
                self.report.refused.push(Damage::from_error(&self.context.path, "segment", error)?);
                return Ok(Some(RunEntry { tombstones: tombstones.entry, ..*run }));
            }
            keys => keys?,
        };
        let new = RunEntry { keys, ..new };
        if self.writes && new != *run && keys.is_some() {
            self.check_run(&new)?;
        }
        let is_left = new.tombstones.is_some() || new.records.is_some();
        Ok(Some(new).filter(|_| is_left))
    }

    pub(super) fn damages(&mut self, entry: &SegmentEntry, parameters: &Parameters) -> Result<Vec<Damage>> {
        let options = &self.context.options;
        let path = self.path_of(entry.number);
        let (mut damages, bytes) = verify_segment(&*options.env, &path, options.read_mode)?;
        if damages.is_empty() {
            // A sound segment may still be another one than the manifest names.
            let opened = open_segment(&self.context.path, options, parameters, entry);
            damages.extend(opened.err().map(|error| Damage::from_error(&path, "segment", error)).transpose()?);
        }
        self.report.files += 1;
        self.report.bytes += bytes;
        self.report.damages.extend(damages.iter().cloned());
        Ok(damages)
    }

    pub(super) fn path_of(&self, number: u64) -> PathBuf {
        self.context.path.join(segment_name(number))
    }

    /// Repairs the records or the tombstones of a run.
    fn segment(&mut self, run: &RunEntry, role: SegmentRole) -> Result<Repaired> {
        let entry = if role == SegmentRole::Tombstones { run.tombstones } else { run.records };
        let Some(entry) = entry else { return Ok(Repaired::default()) };
        let parameters = &role.parameters(&self.manifest.parameters);
        let damages = self.damages(&entry, parameters)?;
        if damages.is_empty() {
            return Ok(Repaired { entry: Some(entry), ..Repaired::default() });
        }
        let path = self.path_of(entry.number);
        let Some(salvage) = Salvage::open(&**self.env(), &path, parameters, &entry)? else {
            self.report.losses.push(Loss {
                path: path.clone(),
                section: "segment".to_owned(),
                offset: None,
                role: Some(role),
                records: Some(entry.records),
                what: Lost::Segment { fingerprints: entry.fingerprints },
            });
            let entry = self.drop_segment(path, role, true);
            return Ok(Repaired { entry, ..Repaired::default() });
        };
        if damages.iter().all(|damage| matches!(damage.section.as_str(), "content" | "tables")) {
            // Every part holds, but they were not written together; the wrong one is unknown.
            self.report.refused.extend(damages);
            return Ok(Repaired { entry: Some(entry), is_refused: true, survivors: None });
        }
        let keys = if role == SegmentRole::Records { self.keys_beside(run)? } else { None };
        match self.rewrite(&salvage, &entry, (role, keys.as_ref()), parameters) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.report.refused.push(Damage::from_error(&path, "segment", error)?);
                Ok(Repaired { entry: Some(entry), is_refused: true, survivors: None })
            }
            written => written,
        }
    }

    pub(super) fn drop_segment(&mut self, path: PathBuf, role: SegmentRole, stays_aside: bool) -> Option<SegmentEntry> {
        self.retired.push((path.clone(), stays_aside));
        self.report.actions.push(RepairAction::Drop { role, path });
        None
    }

    /// Writes the records of a segment that can be saved.
    fn rewrite(
        &mut self,
        salvage: &Salvage,
        old: &SegmentEntry,
        (role, keys): (SegmentRole, Option<&Salvage>),
        parameters: &Parameters,
    ) -> Result<Repaired> {
        let (from, rule) = (self.path_of(old.number), self.id_rule());
        let same = [keys, Some(salvage).filter(|_| rule == IdRule::Same)];
        let same: Vec<&Salvage> = same.into_iter().flatten().collect();
        let fill = fill(salvage, &same, &self.workspace)?;
        let mut rebuilt = Rebuilt::<F>::new(salvage, &fill, (role, rule), &self.workspace)?;
        let text_bytes = salvage.footer().ids.length.saturating_mul(TEXTS_OF_COMPRESSED);
        let memory = self.workspace.memory_of_chunks();
        let mut new = self.make(parameters, text_bytes, chunks(rebuilt.by_ref().fuse(), memory), None)?;
        (new.records, new.fingerprints) = rebuilt.saved;
        let survivors = rebuilt.survivors.take().map(Sorter::finish).transpose()?;
        let is_lossy = !rebuilt.losses.is_empty();
        self.report.losses.append(&mut rebuilt.losses);
        if new.records == 0 {
            let entry = self.drop_segment(from, role, is_lossy);
            return Ok(Repaired { entry, ..Repaired::default() });
        }
        self.retired.push((from.clone(), is_lossy));
        self.report.actions.push(RepairAction::Rewrite {
            role,
            from,
            to: self.path_of(new.number),
            records: (new.records, old.records),
            fingerprints: (new.fingerprints, old.fingerprints),
        });
        Ok(Repaired { entry: Some(new), is_refused: false, survivors })
    }

    /// The entry of an id index after the repair, given the old and the new entry of its segment of records.
    fn id_index(
        &mut self,
        entry: SegmentEntry,
        (old, new): (Option<SegmentEntry>, Option<SegmentEntry>),
        is_refused: bool,
    ) -> Result<Option<SegmentEntry>> {
        let parameters = of_id_index(&self.manifest.parameters);
        let (from, damages) = (self.path_of(entry.number), self.damages(&entry, &parameters)?);
        let Some(records) = new else { return Ok(self.drop_segment(from, SegmentRole::IdIndex, false)) };
        // Ranks change only with a loss.
        let is_whole =
            old.is_some_and(|old| old.records == records.records && old.fingerprints == records.fingerprints);
        if is_refused || is_whole && damages.is_empty() {
            self.report.refused.extend(damages);
            return Ok(Some(entry));
        }
        let mut entries = None;
        if self.writes {
            let options = &self.context.options;
            let segment = Segment::open(&*options.env, &self.path_of(records.number), options.read_mode)?;
            entries = Some(IdIndexEntries::of::<F>(&Arc::new(segment), &self.workspace, None)?);
        }
        let batches = entries.iter().flat_map(|entries| entries.chunks(&self.workspace));
        let new = self.make(&parameters, 0, batches, None)?;
        self.retired.push((from.clone(), false));
        self.report.actions.push(RepairAction::RebuildIdIndex { from, to: self.path_of(new.number) });
        Ok(Some(new))
    }

    /// Makes a segment. Without records, and for a plan, which only reads the batches and sketches, the entry has
    /// nothing but a number.
    pub(super) fn make<'b, G: Fingerprint>(
        &self,
        parameters: &Parameters,
        text_bytes: u64,
        mut batches: impl Iterator<Item = Result<RecordChunk<'b, G>>>,
        sketches: Option<&dyn SketchSource>,
    ) -> Result<SegmentEntry> {
        let number = self.next_segment.load(Ordering::Relaxed);
        let none = SegmentEntry { number, file_length: 0, records: 0, fingerprints: 0, footer_checksum: 0 };
        if !self.writes {
            self.next_segment.store(number + 1, Ordering::Relaxed);
            batches.try_for_each(|batch| batch.map(drop))?;
            return sketches.map_or(Ok(()), |sketches| sketches.visit(&mut |_| Ok(()))).map(|()| none);
        }
        let expected = Expected { text_bytes, ..Expected::default() };
        let making = Making { expected, sketches, ..Making::new(&self.workspace) };
        Ok(self.maker().make(parameters, making, batches)?.map_or(none, |(entry, _)| entry))
    }
}
