//! A file that appears under its name only when it is complete.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::{NamedTempFile, TempPath};

use crate::input::Compression;
use crate::interrupt::Temporary;

const BUFFER: usize = 1 << 18;
/// The default level of zstd.
const ZSTD_LEVEL: i32 = 3;

/// A file that is being written.
pub struct File {
    path: PathBuf,
    /// The temporary file; `None` for an output that is not a regular file, such as a pipe.
    temporary: Option<(TempPath, Temporary)>,
    to: To,
}

enum To {
    Plain(BufWriter<fs::File>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<fs::File>>>),
    Zstd(Box<zstd::Encoder<'static, BufWriter<fs::File>>>),
}

impl File {
    /// Creates a file that an option names; its extension determines the compression.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn named(option: &str, path: &Path) -> anyhow::Result<Self> {
        Self::create(path, Compression::of(path)).with_context(|| format!("{option} {}", path.display()))
    }

    pub(super) fn create(path: &Path, compression: Compression) -> io::Result<Self> {
        // Replace the target of a link, not the link.
        let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (file, temporary) = if path.exists() && !path.is_file() {
            (fs::OpenOptions::new().write(true).open(path)?, None)
        } else {
            let (file, temporary) = make(directory_of(path), path)?.into_parts();
            if let Ok(before) = fs::metadata(path) {
                file.set_permissions(before.permissions())?;
            }
            let listed = Temporary::new(&temporary);
            (file, Some((temporary, listed)))
        };
        let file = BufWriter::with_capacity(BUFFER, file);
        let to = match compression {
            Compression::None => To::Plain(file),
            Compression::Gzip => {
                To::Gzip(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::default())))
            }
            Compression::Zstd => To::Zstd(Box::new(zstd::Encoder::new(file, ZSTD_LEVEL)?)),
        };
        Ok(Self { path: path.to_owned(), temporary, to })
    }

    /// Name of the file, for messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Writes the rest and renames the file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(self) -> anyhow::Result<()> {
        let name = self.path.display().to_string();
        let end = move || -> io::Result<()> {
            let mut file = match self.to {
                To::Plain(file) => file,
                To::Gzip(encoder) => encoder.finish()?,
                To::Zstd(encoder) => encoder.finish()?,
            };
            file.flush()?;
            if let Some((temporary, _listed)) = self.temporary {
                file.get_ref().sync_all()?;
                temporary.persist(&self.path).map_err(|error| error.error)?;
                // Makes the rename durable.
                #[cfg(unix)]
                fs::File::open(directory_of(&self.path))?.sync_all()?;
            }
            Ok(())
        };
        end().context(name)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Plain(file) => file.write(bytes),
            To::Gzip(encoder) => encoder.write(bytes),
            To::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Plain(file) => file.flush(),
            To::Gzip(encoder) => encoder.flush(),
            To::Zstd(encoder) => encoder.flush(),
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file beside the final one, with the permissions of new files.
fn make(directory: &Path, path: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The name of the temporary file would be confusing in the message.
    builder.tempfile_in(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            io::Error::other(format!("directory {} not found; make it first", directory.display()))
        }
        kind => kind.into(),
    })
}
