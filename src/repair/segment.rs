//! Replacing the damaged segments of a run.

use super::Repairing;
use super::fingerprints::fill;
use super::rebuilt::Rebuilt;
use super::report::{Loss, Lost, RepairAction};
use crate::db::TEXTS_OF_COMPRESSED;
use crate::error::{ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::segment::{
    Damage, Expected, IdIndexEntries, Making, RecordChunk, Salvage, Segment, chunks, segment_name, verify_segment,
};
use crate::version::{SegmentRole, of_id_index, of_tombstones, open_segment};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl<F: Fingerprint> Repairing<'_, F> {
    /// Reads the segments of a run and replaces damaged ones. `None` if none is left.
    pub(super) fn run_of(&mut self, run: &RunEntry) -> Result<Option<RunEntry>> {
        let parameters = self.manifest.parameters.clone();
        if parameters.keys().is_some() {
            return self.refuse_damaged(run, &parameters).map(|()| Some(*run));
        }
        let tombstones = self.segment(run.tombstones, SegmentRole::Tombstones, &of_tombstones(&parameters))?;
        let refused = self.report.refused.len();
        let records = self.segment(run.records, SegmentRole::Records, &parameters)?;
        let is_refused = self.report.refused.len() > refused;
        let id_index = match run.id_index {
            Some(entry) => self.id_index(entry, (run.records, records), is_refused)?,
            None => None,
        };
        let is_left = tombstones.is_some() || records.is_some();
        Ok(Some(RunEntry { tombstones, records, id_index, ..*run }).filter(|_| is_left))
    }

    /// Refuses what is damaged of a run of a key index. Sketches stand in the order of the records, so none of its
    /// segments can be written anew alone.
    fn refuse_damaged(&mut self, run: &RunEntry, parameters: &Parameters) -> Result<()> {
        let parts = SegmentRole::each([run.tombstones, run.records, run.id_index, run.keys]);
        for (role, entry) in parts.into_iter().filter_map(|(role, entry)| Some((role, entry?))) {
            let damages = self.damages(&entry, &role.parameters(parameters))?;
            self.report.refused.extend(damages);
        }
        Ok(())
    }

    fn damages(&mut self, entry: &SegmentEntry, parameters: &Parameters) -> Result<Vec<Damage>> {
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

    fn path_of(&self, number: u64) -> PathBuf {
        self.context.path.join(segment_name(number))
    }

    /// The entry of a segment after the repair: the same if it is sound or refused.
    fn segment(
        &mut self,
        entry: Option<SegmentEntry>,
        role: SegmentRole,
        parameters: &Parameters,
    ) -> Result<Option<SegmentEntry>> {
        let Some(entry) = entry else { return Ok(None) };
        let damages = self.damages(&entry, parameters)?;
        if damages.is_empty() {
            return Ok(Some(entry));
        }
        let path = self.path_of(entry.number);
        let Some(salvage) = Salvage::open(&**self.env(), &path, parameters, &entry)? else {
            self.report.losses.push(Loss {
                path: path.clone(),
                section: "segment".to_owned(),
                offset: None,
                tombstones: role == SegmentRole::Tombstones,
                records: Some(entry.records),
                what: Lost::Segment { fingerprints: entry.fingerprints },
            });
            return Ok(self.drop_segment(path, role, true));
        };
        if damages.iter().all(|damage| matches!(damage.section.as_str(), "content" | "tables")) {
            // Every part holds, but they were not written together; the wrong one is unknown.
            self.report.refused.extend(damages);
            return Ok(Some(entry));
        }
        match self.rewrite(&salvage, &entry, role, parameters) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.report.refused.push(Damage::from_error(&path, "segment", error)?);
                Ok(Some(entry))
            }
            written => written,
        }
    }

    fn drop_segment(&mut self, path: PathBuf, role: SegmentRole, stays_aside: bool) -> Option<SegmentEntry> {
        self.retired.push((path.clone(), stays_aside));
        self.report.actions.push(RepairAction::Drop { role, path });
        None
    }

    /// Writes the records of a segment that can be saved.
    fn rewrite(
        &mut self,
        salvage: &Salvage,
        old: &SegmentEntry,
        role: SegmentRole,
        parameters: &Parameters,
    ) -> Result<Option<SegmentEntry>> {
        let from = self.path_of(old.number);
        let fill = fill(salvage, &self.workspace)?;
        let mut rebuilt = Rebuilt::<F>::new(salvage, &fill, role == SegmentRole::Tombstones)?;
        let text_bytes = salvage.footer().ids.length.saturating_mul(TEXTS_OF_COMPRESSED);
        let memory = self.workspace.memory_of_chunks();
        let mut new = self.make(parameters, text_bytes, chunks(rebuilt.by_ref().fuse(), memory))?;
        (new.records, new.fingerprints) = rebuilt.saved;
        let is_lossy = !rebuilt.losses.is_empty();
        self.report.losses.append(&mut rebuilt.losses);
        if new.records == 0 {
            return Ok(self.drop_segment(from, role, is_lossy));
        }
        self.retired.push((from.clone(), is_lossy));
        self.report.actions.push(RepairAction::Rewrite {
            role,
            from,
            to: self.path_of(new.number),
            records: (new.records, old.records),
            fingerprints: (new.fingerprints, old.fingerprints),
        });
        Ok(Some(new))
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
        let new = self.make(&parameters, 0, batches)?;
        self.retired.push((from.clone(), false));
        self.report.actions.push(RepairAction::RebuildIdIndex { from, to: self.path_of(new.number) });
        Ok(Some(new))
    }

    /// Makes a segment. Without records, and for a plan, which only reads the batches, the entry has nothing but a
    /// number.
    fn make<'b, G: Fingerprint>(
        &self,
        parameters: &Parameters,
        text_bytes: u64,
        mut batches: impl Iterator<Item = Result<RecordChunk<'b, G>>>,
    ) -> Result<SegmentEntry> {
        let number = self.next_segment.load(Ordering::Relaxed);
        let none = SegmentEntry { number, file_length: 0, records: 0, fingerprints: 0, footer_checksum: 0 };
        if !self.writes {
            self.next_segment.store(number + 1, Ordering::Relaxed);
            return batches.try_for_each(|batch| batch.map(drop)).map(|()| none);
        }
        let expected = Expected { text_bytes, ..Expected::default() };
        let making = Making { expected, ..Making::new(&self.workspace) };
        Ok(self.maker().make(parameters, making, batches)?.map_or(none, |(entry, _)| entry))
    }
}
