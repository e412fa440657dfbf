//! Opens an input of documents and recognises its format.

use super::{DocumentFormat, DocumentOptions};
use crate::input::source::Opened;
use crate::input::{Source, ToldBy};
use crate::progress::Progress;

/// An open input whose format is known; no document of it has been read.
pub(super) struct Recognised {
    pub(super) source: Source,
    pub(super) bytes: Opened,
    pub(super) format: DocumentFormat,
    /// Whether it is read as one document but looks like records.
    pub(super) doubtful: bool,
}

impl Recognised {
    /// Opens an input and recognises its format.
    pub(super) fn open(source: &Source, options: &DocumentOptions, progress: &Progress) -> anyhow::Result<Self> {
        source.hint("documents");
        let mut bytes = source.bytes(progress, ToldBy::Content)?;
        let format = options.recognise(source, &mut bytes.window)?;
        let doubtful = format == DocumentFormat::File && options.is_doubtful(&mut bytes.window);
        Ok(Self { source: source.clone(), bytes, format, doubtful })
    }

    /// Name of the input.
    pub(super) fn name(&self) -> String {
        self.source.name()
    }
}
