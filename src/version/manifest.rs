//! The manifest file, which makes a directory a store.
//!
//! A rename replaces it whole. An invalid manifest is damage, never an older state. Specified in
//! format-spec/manifest.md.

use crate::env::{Env, ReadMode, TempFile};
use crate::error::{Error, ErrorKind, Result};
use crate::format::fields::Fields;
use crate::format::manifest::ManifestData;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub(crate) const NAME: &str = "MANIFEST";
/// Bytes of a manifest of a million segments.
const MAX_LENGTH: u64 = 64 << 20;

pub(crate) fn read_bytes(env: &dyn Env, store: &Path) -> Result<Vec<u8>> {
    let path = store.join(NAME);
    let file = env.open(&path, ReadMode::Pread).map_err(|error| {
        let missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        if missing {
            Error::new(ErrorKind::NotFound, "there is no store here")
                .at_path(store)
                .with_remedy("check the path, or create the store first")
        } else {
            Error::io("cannot open", &path, error)
        }
    })?;
    if file.length() > MAX_LENGTH {
        return Err(Error::damaged("the manifest is longer than any can be").at_path(&path));
    }
    let mut buffer = Vec::new();
    let length = usize::try_from(file.length()).unwrap_or(usize::MAX);
    let bytes = file.read(0, length, &mut buffer).map_err(|error| Error::io("cannot read", &path, error))?;
    Ok(bytes.to_vec())
}

pub(crate) fn read(env: &dyn Env, store: &Path) -> Result<ManifestData> {
    parse(&read_bytes(env, store)?, store)
}

pub(crate) fn parse(bytes: &[u8], store: &Path) -> Result<ManifestData> {
    ManifestData::parse(&mut Fields::new(bytes, 0)).map_err(|error| error.at_path(&store.join(NAME)))
}

/// Replaces the manifest, durably. Refuses one that is invalid.
pub(crate) fn replace(env: &Arc<dyn Env>, store: &Path, state: &ManifestData) -> Result<()> {
    prepare(env, store, state)?.place().map(|_| ())
}

/// Writes a manifest beside the current one. The caller places it.
pub(crate) fn prepare(env: &Arc<dyn Env>, store: &Path, state: &ManifestData) -> Result<TempFile> {
    state.check().map_err(|error| error.at_path(&store.join(NAME)))?;
    let mut file = TempFile::create(env, store, NAME)?;
    file.write(&state.write())?;
    file.finish()?;
    Ok(file)
}
