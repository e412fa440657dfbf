//! Carrying a repair out, or finding out what it would do: one way for both.

use crate::db::{Maker, Recovered, TornLog};
use crate::env::{ReadMode, TempFile};
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::format::manifest::ManifestData;
use crate::repair::Repairing;
use crate::repair::logs::{self, SalvagedLogs};
use crate::repair::report::{Loss, Lost, RepairAction};
use crate::segment::{Damage, segment_name};
use crate::version::{StoreContext, manifest as file, newest_entries};
use crate::wal;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// Ending of the names of damaged files that stay.
const ASIDE: &str = ".damaged";

impl<F: Fingerprint> Repairing<'_, F> {
    /// Looks at everything, writes what has to be written, and puts the new manifest in the place of the old one.
    pub(crate) fn carry_out(&mut self, restored: bool) -> Result<()> {
        let mut manifest = self.manifest.clone();
        let runs: Result<Vec<_>> = self.manifest.runs.iter().map(|run| self.run_of(run)).collect();
        manifest.runs = runs?.into_iter().flatten().collect();
        if manifest.runs != self.manifest.runs {
            // What is lost in one of them changes what newer ones add.
            manifest.runs.iter_mut().for_each(|run| run.net = None);
        }
        self.look_at_logs()?;
        if let Some(salvaged) = self.logs.take() {
            self.flush(&salvaged, &mut manifest)?;
        }
        // What is not there cannot be kept.
        let names = self.env().list(&self.common.path);
        let names = names.map_err(|error| Error::io("cannot list", &self.common.path, error))?;
        let is_there = |path: &Path| path.file_name().is_some_and(|name| names.iter().any(|found| **found == *name));
        self.obsolete_runs.retain(|(path, _)| is_there(path));
        self.report.kept_aside =
            self.obsolete_runs.iter().filter(|(_, stays)| *stays).map(|(path, _)| aside(path)).collect();
        let cut = self.report.actions.iter().filter_map(|action| match action {
            RepairAction::CutLog { path, .. } if self.is_lost_in(path) => Some(aside(path)),
            _ => None,
        });
        let mut cut = cut.collect();
        self.report.kept_aside.append(&mut cut);
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
                self.report.bytes += recovered.file_bytes;
                let last = recovered.last.as_ref().map(|last| last.path().to_owned());
                for torn in recovered.found.torn {
                    // What follows in another log tells that nothing is missing. Behind the last one nothing tells.
                    let is_last = last.as_ref() == Some(&torn.path);
                    if is_last && self.unreadable.has_behind(&torn.path, torn.offset) {
                        self.lose_end(&torn, recovered.next_sequence);
                    }
                    let TornLog { path, offset, bytes } = torn.clone();
                    self.report.actions.push(RepairAction::CutLog { path, offset, bytes });
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
                self.obsolete_runs.extend(salvaged.logs.iter().map(|path| (path.clone(), lost(path))));
                self.report.losses.append(&mut salvaged.losses);
                self.logs = Some(salvaged);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// All writes that could be read from damaged logs become one run, and the logs are not needed any more.
    fn flush(&mut self, salvaged: &SalvagedLogs<F>, manifest: &mut ManifestData) -> Result<()> {
        // Of tombstones, of records and of an id index.
        let numbers = [self.take_number(), self.take_number(), self.take_number()];
        (manifest.first_log, manifest.next_id) = (salvaged.next_log, salvaged.next_id);
        let (first, last) = (manifest.flushed + 1, salvaged.expected - 1);
        manifest.flushed = last;
        manifest.written.log = manifest.written.log.saturating_add(salvaged.log_bytes);
        if !self.writes {
            return Ok(());
        }
        // Whatever is there under their names no manifest ever named.
        self.made.extend(numbers.map(|number| self.common.path.join(segment_name(number))));
        let newest_first = salvaged.memtables.iter().rev();
        let entries = newest_entries(newest_first.map(|memtable| (memtable, memtable.visible())))?;
        let (StoreContext { path, options, parameters, obsolete_files, .. }, next) =
            (&*self.common, AtomicU64::new(numbers[0]));
        let maker = Maker { path, options, parameters, next: &next, obsolete_files };
        let run =
            maker.run_of_entries(&entries, manifest.runs.is_empty(), &self.workspace)?.into_run(first, last, None);
        for segment in run.iter().flat_map(|run| run.segments()) {
            self.check_made(segment.path())?;
        }
        manifest.runs.extend(run.map(|run| run.entry));
        Ok(())
    }

    /// Puts the new manifest in the place of the old one, after which the old files go, or stay under another name.
    fn replace_manifest(&mut self, manifest: &ManifestData) -> Result<()> {
        for (path, stays) in self.obsolete_runs.clone() {
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
        for (path, _) in &self.obsolete_runs {
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
        let file = self.env().open(path, ReadMode::Pread);
        let file = file.map_err(|error| Error::io("cannot open", path, error))?;
        let copy = TempFile::create(self.env(), &self.common.path, &name)?;
        copy.copied(&*file, path)?.commit().map(|_| ())
    }

    /// Replaces logs by what holds of them.
    fn cut_logs(&mut self) -> Result<()> {
        for action in self.report.actions.clone() {
            let RepairAction::CutLog { path, offset, .. } = action else { continue };
            if self.is_lost_in(&path) {
                self.keep_aside(&path)?;
            }
            let number = path.file_name().and_then(|name| wal::number_of(name.to_str()?)).unwrap_or(0);
            wal::rewrite(self.env(), &self.common.path, number, offset)?;
        }
        Ok(())
    }

    /// Whether anything of a file is lost.
    fn is_lost_in(&self, path: &Path) -> bool {
        self.report.losses.iter().any(|loss| loss.path == *path)
    }

    /// The end of the last log cannot be read: there may be batches that were durable.
    fn lose_end(&mut self, torn: &TornLog, next: u64) {
        let (section, offset) = ("log frame".to_owned(), Some(torn.offset));
        let message = format!("{} bytes at the end of the last log cannot be read", torn.bytes);
        let path = torn.path.clone();
        self.report.damages.push(Damage { path: path.clone(), section: section.clone(), offset, message });
        let what = Lost::Batches { first: next, last: None };
        self.report.losses.push(Loss {
            path,
            section,
            offset,
            bytes: Some(torn.bytes),
            tombstones: false,
            records: None,
            what,
        });
    }

    /// Removes what was written, as far as no manifest names it.
    pub(crate) fn undo(&self) {
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
