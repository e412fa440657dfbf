//! The output of a copy.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::chunk::Chunk;
use super::form::{Form, Kind};
use super::text::push_row;
use crate::documents::parquet::Writer;
use crate::output::File;

/// A file in the form of the inputs, which appears when it is complete.
pub(super) enum Sink {
    Text(File),
    Parquet(Box<Writer>),
}

impl Sink {
    pub(super) fn create(form: &Form, output: &Path, memory: u64) -> anyhow::Result<Self> {
        let mut file = File::named("--output", output)?;
        Ok(match &form.0 {
            Kind::Parquet(shape) => Self::Parquet(Box::new(Writer::new(file, shape, memory)?)),
            Kind::Json { .. } => Self::Text(file),
            Kind::Table { names, delimiter } => {
                let mut row = Vec::new();
                if !names.is_empty() {
                    push_row(&mut row, names.iter().map(AsRef::as_ref), *delimiter);
                }
                file.write_all(&row).with_context(|| file.name())?;
                Self::Text(file)
            }
        })
    }

    pub(super) fn write(&mut self, chunk: Chunk) -> anyhow::Result<()> {
        match (self, chunk) {
            (Self::Text(file), Chunk::Text(text)) => file.write_all(&text).with_context(|| file.name()),
            (Self::Parquet(writer), Chunk::Rows(piece)) => writer.write(&piece),
            // The last texts of Parquet, of which there are none.
            _ => Ok(()),
        }
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Text(file) => file.finish(),
            Self::Parquet(writer) => writer.finish(),
        }
    }
}
