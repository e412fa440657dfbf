//! The segments of a run: which are damaged, and what becomes of them.

use crate::db::TEXTS_OF_COMPRESSED;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::format::parameters::Parameters;
use crate::repair::Repairing;
use crate::repair::fingerprints::Fingerprints;
use crate::repair::rebuilt::{Rebuilt, Tally};
use crate::repair::report::{Loss, Lost, RepairAction};
use crate::segment::{
    Building, Damage, Expected, IdIndexEntries, RecordChunk, Salvage, Segment, chunks, segment_name, verify_segment,
    write_segment,
};
use crate::version::{SegmentRole, of_id_index, of_tombstones, open_segment};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What becomes of a segment.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It is sound, or there is none.
    Stays,
    /// It is damaged and stays, as nobody can tell what it was.
    Refused,
    /// Another one takes its place: as it will be in the manifest, if it was written; and whether it has lost nothing.
    Replaced(Option<SegmentEntry>, bool),
    /// Nothing of it is left.
    Gone,
}

impl Fate {
    fn entry(self, old: Option<SegmentEntry>) -> Option<SegmentEntry> {
        match self {
            Self::Stays | Self::Refused => old,
            Self::Replaced(new, _) => new,
            Self::Gone => None,
        }
    }
}

impl<F: Fingerprint> Repairing<'_, F> {
    /// Looks at the segments of a run, and makes new ones for those that are damaged. Nothing if none is left.
    pub(crate) fn run_of(&mut self, run: &RunEntry) -> Result<Option<RunEntry>> {
        let parameters = self.manifest.parameters.clone();
        let tombstones = self.fate(run.tombstones, SegmentRole::Tombstones, &of_tombstones(&parameters))?;
        let records = self.fate(run.records, SegmentRole::Records, &parameters)?;
        let new_records = records.entry(run.records);
        let id_index = self.fate_of_id_index(run.id_index, records, new_records)?;
        let new = RunEntry {
            tombstones: tombstones.entry(run.tombstones),
            records: new_records,
            id_index: id_index.entry(run.id_index),
            ..*run
        };
        Ok(Some(new).filter(|new| new.tombstones.is_some() || new.records.is_some()))
    }

    /// What is wrong with a segment.
    fn damages(&mut self, entry: &SegmentEntry, parameters: &Parameters) -> Result<Vec<Damage>> {
        let options = &self.common.options;
        let path = self.path_of(entry.number);
        let (mut damages, bytes) = verify_segment(&*options.env, &path, options.read_mode)?;
        if damages.is_empty() {
            // Sound in itself; it may still be another one than the manifest means.
            let opened = open_segment(&self.common.path, options, parameters, entry);
            damages.extend(opened.err().map(|error| Damage::from_error(&path, "segment", error)).transpose()?);
        }
        self.report.files += 1;
        self.report.bytes += bytes;
        self.report.damages.extend(damages.iter().cloned());
        Ok(damages)
    }

    fn path_of(&self, number: u64) -> PathBuf {
        self.common.path.join(segment_name(number))
    }

    /// A number for a segment.
    pub(crate) fn take_number(&mut self) -> u64 {
        self.next_segment += 1;
        self.next_segment - 1
    }

    fn fate(&mut self, entry: Option<SegmentEntry>, role: SegmentRole, parameters: &Parameters) -> Result<Fate> {
        let Some(entry) = entry else { return Ok(Fate::Stays) };
        let damages = self.damages(&entry, parameters)?;
        if damages.is_empty() {
            return Ok(Fate::Stays);
        }
        let path = self.path_of(entry.number);
        let Some(salvage) = Salvage::open(&**self.env(), &path, parameters, &entry)? else {
            return Ok(self.lose(&entry, role));
        };
        // Every part holds, and still they are not those that were written together: which one is wrong nobody knows.
        if damages.iter().all(|damage| matches!(damage.section.as_str(), "content" | "tables")) {
            self.report.refused.extend(damages);
            return Ok(Fate::Refused);
        }
        match self.rewrite(&salvage, &entry, role, parameters) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                let refused = Damage::from_error(&path, "segment", error)?;
                self.report.refused.push(refused);
                Ok(Fate::Refused)
            }
            fate => fate,
        }
    }

    /// Nothing of a segment can be saved.
    fn lose(&mut self, entry: &SegmentEntry, role: SegmentRole) -> Fate {
        let path = self.path_of(entry.number);
        self.report.losses.push(Loss {
            path: path.clone(),
            section: "segment".to_owned(),
            offset: None,
            bytes: Some(entry.file_length),
            tombstones: role == SegmentRole::Tombstones,
            records: Some(entry.records),
            what: Lost::Segment { fingerprints: entry.fingerprints },
        });
        self.obsolete_runs.push((path.clone(), true));
        self.report.actions.push(RepairAction::Drop { role, path });
        Fate::Gone
    }

    /// Writes what can be saved of a segment.
    fn rewrite(
        &mut self,
        salvage: &Salvage,
        entry: &SegmentEntry,
        role: SegmentRole,
        parameters: &Parameters,
    ) -> Result<Fate> {
        let path = self.path_of(entry.number);
        let fingerprints = Fingerprints::<F>::find(salvage, &self.workspace)?;
        let mut rebuilt = Rebuilt::new(salvage, &fingerprints, &path, role == SegmentRole::Tombstones)?;
        let number = self.take_number();
        let made = if self.writes {
            let text_bytes = salvage.footer().ids.length.saturating_mul(TEXTS_OF_COMPRESSED);
            let records = chunks(&mut rebuilt, self.workspace.memory_of_chunks());
            self.make(number, parameters, text_bytes, records)?
        } else {
            rebuilt.by_ref().try_for_each(|record| record.map(|_| ()))?;
            None
        };
        let (tally, losses) = rebuilt.into_losses();
        let lossless = losses.is_empty();
        self.obsolete_runs.push((path.clone(), !lossless));
        self.report.losses.extend(losses);
        let Tally { records, fingerprints } = tally;
        if records == 0 {
            self.report.actions.push(RepairAction::Drop { role, path });
            return Ok(Fate::Gone);
        }
        self.report.actions.push(RepairAction::Rewrite {
            role,
            from: path,
            to: self.path_of(number),
            records: (records, entry.records),
            fingerprints: (fingerprints, entry.fingerprints),
        });
        Ok(Fate::Replaced(made, lossless))
    }

    /// An id index stays if its segment has lost nothing: its ranks are the same then.
    fn fate_of_id_index(
        &mut self,
        entry: Option<SegmentEntry>,
        records: Fate,
        new_records: Option<SegmentEntry>,
    ) -> Result<Fate> {
        let Some(entry) = entry else { return Ok(Fate::Stays) };
        let path = self.path_of(entry.number);
        let damages = self.damages(&entry, &of_id_index(&self.manifest.parameters))?;
        match records {
            Fate::Gone => {
                self.obsolete_runs.push((path.clone(), false));
                self.report.actions.push(RepairAction::Drop { role: SegmentRole::IdIndex, path });
                return Ok(Fate::Gone);
            }
            Fate::Stays | Fate::Replaced(_, true) if damages.is_empty() => return Ok(Fate::Stays),
            Fate::Refused => {
                self.report.refused.extend(damages);
                return Ok(Fate::Refused);
            }
            Fate::Stays | Fate::Replaced(..) => {}
        }
        let number = self.take_number();
        let mut made = None;
        if let Some(records) = new_records.filter(|_| self.writes) {
            let options = &self.common.options;
            let records = self.path_of(records.number);
            let segment = Arc::new(Segment::open(&*options.env, &records, options.read_mode)?);
            let entries = IdIndexEntries::<F>::of(&segment, &self.workspace, None)?;
            let workspace = self.workspace.clone();
            let parameters = of_id_index(&self.manifest.parameters);
            made = self.make(number, &parameters, 0, entries.chunks(&workspace))?;
        }
        self.obsolete_runs.push((path.clone(), false));
        self.report.actions.push(RepairAction::RebuildIdIndex { from: path, to: self.path_of(number) });
        Ok(Fate::Replaced(made, true))
    }

    /// Writes a segment of these records, and reads it back to make sure that it is one; nothing if there are none.
    ///
    /// # Errors
    /// `Io` from writing; those of the batches.
    pub(crate) fn make<'b, G: Fingerprint>(
        &mut self,
        number: u64,
        parameters: &Parameters,
        text_bytes: u64,
        batches: impl Iterator<Item = Result<RecordChunk<'b, G>>>,
    ) -> Result<Option<SegmentEntry>> {
        // Whatever is there under its name no manifest ever named.
        self.made.push(self.path_of(number));
        let options = &self.common.options;
        let expected = Expected { text_bytes, ..Expected::default() };
        let (path, workspace) = (&self.common.path, &self.workspace);
        let building = Building { expected, ..Building::new(&options.env, path, Some(number), parameters, workspace) };
        let Some(built) = write_segment(building, batches)? else { return Ok(None) };
        self.check_made(&built.path)?;
        Ok(Some(built.entry))
    }

    /// Reads a segment back that was written.
    ///
    /// # Errors
    /// `Io` if it is not what was written, or cannot be read.
    pub(crate) fn check_made(&self, path: &Path) -> Result<()> {
        let options = &self.common.options;
        let (damages, _) = verify_segment(&*options.env, path, options.read_mode)?;
        let Some(damage) = damages.first() else { return Ok(()) };
        let message = format!("what was written does not read back: {}", damage.message);
        Err(Error::new(ErrorKind::Io, message).at_path(path))
    }
}
