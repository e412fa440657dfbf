//! Carrying a repair out, or finding out what it would do: one way for both.

use super::super::recovery::Recovered;
use super::super::run::{of_id_index, of_removals};
use super::logs::{self, SalvagedLogs};
use super::report::RepairAction;
use super::{Repairing, file};
use crate::bulk::{IdIndexEntries, batches};
use crate::env::{ReadMode, TempFile};
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Fingerprint, Mention};
use crate::format::manifest::{ManifestData, RunEntry};
use crate::merge::Merge;
use crate::segment::Segment;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ending of the names of damaged files that stay.
const ASIDE: &str = ".damaged";

/// Bytes that are copied at once.
const PIECE: u64 = 1 << 20;

impl<F: Fingerprint> Repairing<'_, F> {
    /// Looks at everything, writes what has to be written, and puts the new manifest in the place of the old one.
    pub(super) fn carry_out(&mut self, restored: bool) -> Result<()> {
        let mut manifest = self.manifest.clone();
        let runs: Result<Vec<_>> = self.manifest.runs.iter().map(|run| self.run_of(run)).collect();
        manifest.runs = runs?.into_iter().flatten().collect();
        self.look_at_logs()?;
        if let Some(salvaged) = self.logs.take() {
            self.flush(&salvaged, &mut manifest)?;
        }
        // What is not there cannot be kept.
        let names = self.env().list(&self.common.path);
        let names = names.map_err(|error| Error::io("cannot list", &self.common.path, error))?;
        let is_there = |path: &Path| path.file_name().is_some_and(|name| names.iter().any(|found| **found == *name));
        self.retired.retain(|(path, _)| is_there(path));
        self.report.kept_aside = self.retired.iter().filter(|(_, stays)| *stays).map(|(path, _)| aside(path)).collect();
        if !self.writes {
            return Ok(());
        }
        if restored || manifest != *self.manifest {
            manifest.next_segment = self.next_segment;
            self.replace_manifest(&manifest)?;
        }
        self.cut_logs()
    }

    /// Logs that ordinary recovery reads are sound, but for their ends; otherwise everything that holds is read.
    fn look_at_logs(&mut self) -> Result<()> {
        match Recovered::<F>::read(&self.common, self.manifest) {
            Ok(recovered) => {
                self.report.files += recovered.found.logs;
                self.report.bytes += recovered.log_bytes;
                for torn in recovered.found.torn {
                    self.report.actions.push(RepairAction::CutLog {
                        path: torn.path.clone(),
                        offset: torn.offset,
                        bytes: torn.bytes,
                    });
                    self.report.torn.push(torn);
                }
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unsupported) => {
                let mut salvaged = logs::salvage::<F>(&self.common, self.manifest)?;
                self.report.files += salvaged.logs.len() as u64;
                self.report.bytes += salvaged.bytes;
                self.report.damages.append(&mut salvaged.damages);
                self.report.torn.append(&mut salvaged.torn);
                self.report.actions.push(RepairAction::FlushLogs {
                    logs: salvaged.logs.clone(),
                    batches: salvaged.batches,
                    operations: salvaged.operations,
                });
                let lost = |path: &PathBuf| salvaged.losses.iter().any(|loss| loss.path == *path);
                self.retired.extend(salvaged.logs.iter().map(|path| (path.clone(), lost(path))));
                self.report.losses.append(&mut salvaged.losses);
                self.logs = Some(salvaged);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// All writes that could be read from damaged logs become one run, and the logs are not needed any more.
    fn flush(&mut self, salvaged: &SalvagedLogs<F>, manifest: &mut ManifestData) -> Result<()> {
        let parameters = self.manifest.parameters.clone();
        let numbers = [self.take_number(), self.take_number(), self.take_number()];
        (manifest.first_log, manifest.next_id) = (salvaged.next_log, salvaged.next_id);
        let (first, last) = (manifest.flushed + 1, salvaged.expected - 1);
        manifest.flushed = last;
        manifest.written.log = manifest.written.log.saturating_add(salvaged.log_bytes);
        if !self.writes {
            return Ok(());
        }
        let mut merge = Merge::default();
        let newest_first = salvaged.memtables.iter().rev();
        newest_first.for_each(|memtable| merge.add_mentions(memtable.mentions(memtable.visible())));
        let mentions: Vec<Mention<F>> = merge.map(|word| word.map(|word| word.mention)).collect::<Result<_>>()?;
        let memory = self.workspace.memory_of_batches();
        let those = |removed: bool| {
            let records = mentions.iter().filter(move |mention| mention.removed == removed);
            batches(records.map(|mention| Ok(mention.record.clone())), memory)
        };
        // Of the first run of all nothing is older, so nothing has to be removed from it.
        let removals = match manifest.runs.is_empty() {
            true => None,
            false => self.make(numbers[0], &of_removals(&parameters), 0, those(true))?,
        };
        let records = self.make(numbers[1], &parameters, 0, those(false))?;
        let mut id_index = None;
        if let (true, Some(records)) = (parameters.id_index(), &records) {
            let options = &self.common.options;
            let path = self.common.path.join(crate::bulk::segment_name(records.number));
            let segment = Arc::new(Segment::open(&*options.env, &path, options.read_mode)?);
            let entries = IdIndexEntries::<F>::of(&segment, &self.workspace)?;
            let workspace = self.workspace.clone();
            id_index = self.make(numbers[2], &of_id_index(&parameters), 0, entries.batches(&workspace))?;
        }
        if removals.is_some() || records.is_some() {
            manifest.runs.push(RunEntry { first, last, removals, records, id_index });
        }
        Ok(())
    }

    /// Puts the new manifest in the place of the old one, after which the old files go, or stay under another name.
    fn replace_manifest(&mut self, manifest: &ManifestData) -> Result<()> {
        for (path, stays) in self.retired.clone() {
            if stays {
                self.keep_aside(&path)?;
            }
        }
        let store = self.common.path.clone();
        self.env().sync_dir(&store).map_err(|error| Error::io("cannot sync", &store, error))?;
        if let Err(error) = file::replace(self.env(), &store, manifest) {
            if file::read(&**self.env(), &store).is_ok_and(|found| found != *self.manifest) {
                // The new one may be there to stay: what it names has to.
                self.made.clear();
            }
            return Err(error);
        }
        self.made.clear();
        for (path, _) in &self.retired {
            // What cannot be removed, the next writer removes.
            let _ = self.env().remove(path);
        }
        Ok(())
    }

    /// Gives a file its other name besides the one that it has; a copy, where a file cannot have two names.
    fn keep_aside(&mut self, path: &Path) -> Result<()> {
        let target = aside(path);
        match self.env().hard_link(path, &target) {
            Ok(()) => return Ok(()),
            // An earlier attempt has left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(_) => {}
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let fail = |action: &'static str| move |error| Error::io(action, path, error);
        let file = self.env().open(path, ReadMode::Pread).map_err(fail("cannot open"))?;
        let mut copy = TempFile::create(self.env(), &self.common.path, &name)?;
        let (mut offset, mut buffer) = (0, Vec::new());
        while offset < file.length() {
            let length = PIECE.min(file.length() - offset);
            let bytes = file.read(offset, usize::try_from(length).unwrap_or(0), &mut buffer);
            copy.write(bytes.map_err(fail("cannot read"))?)?;
            offset += length;
        }
        copy.commit().map(|_| ())
    }

    /// Replaces logs by what holds of them.
    fn cut_logs(&mut self) -> Result<()> {
        for action in &self.report.actions {
            let RepairAction::CutLog { path, offset, .. } = action else { continue };
            let fail = |action: &'static str| move |error| Error::io(action, path, error);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let file = self.env().open(path, ReadMode::Pread).map_err(fail("cannot open"))?;
            let mut cut = TempFile::create(self.env(), &self.common.path, &name)?;
            let (mut at, mut buffer) = (0, Vec::new());
            while at < *offset {
                let length = PIECE.min(offset - at);
                let bytes = file.read(at, usize::try_from(length).unwrap_or(0), &mut buffer);
                cut.write(bytes.map_err(fail("cannot read"))?)?;
                at += length;
            }
            cut.commit()?;
        }
        Ok(())
    }

    /// Removes what was written, as far as no manifest names it.
    pub(super) fn undo(&self) {
        for path in &self.made {
            let _ = self.env().remove(path);
        }
    }
}

/// The name under which a damaged file stays.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ASIDE);
    PathBuf::from(name)
}
