//! Writes tables as Parquet files: fingerprints of 64 bits and numeric ids as UINT_64, wider fingerprints as bytes of
//! fixed length, most significant first, text ids as UTF-8. The input format of the same name reads these files.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, Float64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use super::file::File;
use super::rows::{Column, Kind, Rows};

/// Rows of a group, which is in memory until it is full.
const GROUP: u64 = 1 << 18;

/// A Parquet file that is being written. Threads encode its columns side by side.
pub(super) struct Writer {
    schema: Arc<Schema>,
    file: SerializedFileWriter<File>,
    groups: ArrowRowGroupWriterFactory,
    /// The columns of the group that is being filled; none before its first row.
    columns: Vec<ArrowColumnWriter>,
    rows: u64,
    name: String,
}

impl Writer {
    pub(super) fn new(file: File, columns: &[Column], width: u32, texts: &[bool]) -> anyhow::Result<Self> {
        let bytes = i32::try_from(width / 8).unwrap_or(i32::MAX);
        let mut texts = texts.iter().copied();
        let field = |column: &Column| {
            let data_type = match column.kind {
                Kind::Fingerprint if width > 64 => DataType::FixedSizeBinary(bytes),
                Kind::Id if texts.next() == Some(true) => DataType::Utf8,
                Kind::Text => DataType::Utf8,
                Kind::Real => DataType::Float64,
                _ => DataType::UInt64,
            };
            Field::new(column.name, data_type, column.kind == Kind::Real)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        for (column, field) in columns.iter().zip(schema.fields()) {
            let is_number = *field.data_type() == DataType::UInt64;
            // Nearly all of them differ: a dictionary would cost time and be given up.
            if column.kind == Kind::Fingerprint || column.kind == Kind::Id && is_number {
                properties = properties.set_column_dictionary_enabled(column.name.into(), false);
            }
            // Ids have far fewer than 64 bits: packing those takes less space and time than compressing zeros, and
            // leaves nothing to compress.
            if column.kind == Kind::Id && is_number {
                properties = properties.set_column_encoding(column.name.into(), Encoding::DELTA_BINARY_PACKED);
                properties = properties.set_column_compression(column.name.into(), Compression::UNCOMPRESSED);
            }
        }
        let name = file.name();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties.build()));
        let writer = writer.and_then(ArrowWriter::into_serialized_writer);
        let (file, groups) = writer.with_context(|| name.clone())?;
        Ok(Self { schema, file, groups, columns: Vec::new(), rows: 0, name })
    }

    pub(super) fn write(&mut self, rows: &Rows) -> anyhow::Result<()> {
        if rows.count() == 0 { Ok(()) } else { self.encode(rows).with_context(|| self.name.clone()) }
    }

    fn encode(&mut self, rows: &Rows) -> anyhow::Result<()> {
        if self.columns.is_empty() {
            self.columns = self.groups.create_column_writers(self.file.flushed_row_groups().len())?;
        }
        let columns = self.schema.fields().par_iter().zip(&mut self.columns).enumerate();
        let written = columns.map(|(number, (field, writer))| -> anyhow::Result<()> {
            let array = array(rows, number, self.schema.fields().len(), field.data_type())?;
            compute_leaves(field, &array)?.iter().try_for_each(|leaf| Ok(writer.write(leaf)?))
        });
        written.collect::<anyhow::Result<()>>()?;
        self.rows += rows.count();
        if self.rows >= GROUP { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> anyhow::Result<()> {
        self.rows = 0;
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() {
            return Ok(());
        }
        let chunks = columns.into_par_iter().map(ArrowColumnWriter::close).collect::<Result<Vec<_>, _>>()?;
        let mut group = self.file.next_row_group()?;
        chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group))?;
        group.close()?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.end_group().with_context(|| self.name.clone())?;
        self.file.into_inner().context(self.name)?.finish()
    }
}

/// The cells of a column, of `columns` columns.
fn array(rows: &Rows, column: usize, columns: usize, data_type: &DataType) -> anyhow::Result<ArrayRef> {
    let cells = rows.cells(column, columns);
    Ok(match data_type {
        DataType::FixedSizeBinary(_) => Arc::new(FixedSizeBinaryArray::try_from_iter(cells)?),
        DataType::Utf8 => {
            let texts = cells.map(std::str::from_utf8).collect::<Result<Vec<&str>, _>>()?;
            Arc::new(StringArray::from(texts))
        }
        DataType::Float64 => {
            let real = |cell: &[u8]| Some(f64::from_bits(u64::from_be_bytes(cell.try_into().ok()?)));
            Arc::new(Float64Array::from(cells.map(real).collect::<Vec<Option<f64>>>()))
        }
        _ => {
            let number = |cell: &[u8]| cell.try_into().map(u64::from_be_bytes).map_err(|_| anyhow!("not a number"));
            Arc::new(UInt64Array::from(cells.map(number).collect::<Result<Vec<u64>, _>>()?))
        }
    })
}
