//! Tells whether the inputs are those of an earlier time.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};

use crate::documents::Inputs;

/// Files, bytes and a checksum of names, lengths and times of all inputs, and of their places on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Number of files.
    pub files: u64,
    /// Stored bytes.
    pub bytes: u64,
    /// Checksum; another build of the program may compute another one.
    pub checksum: u64,
}

impl Digest {
    /// Examines all inputs, without opening them.
    ///
    /// # Errors
    ///
    /// If an input can be read only once, or not be examined.
    pub fn of(inputs: &Inputs) -> anyhow::Result<Self> {
        let (mut digest, mut hasher) = (Self::default(), DefaultHasher::new());
        for source in inputs.files() {
            let source = source?;
            let name = source.name();
            let Some(path) = source.path().filter(|_| !source.is_stream()) else {
                bail!("{name}: documents are read more than once, and this cannot be; write it to a file first");
            };
            let metadata = path.metadata().with_context(|| name.clone())?;
            digest.files += 1;
            digest.bytes += metadata.len();
            (&name, metadata.len(), modified(&metadata), changed(&metadata)).hash(&mut hasher);
        }
        digest.checksum = hasher.finish();
        Ok(digest)
    }
}

/// Returns when a file was last written, in nanoseconds, if the system tells.
fn modified(metadata: &Metadata) -> Option<u128> {
    Some(metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos())
}

/// Returns the number of a file on its device, and when its content or its attributes were last changed.
#[cfg(unix)]
fn changed(metadata: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    [metadata.dev().cast_signed(), metadata.ino().cast_signed(), metadata.ctime(), metadata.ctime_nsec()]
}

#[cfg(not(unix))]
fn changed(_: &Metadata) {}
