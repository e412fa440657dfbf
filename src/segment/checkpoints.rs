//! What is written of a segment that takes long to make survives the process that makes it.
//!
//! The segment grows in the file [`PART`]; behind each table it is synced, and the file [`NAME`] placed that says how far it
//! has come and of what it is made. Whoever makes a segment of the same later goes on behind the last of these tables. Both
//! files may vanish at any time: then it begins anew. Specified in format-spec/store.md.

use crate::env::{Env, ReadMode, TempFile};
use crate::error::{Error, Result};
use crate::format::fields::Fields;
use crate::format::footer::TableSections;
use crate::format::progress::MergeProgress;
use std::fmt::{self, Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh64::Xxh64;

/// The file that says how far it has come.
pub(crate) const NAME: &str = "MERGE";
/// The segment as far as it is written.
pub(crate) const PART: &str = "merging.tmp";

/// Longest file that is read: the numbers of half a million segments.
const MAX_LENGTH: u64 = 4 << 20;
/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;

/// Where the segment that is made of some others is kept while it is not finished.
pub(crate) struct Checkpoints {
    env: Arc<dyn Env>,
    directory: PathBuf,
    inputs: Vec<u64>,
    /// What an earlier attempt has left, and the hash of it.
    found: Option<(MergeProgress, Xxh64)>,
}

impl Checkpoints {
    /// For a segment of the segments with these numbers: goes on where an earlier attempt with the same ones has ended. What
    /// others have left is removed. `step` is called again and again meanwhile.
    ///
    /// # Errors
    /// Those of `step`; `Io` if what is of no use cannot be removed.
    pub(crate) fn begin(
        env: &Arc<dyn Env>,
        directory: &Path,
        inputs: Vec<u64>,
        step: &dyn Fn() -> Result<()>,
    ) -> Result<Self> {
        let progress = read(&**env, directory).filter(|progress| progress.inputs == inputs);
        let found = match progress {
            Some(progress) => hash_of(&**env, directory, &progress, step)?.map(|hash| (progress, hash)),
            None => None,
        };
        if found.is_none() {
            forget(&**env, directory)?;
        }
        Ok(Self { env: Arc::clone(env), directory: directory.to_owned(), inputs, found })
    }

    /// The tables that are written already.
    pub(crate) fn tables(&self) -> &[TableSections] {
        self.found.as_ref().map_or(&[], |(progress, _)| &progress.tables)
    }

    /// Bytes that are written already.
    pub(crate) fn written(&self) -> u64 {
        self.found.as_ref().map_or(0, |(progress, _)| progress.length)
    }

    /// The file, which becomes a segment by this name, and the hash of what is in it.
    pub(super) fn open(&self, name: &str) -> Result<(TempFile, Xxh64)> {
        let (length, hash) = match &self.found {
            Some((progress, hash)) => (Some(progress.length), hash.clone()),
            None => (None, Xxh64::new(0)),
        };
        Ok((TempFile::lasting(&self.env, &self.directory, PART, name, length)?, hash))
    }

    /// Notes that the file has these tables, and is durable.
    pub(super) fn place(&self, length: u64, hash: &Xxh64, tables: &[TableSections]) -> Result<()> {
        let (inputs, tables) = (self.inputs.clone(), tables.to_vec());
        let progress = MergeProgress { inputs, length, content_hash: hash.digest(), tables };
        let mut file = TempFile::create(&self.env, &self.directory, NAME)?;
        file.write(&progress.write())?;
        file.commit().map(|_| ())
    }

    /// Makes a finished segment, which nobody needs without what is not finished, an unfinished one again.
    pub(crate) fn take_back(&self, path: &Path) {
        // If that fails there is nothing to go on with.
        let _ = self.env.rename(path, &self.directory.join(PART));
    }

    /// Removes both files.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn forget(&self) -> Result<()> {
        forget(&*self.env, &self.directory)
    }
}

impl Debug for Checkpoints {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints").field("directory", &self.directory).field("inputs", &self.inputs).finish()
    }
}

/// How far a merge in this directory has come, if there is one; what does not hold is none.
pub(crate) fn read(env: &dyn Env, directory: &Path) -> Option<MergeProgress> {
    let file = env.open(&directory.join(NAME), ReadMode::Pread).ok()?;
    let length = Some(file.length()).filter(|&length| length <= MAX_LENGTH)?;
    let mut buffer = Vec::new();
    let bytes = file.read(0, usize::try_from(length).ok()?, &mut buffer).ok()?;
    MergeProgress::parse(&mut Fields::new(bytes, 0)).ok()
}

/// The hash of what is written, if it is what was.
fn hash_of(
    env: &dyn Env,
    directory: &Path,
    progress: &MergeProgress,
    step: &dyn Fn() -> Result<()>,
) -> Result<Option<Xxh64>> {
    let Ok(file) = env.open(&directory.join(PART), ReadMode::Pread) else { return Ok(None) };
    let (mut hash, mut buffer, mut at) = (Xxh64::new(0), Vec::new(), 0);
    while at < progress.length {
        step()?;
        let length = PIECE.min(progress.length - at);
        let Ok(bytes) = file.read(at, usize::try_from(length).unwrap_or(0), &mut buffer) else { return Ok(None) };
        hash.update(bytes);
        at += length;
    }
    Ok(Some(hash).filter(|hash| hash.digest() == progress.content_hash))
}

/// Removes both files.
///
/// # Errors
/// `Io`.
pub(crate) fn forget(env: &dyn Env, directory: &Path) -> Result<()> {
    for name in [NAME, PART] {
        let path = directory.join(name);
        match env.remove(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("cannot remove", &path, error));
            }
            _ => {}
        }
    }
    Ok(())
}
