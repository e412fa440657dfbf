//! Clusters on the way: after each phase of the join the sets are written to a file, from which a later run goes on.
//!
//! The file is eight bytes of magic number, a 64-bit hash (XXH64) of what the run is about (segments, which of them are
//! new, distance, labels from before), the number of the next phase and that of the sets in four bytes each, four bytes a
//! fingerprint, and at last the XXH64 of all that; little-endian. It appears whole; one of another run, or one that is damaged, does not count.

use super::Clusters;
use crate::cluster::UnionFind;
use crate::env::{Env, ReadMode, TempFile};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::store::checksum_of;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh64::{Xxh64, xxh64};

const MAGIC: &[u8; 8] = b"fpsets\x01\n";
/// Sets that are written or read at once.
const PIECE: usize = 1 << 16;
/// Bytes before the sets.
const HEAD: usize = 24;
/// Bytes of the checksum.
const CHECK: usize = 8;

/// Where a run keeps what it has done.
pub(super) struct Checkpoint {
    env: Arc<dyn Env>,
    path: PathBuf,
    /// What the run is about.
    about: u64,
}

impl Checkpoint {
    /// `previous` tells apart what the run goes on from.
    pub(super) fn new<F: Fingerprint>(clusters: &Clusters<F>, previous: u64, path: &Path) -> Result<Self> {
        // Which of the segments are new tells what is searched, too.
        let told = [clusters.k.into(), clusters.old()? as u64, previous];
        let about = checksum_of(&clusters.segments()?, xxh64(told.map(u64::to_le_bytes).as_flattened(), 0));
        Ok(Self { env: Arc::clone(&clusters.means.env), path: path.to_owned(), about })
    }

    /// The sets as an earlier run has left them, and the phase that comes next; none if it has left nothing that can be
    /// used.
    pub(super) fn load(&self, count: u32) -> Option<(UnionFind, u32)> {
        let file = self.env.open(&self.path, ReadMode::Pread).ok()?;
        let length = HEAD + 4 * count as usize + CHECK;
        let mut buffer = Vec::new();
        if file.length() != length as u64 {
            return None;
        }
        let mut hash = Xxh64::new(0);
        let head = file.read(0, HEAD, &mut buffer).ok()?;
        hash.update(head);
        let number = |at: usize| Some(u32::from_le_bytes(*head.get(at..)?.first_chunk()?));
        let (phase, found) = (number(16)?, number(20)?);
        if head.get(..8)? != MAGIC || head.get(8..16)? != self.about.to_le_bytes() || found != count {
            return None;
        }
        let mut parents = Vec::with_capacity(count as usize);
        for from in (0..count as usize).step_by(PIECE) {
            let sets = PIECE.min(count as usize - from);
            let bytes = file.read((HEAD + 4 * from) as u64, 4 * sets, &mut buffer).ok()?;
            hash.update(bytes);
            parents.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        }
        let check = file.read((length - CHECK) as u64, CHECK, &mut buffer).ok()?;
        (check == hash.digest().to_le_bytes()).then(|| UnionFind::restore(parents)).flatten().zip(Some(phase))
    }

    /// Writes the sets, before which phase they are.
    pub(super) fn save(&self, sets: &UnionFind, phase: u32) -> Result<()> {
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let mut file = TempFile::create(&self.env, directory, &name)?;
        let mut hash = Xxh64::new(0);
        let mut write = |bytes: &[u8]| {
            hash.update(bytes);
            file.write(bytes)
        };
        let mut head = MAGIC.to_vec();
        head.extend(self.about.to_le_bytes());
        head.extend(phase.to_le_bytes());
        head.extend(sets.count().to_le_bytes());
        write(&head)?;
        let mut piece = Vec::with_capacity(4 * PIECE);
        for parent in sets.parents() {
            piece.extend(parent.to_le_bytes());
            if piece.len() == 4 * PIECE {
                write(&piece)?;
                piece.clear();
            }
        }
        write(&piece)?;
        let check = hash.digest().to_le_bytes();
        file.write(&check)?;
        file.commit().map(drop)
    }

    /// Removes the file, if there is one.
    pub(super) fn remove(env: &dyn Env, path: &Path) -> Result<()> {
        match env.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("cannot remove", path, error)),
            _ => Ok(()),
        }
    }
}
