//! `--keep`: which record of a cluster is kept, and which records come first where clusters depend on the order.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, bail};
use fpstore::clusters::Keeper;
use fpstore::{Id, IdKind};
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};

/// The keeper that `--keep` names.
pub(crate) struct Kept {
    pub(crate) keeper: Keeper,
    priorities: Option<Arc<Priorities>>,
}

impl Kept {
    /// Reads the ids if `keep` is a file.
    pub(crate) fn read(keep: &OsStr, kind: IdKind) -> anyhow::Result<Self> {
        let keeper = match keep.to_str() {
            Some("smallest") => Keeper::Smallest,
            Some("largest") => Keeper::Largest,
            _ => {
                let priorities = Arc::new(Priorities::read(Path::new(keep), kind)?);
                let ranks = Arc::clone(&priorities);
                let keeper = Keeper::Ranked(Arc::new(move |id| ranks.rank(id)));
                return Ok(Self { keeper, priorities: Some(priorities) });
            }
        };
        Ok(Self { keeper, priorities: None })
    }

    /// Warns of listed ids that no record has, once all records were read.
    pub(crate) fn warn_of_unknown(&self) {
        if let Some(unknown) = self.priorities.as_ref().and_then(|priorities| priorities.unknown()) {
            notice::warn(unknown);
        }
    }
}

/// The ids of a file, the most important first.
struct Priorities {
    path: PathBuf,
    /// The line number of each id, and whether a record has the id.
    ranks: HashMap<Id, (u64, AtomicBool)>,
}

impl Priorities {
    fn read(path: &Path, kind: IdKind) -> anyhow::Result<Self> {
        let name = path.display();
        if kind == IdKind::None {
            bail!("--keep {name}: the store has no ids; use smallest or largest");
        }
        let file =
            fs::File::open(path).with_context(|| format!("--keep {name}: neither smallest nor largest, nor a file"))?;
        let mut ranks = HashMap::new();
        for (line, number) in BufReader::new(file).lines().zip(1u64..) {
            let line = line.with_context(|| format!("{name}: line {number}"))?;
            let text = line.trim_start_matches('\u{feff}').trim_end_matches('\r');
            if text.is_empty() {
                continue;
            }
            let id = match kind {
                IdKind::Number => Id::Number(text.parse().ok().with_context(|| {
                    format!("{name}: line {number}: the ids of the store are decimal numbers, this is '{text}'")
                })?),
                _ => Id::from(text),
            };
            ranks.entry(id).or_insert((number, AtomicBool::new(false)));
        }
        Ok(Self { path: path.to_owned(), ranks })
    }

    fn rank(&self, id: &Id) -> Option<u64> {
        let (rank, found) = self.ranks.get(id)?;
        // All threads read the flag, so it is written only once.
        if !found.load(Relaxed) {
            found.store(true, Relaxed);
        }
        Some(*rank)
    }

    /// Returns a warning about ids that no record has.
    fn unknown(&self) -> Option<String> {
        let name = self.path.display();
        let listed = self.ranks.len() as u64;
        let unknown = self.ranks.values().filter(|(_, found)| !found.load(Relaxed)).count() as u64;
        match unknown {
            _ if listed == 0 => Some(format!("{name} lists no ids; the smallest id of each cluster is kept")),
            0 => None,
            _ if unknown == listed => Some(format!(
                "{name}: none of its {} is in the store; the smallest id of each cluster is kept (a file has one id on \
                 each line, as the store \
                 has it)",
                count_of(listed, "id")
            )),
            _ => Some(format!("{name}: not in the store: {} of its {}", count(unknown), count_of(listed, "id"))),
        }
    }
}
