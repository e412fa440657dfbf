//! Copies whole rows of Parquet files: all columns, with the schema, the annotations and the compression of the first
//! file.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use arrow_array::{BooleanArray, RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Type as Physical, ZstdLevel};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::SchemaDescriptor;

use crate::documents::DocumentOptions;
use crate::documents::limits::BATCH_BYTES;
use crate::documents::recognised::Recognised;
use crate::input::parquet::{Table, guarded};
use crate::output::File;
use crate::progress::Progress;

/// Most rows of a batch. Batches are small, because rows may be much larger than on average.
const ROWS: usize = 64;

/// Most bytes of a row group that is being written.
const GROUP: u64 = 128 << 20;

/// Schema and settings that the files of a copy share.
#[derive(Clone, Debug)]
pub(in crate::documents) struct Shape {
    schema: Arc<SchemaDescriptor>,
    arrow: SchemaRef,
    annotations: Vec<KeyValue>,
    compression: Compression,
}

/// Files have the same shape if their columns have the same names and types.
impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        let fields = |shape: &Self| shape.schema.root_schema().get_fields().to_vec();
        fields(self) == fields(other)
    }
}

impl Shape {
    /// Whether there is a column of this name.
    pub(in crate::documents) fn has(&self, column: &str) -> bool {
        self.arrow.fields().find(column).is_some()
    }

    fn of(metadata: &ParquetMetaData, arrow: SchemaRef) -> Self {
        let file = metadata.file_metadata();
        let column = metadata.row_groups().first().and_then(|group| group.columns().first());
        let compression = match column.map(parquet::file::metadata::ColumnChunkMetaData::compression) {
            Some(Compression::UNCOMPRESSED) => Compression::UNCOMPRESSED,
            Some(Compression::SNAPPY) => Compression::SNAPPY,
            Some(Compression::LZ4_RAW | Compression::LZ4) => Compression::LZ4_RAW,
            _ => Compression::ZSTD(ZstdLevel::default()),
        };
        let annotations = file.key_value_metadata().cloned().unwrap_or_default();
        Self { schema: file.schema_descr_ptr(), arrow, annotations, compression }
    }
}

/// All rows of a file.
pub(in crate::documents) struct Whole {
    name: String,
    shape: Shape,
    rows: ParquetRecordBatchReader,
}

/// Some rows.
pub(in crate::documents) struct Piece(RecordBatch);

impl Whole {
    pub(in crate::documents) fn open(
        found: Recognised,
        options: &DocumentOptions,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let Recognised { source, bytes, .. } = found;
        let table = Table::open(&source, bytes, options.temp_dir.as_deref(), progress)?;
        let metadata = Arc::clone(table.stored());
        let columns: Vec<usize> = (0..table.columns()).collect();
        let rows = BATCH_BYTES / table.bytes_per_row(&columns).max(1);
        let rows = usize::try_from(rows).map_or(ROWS, |rows| rows.clamp(1, ROWS));
        let name = source.name();
        let rows = table.whole(rows).map_err(|message| anyhow!("{name}: {message}"))?;
        let shape = Shape::of(&metadata, rows.schema());
        Ok(Self { name, shape, rows })
    }

    pub(in crate::documents) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(in crate::documents) fn into_shape(self) -> Shape {
        self.shape
    }

    /// Returns the next rows for which `keep` returns true; it is called for every row. `None` at the end.
    pub(in crate::documents) fn next_piece(
        &mut self,
        mut keep: impl FnMut() -> anyhow::Result<bool>,
    ) -> anyhow::Result<Option<Piece>> {
        let batch = guarded(|| self.rows.next().transpose()).map_err(|message| anyhow!("{}: {message}", self.name))?;
        let Some(batch) = batch else { return Ok(None) };
        let kept: Vec<bool> = (0..batch.num_rows()).map(|_| keep()).collect::<anyhow::Result<_>>()?;
        let kept = filter_record_batch(&batch, &BooleanArray::from(kept));
        Ok(Some(Piece(kept.with_context(|| self.name.clone())?)))
    }
}

/// A file that is being written.
pub(in crate::documents) struct Writer {
    writer: ArrowWriter<File>,
    name: String,
}

impl Writer {
    /// Row groups take an eighth of `memory` while they are written.
    pub(in crate::documents) fn new(file: File, shape: &Shape, memory: u64) -> anyhow::Result<Self> {
        let group = usize::try_from((memory / 8).clamp(1 << 20, GROUP)).unwrap_or(usize::MAX);
        let properties = WriterProperties::builder()
            .set_compression(shape.compression)
            .set_max_row_group_bytes(Some(group))
            .set_key_value_metadata(Some(shape.annotations.clone()));
        // The types of the Arrow library are among the annotations, if the first file had them.
        let mut options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        // The library reads times of 96 bits and writes 64.
        if !shape.schema.columns().iter().any(|column| column.physical_type() == Physical::INT96) {
            options = options.with_parquet_schema(shape.schema.as_ref().clone());
        }
        let name = file.name();
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(&shape.arrow), options);
        Ok(Self { writer: writer.with_context(|| name.clone())?, name })
    }

    pub(in crate::documents) fn write(&mut self, Piece(rows): &Piece) -> anyhow::Result<()> {
        self.writer.write(rows).with_context(|| self.name.clone())
    }

    pub(in crate::documents) fn finish(self) -> anyhow::Result<()> {
        self.writer.into_inner().context(self.name)?.finish()
    }
}
