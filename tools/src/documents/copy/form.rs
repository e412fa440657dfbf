//! The form that all inputs of a copy share, and that its output has.

use std::path::Path;

use anyhow::{Context, bail};

use crate::documents::parquet::{Shape, Whole};
use crate::documents::reader::Reader;
use crate::documents::recognised::Recognised;
use crate::documents::{DocumentFormat, Inputs};
use crate::input::Compression;
use crate::input::format::ending_of;
use crate::progress::Progress;

/// Message about inputs that are not those that were read before.
pub const CHANGED: &str = "the inputs have changed while the program ran; start it again";

/// The form of inputs and output.
#[derive(Debug)]
pub struct Form(pub(super) Kind);

/// Format of a copy.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    /// Objects, on lines or in an array.
    Json { array: bool },
    /// Rows with these names of columns, and this character between cells in the output.
    Table { names: Vec<Box<[u8]>>, delimiter: u8 },
    /// Rows with this schema.
    Parquet(Shape),
}

/// An open input.
pub(super) enum Opened {
    Text(Reader),
    Parquet(Whole),
}

impl Form {
    /// Opens all inputs, and returns the form for a copy of them to `output`.
    ///
    /// # Errors
    ///
    /// If an input cannot be read, its form differs from that of the first one, or the name of the output promises
    /// another format.
    pub fn of(inputs: &Inputs, output: &Path) -> anyhow::Result<Self> {
        let mut form: Option<(Self, String)> = None;
        for source in inputs.files() {
            let source = source?;
            let name = source.name();
            let found = Recognised::open(&source, &inputs.options, &Progress::hidden())?;
            let kind = kind(found, inputs, output)?;
            match &mut form {
                None => form = Some((Self(kind), name)),
                Some((Self(Kind::Table { names, .. }), _)) if names.is_empty() => form = Some((Self(kind), name)),
                Some((form, first)) if !form.fits(&kind) => {
                    bail!("{name}: its columns are not those of {first}, and the output has one set of columns")
                }
                Some(_) => {}
            }
        }
        Ok(form.context("there are no documents in these inputs")?.0)
    }

    /// Whether there may be a column of this name: objects need not all have the same.
    #[must_use]
    pub fn may_have(&self, column: &str) -> bool {
        match &self.0 {
            Kind::Json { .. } => true,
            Kind::Table { names, .. } => names.iter().any(|name| **name == *column.as_bytes()),
            Kind::Parquet(shape) => shape.has(column),
        }
    }

    pub(super) fn is_parquet(&self) -> bool {
        matches!(self.0, Kind::Parquet(_))
    }

    /// Opens an input again.
    pub(super) fn open(&self, found: Recognised, inputs: &Inputs, progress: &Progress) -> anyhow::Result<Opened> {
        let name = found.name().to_owned();
        let (opened, fits) = match (&self.0, found.format) {
            (Kind::Parquet(shape), DocumentFormat::Parquet) => {
                let whole = Whole::open(found, &inputs.options, progress)?;
                let fits = whole.shape() == shape;
                (Opened::Parquet(whole), fits)
            }
            (_, format) => {
                let mut reader = Reader::of(found, &inputs.options, progress)?;
                let fits = match &self.0 {
                    Kind::Table { names, .. } => is_table(format) && names_fit(names, &reader.names()?),
                    Kind::Json { .. } => !is_table(format) && format != DocumentFormat::Parquet,
                    Kind::Parquet(_) => false,
                };
                (Opened::Text(reader), fits)
            }
        };
        if fits { Ok(opened) } else { bail!("{name}: {CHANGED}") }
    }

    fn fits(&self, other: &Kind) -> bool {
        match (&self.0, other) {
            (Kind::Table { names, .. }, Kind::Table { names: others, .. }) => names_fit(names, others),
            (one, other) => one == other,
        }
    }
}

/// Whether rows have these columns; a file without any row has no columns.
fn names_fit(names: &[Box<[u8]>], found: &[Box<[u8]>]) -> bool {
    found.is_empty() || names == found
}

fn is_table(format: DocumentFormat) -> bool {
    matches!(format, DocumentFormat::Csv | DocumentFormat::Tsv)
}

/// Returns the kind of an input, for this output.
fn kind(found: Recognised, inputs: &Inputs, output: &Path) -> anyhow::Result<Kind> {
    let ending = ending_of(output);
    let (what, endings): (_, &[&str]) = match found.format {
        DocumentFormat::Ndjson | DocumentFormat::Json => ("JSON", &["ndjson", "jsonl", "json"]),
        DocumentFormat::File => ("a whole document", &["ndjson", "jsonl", "json"]),
        DocumentFormat::Csv | DocumentFormat::Tsv => ("a table", &["csv", "tsv"]),
        DocumentFormat::Parquet => ("Parquet", &["parquet"]),
    };
    if !endings.contains(&ending.as_str()) {
        bail!(
            "--output {}: the output has the format of the inputs, and {} is {what}; give it a name that ends in .{}",
            output.display(),
            found.name(),
            endings.join(" or .")
        );
    }
    if ending == "parquet" && Compression::of(output) != Compression::None {
        bail!("--output {}: Parquet is compressed by itself; leave the second ending off", output.display());
    }
    let progress = Progress::hidden();
    Ok(match found.format {
        DocumentFormat::Parquet => Kind::Parquet(Whole::open(found, &inputs.options, &progress)?.into_shape()),
        DocumentFormat::Csv | DocumentFormat::Tsv => {
            let of_output = if ending == "tsv" { DocumentFormat::Tsv } else { DocumentFormat::Csv };
            let delimiter = inputs.options.delimiter_of(of_output);
            Kind::Table { names: Reader::of(found, &inputs.options, &progress)?.names()?, delimiter }
        }
        _ => Kind::Json { array: ending == "json" },
    })
}
