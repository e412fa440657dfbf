//! An open Parquet file, and its columns by name.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;

use super::batches::{Batches, LOST, Pages};
use super::file::ParquetFile;
use super::guard::guarded;
use crate::input::selection::no_column;
use crate::input::source::Opened;
use crate::input::{Selection, Source};
use crate::progress::Progress;

/// A file of which no row has been read.
#[derive(Debug)]
pub(crate) struct Table {
    file: ParquetFile,
    metadata: ArrowReaderMetadata,
}

impl Table {
    /// Opens an input and reads its metadata.
    pub(crate) fn open(
        source: &Source,
        bytes: Opened,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let file = ParquetFile::open(source, bytes, temp_dir, progress)?;
        // The annotations of the program that wrote the file do not count.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = guarded(|| ArrowReaderMetadata::load(&file, options));
        let metadata = metadata.map_err(|message| anyhow!("{}: {message}; is the file whole?", source.name()))?;
        Ok(Self { file, metadata })
    }

    /// Number of rows, according to the file.
    pub(crate) fn row_count(&self) -> Option<u64> {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).ok()
    }

    /// Returns the metadata under a key.
    pub(crate) fn metadata_value(&self, key: &str) -> Option<&str> {
        let noted = self.metadata.metadata().file_metadata().key_value_metadata()?;
        noted.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Returns the number of the column with that name.
    pub(crate) fn column(&self, name: &str) -> Result<Option<usize>, String> {
        let mut found = self.schema().fields().iter().enumerate().filter(|(_, field)| field.name() == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("the column \"{name}\" occurs twice")),
            (column, None) => Ok(column.map(|(number, _)| number)),
        }
    }

    /// Returns the numbers of the two columns.
    pub(crate) fn find(&self, selection: &Selection) -> Result<(usize, Option<usize>), String> {
        selection.find(|name| self.column(name), || self.list())
    }

    /// Message about a column that is missing.
    pub(crate) fn missing(&self, name: &str) -> String {
        no_column(name, &self.list())
    }

    /// Lists the names of all columns, for a message.
    fn list(&self) -> String {
        self.list_but(usize::MAX)
    }

    /// Lists the names of all columns but one.
    pub(super) fn list_but(&self, one: usize) -> String {
        let fields = self.schema().fields().iter().enumerate().filter(|(number, _)| *number != one);
        let names: Vec<String> = fields.map(|(_, field)| format!("'{}'", field.name())).collect();
        names.join(", ")
    }

    /// Applies `check` to the type of a column.
    pub(crate) fn checked<T>(
        &self,
        column: usize,
        check: impl FnOnce(&DataType) -> Result<T, String>,
    ) -> Result<T, String> {
        let field = self.schema().fields().get(column).ok_or(LOST)?;
        check(field.data_type()).map_err(|error| format!("column \"{}\": {error}", field.name()))
    }

    /// Returns the decoded bytes of these columns in a row, on average over the row group with the most.
    pub(crate) fn bytes_per_row(&self, columns: &[usize]) -> u64 {
        /// Bytes of a text, besides its own.
        const VIEW: u64 = 16;
        let number = |signed: i64| u64::try_from(signed).unwrap_or(0);
        let schema = self.metadata.parquet_schema();
        let groups = self.metadata.metadata().row_groups().iter().map(|group| {
            let leaves = group.columns().iter().enumerate();
            let wanted = leaves.filter(|(leaf, _)| {
                *leaf < schema.num_columns() && columns.contains(&schema.get_column_root_idx(*leaf))
            });
            let bytes = wanted.map(|(_, leaf)| {
                number(leaf.uncompressed_size()).saturating_add(number(leaf.num_values()).saturating_mul(VIEW))
            });
            bytes.fold(0, u64::saturating_add) / number(group.num_rows()).max(1)
        });
        groups.max().unwrap_or(0)
    }

    /// Reads the rows of these columns in batches of `rows`; `decode` receives the columns of a batch in the order of
    /// `columns`.
    pub(crate) fn batches<C>(
        mut self,
        columns: &[usize],
        rows: usize,
        decode: fn(&[&ArrayRef]) -> Result<C, String>,
    ) -> Result<Batches<C>, String> {
        let metadata = self.with_views(columns)?;
        let pages = Pages { longest: self.file.watch(), sizes: self.sizes(columns) };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, metadata);
        Batches::new(builder, columns, rows, decode, pages)
    }

    /// Reads all columns, in batches of `rows`.
    pub(crate) fn whole(self, rows: usize) -> Result<ParquetRecordBatchReader, String> {
        let columns: Vec<usize> = (0..self.schema().fields().len()).collect();
        let metadata = self.with_views(&columns)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, metadata);
        guarded(|| builder.with_batch_size(rows).build())
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.schema().fields().len()
    }

    /// The metadata of the file.
    pub(crate) fn stored(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// Returns the bytes of these columns, stored and decompressed.
    fn sizes(&self, columns: &[usize]) -> (u64, u64) {
        let schema = self.metadata.parquet_schema();
        let groups = self.metadata.metadata().row_groups().iter();
        let leaves = groups.flat_map(|group| group.columns().iter().enumerate());
        let wanted = leaves
            .filter(|(leaf, _)| *leaf < schema.num_columns() && columns.contains(&schema.get_column_root_idx(*leaf)));
        let number = |signed: i64| u64::try_from(signed).unwrap_or(0);
        wanted.fold((0, 0), |(stored, plain): (u64, u64), (_, leaf)| {
            let (more, plainly) = (number(leaf.compressed_size()), number(leaf.uncompressed_size()));
            (stored.saturating_add(more), plain.saturating_add(plainly))
        })
    }

    /// Returns the metadata with the texts of these columns as views into pages. As separate strings, one long text in
    /// a dictionary could be copied for every row of a batch.
    fn with_views(&self, columns: &[usize]) -> Result<ArrowReaderMetadata, String> {
        let fields = self
            .schema()
            .fields()
            .iter()
            .enumerate()
            .map(|(number, field)| if columns.contains(&number) { viewed(field) } else { field.as_ref().clone() });
        let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
        guarded(|| ArrowReaderMetadata::try_new(Arc::clone(self.metadata.metadata()), options))
    }

    fn schema(&self) -> &Schema {
        self.metadata.schema()
    }
}

/// Returns the field with its texts, or those of its lists, as views.
fn viewed(field: &Field) -> Field {
    let views = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(item) => DataType::List(Arc::new(viewed(item))),
        other => other.clone(),
    };
    field.clone().with_data_type(views)
}
