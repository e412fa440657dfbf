//! Rows of an answer, value by value, until they are a record batch.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float64Builder, LargeStringBuilder, ListBuilder,
    StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fpstore::clusters::Label;
use fpstore::{Error, ErrorKind, Fingerprint, Id, IdKind, Result};

/// Rows of a record batch. A batch is large enough to cost little, and small enough to come soon.
pub const BATCH: usize = 1 << 14;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fingerprints of this many bits: `uint64`, or `fixed_size_binary`, most significant byte first.
    Fingerprint(u32),
    /// Ids, or counts where there are none: `uint64` or `utf8`.
    Id(IdKind),
    /// The same for a batch of any number of rows: `uint64` or `large_utf8`.
    LargeId(IdKind),
    /// `uint64`, may be null.
    Number,
    /// A distance in bits: `uint32`, may be null.
    Distance,
    /// `float64`, may be null.
    Estimate,
    /// `bool`.
    Flag,
    /// The keys of a record: lists of `uint64`.
    Keys,
    /// A sketch of this many bytes: `fixed_size_binary`, null of a record without one.
    Sketch(i32),
}

/// The columns of an answer.
#[derive(Clone, Debug)]
pub struct Layout {
    kinds: Arc<[Kind]>,
    schema: SchemaRef,
}

impl Layout {
    /// Columns with these names.
    #[must_use]
    pub fn new(columns: &[(&str, Kind)]) -> Self {
        let field = |&(name, kind): &(&str, Kind)| {
            let nullable = !matches!(kind, Kind::Fingerprint(_) | Kind::Flag | Kind::Keys);
            Field::new(name, kind.data_type(), nullable)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        Self { kinds: columns.iter().map(|(_, kind)| *kind).collect(), schema: Arc::new(schema) }
    }

    /// Their schema.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// No rows yet.
    #[must_use]
    pub fn rows(&self) -> Rows {
        let columns = self.kinds.iter().map(|kind| Values::new(*kind)).collect();
        Rows { schema: self.schema(), columns, next: 0, count: 0 }
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Fingerprint(64)
            | Self::Number
            | Self::Id(IdKind::Number | IdKind::None)
            | Self::LargeId(IdKind::Number | IdKind::None) => DataType::UInt64,
            Self::Fingerprint(width) => DataType::FixedSizeBinary((width / 8).cast_signed()),
            Self::Id(IdKind::Text) => DataType::Utf8,
            Self::LargeId(IdKind::Text) => DataType::LargeUtf8,
            Self::Distance => DataType::UInt32,
            Self::Estimate => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Keys => DataType::new_list(DataType::UInt64, true),
            Self::Sketch(bytes) => DataType::FixedSizeBinary(bytes),
        }
    }
}

/// Rows of a batch that is being made. Values are pushed row by row, in the order of the columns.
#[derive(Debug)]
pub struct Rows {
    schema: SchemaRef,
    columns: Vec<Values>,
    next: usize,
    count: usize,
}

#[derive(Debug)]
enum Values {
    Bytes(FixedSizeBinaryBuilder),
    Texts(StringBuilder),
    LargeTexts(LargeStringBuilder),
    Numbers(UInt64Builder),
    Distances(UInt32Builder),
    Estimates(Float64Builder),
    Flags(BooleanBuilder),
    Keys(ListBuilder<UInt64Builder>),
}

impl Values {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Id(IdKind::Text) => Self::Texts(StringBuilder::new()),
            Kind::LargeId(IdKind::Text) => Self::LargeTexts(LargeStringBuilder::new()),
            Kind::Fingerprint(64) | Kind::Id(_) | Kind::LargeId(_) | Kind::Number => {
                Self::Numbers(UInt64Builder::new())
            }
            Kind::Fingerprint(width) => Self::Bytes(FixedSizeBinaryBuilder::new((width / 8).cast_signed())),
            Kind::Distance => Self::Distances(UInt32Builder::new()),
            Kind::Estimate => Self::Estimates(Float64Builder::new()),
            Kind::Flag => Self::Flags(BooleanBuilder::new()),
            Kind::Keys => Self::Keys(ListBuilder::new(UInt64Builder::new())),
            Kind::Sketch(bytes) => Self::Bytes(FixedSizeBinaryBuilder::new(bytes)),
        }
    }

    fn finish(mut self) -> ArrayRef {
        let values: &mut dyn ArrayBuilder = match &mut self {
            Self::Bytes(bytes) => bytes,
            Self::Texts(texts) => texts,
            Self::LargeTexts(texts) => texts,
            Self::Numbers(numbers) => numbers,
            Self::Distances(distances) => distances,
            Self::Estimates(estimates) => estimates,
            Self::Flags(flags) => flags,
            Self::Keys(lists) => lists,
        };
        values.finish()
    }
}

impl Rows {
    fn value(&mut self) -> Option<&mut Values> {
        self.next += 1;
        self.columns.get_mut(self.next - 1)
    }

    /// Pushes a fingerprint.
    #[inline]
    pub fn fingerprint<F: Fingerprint>(&mut self, fingerprint: F) {
        match self.value() {
            Some(Values::Numbers(all)) => all.append_value(fingerprint.word(0)),
            Some(Values::Bytes(all)) => {
                let mut bytes = [0; 32];
                for (number, word) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                    *word = fingerprint.word(number).to_be_bytes();
                }
                // The length is that of the column.
                let _ = all.append_value(bytes.get(..F::BYTES).unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Pushes an id, or the count that is in its place.
    #[inline]
    pub fn id(&mut self, id: &Id) {
        match (self.value(), id) {
            (Some(Values::Numbers(all)), Id::Number(number) | Id::Count(number)) => all.append_value(*number),
            (Some(Values::Texts(all)), Id::Text(text)) => all.append_value(text),
            (Some(Values::LargeTexts(all)), Id::Text(text)) => all.append_value(text),
            _ => {}
        }
    }

    /// Pushes a null in place of an id.
    pub fn no_id(&mut self) {
        match self.value() {
            Some(Values::Numbers(all)) => all.append_null(),
            Some(Values::Texts(all)) => all.append_null(),
            Some(Values::LargeTexts(all)) => all.append_null(),
            _ => {}
        }
    }

    /// Pushes a number.
    #[inline]
    pub fn number(&mut self, number: impl Into<Option<u64>>) {
        if let Some(Values::Numbers(all)) = self.value() {
            all.append_option(number.into());
        }
    }

    /// Pushes a distance.
    #[inline]
    pub fn distance(&mut self, distance: impl Into<Option<u32>>) {
        if let Some(Values::Distances(all)) = self.value() {
            all.append_option(distance.into());
        }
    }

    /// Pushes an estimate.
    #[inline]
    pub fn estimate(&mut self, estimate: Option<f64>) {
        if let Some(Values::Estimates(all)) = self.value() {
            all.append_option(estimate);
        }
    }

    /// Pushes yes or no.
    pub fn flag(&mut self, flag: bool) {
        if let Some(Values::Flags(all)) = self.value() {
            all.append_value(flag);
        }
    }

    /// Pushes the keys of a record.
    pub fn keys(&mut self, keys: &[u64]) {
        if let Some(Values::Keys(lists)) = self.value() {
            lists.values().append_slice(keys);
            lists.append(true);
        }
    }

    /// Pushes a sketch; an empty one is null.
    pub fn sketch(&mut self, sketch: &[u8]) {
        if let Some(Values::Bytes(all)) = self.value() {
            // A sketch of another length is null, too: the index has one length.
            if sketch.is_empty() || all.append_value(sketch).is_err() {
                all.append_null();
            }
        }
    }

    /// Pushes the label of a cluster: an id or a fingerprint.
    #[inline]
    pub fn label<F: Fingerprint>(&mut self, label: &Label<F>) {
        match label {
            Label::Id(id) => self.id(id),
            Label::Fingerprint(fingerprint) => self.fingerprint(*fingerprint),
        }
    }

    /// Ends the row.
    #[inline]
    pub fn end_row(&mut self) {
        self.next = 0;
        self.count += 1;
    }

    /// Whether there are enough for a batch.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.count >= BATCH
    }

    /// Number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The record batch.
    ///
    /// # Errors
    /// `Io` if columns have different lengths, which is an error of this crate.
    pub fn finish(self) -> Result<RecordBatch> {
        let columns = self.columns.into_iter().map(Values::finish).collect();
        RecordBatch::try_new(self.schema, columns).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
    }
}
