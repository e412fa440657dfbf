//! The options that describe inputs, as typed on the command line.

use std::path::PathBuf;

use super::format::check_parquet;
use super::{Format, Source};

/// Options of every program that reads fingerprints.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InputOptions {
    /// Format of the input [default: by the ending of its name; hex for standard input]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input options")]
    pub format: Option<Format>,

    /// Column of the fingerprint in ndjson, csv and parquet input [default: fingerprint]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub fingerprint_column: Option<String>,

    /// Column of the id in ndjson, csv and parquet input; every record must have it [default: id, where there is one]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub id_column: Option<String>,

    /// Where a temporary file goes if one is needed (Parquet that is compressed or comes through a pipe); the system's
    /// place for them if there is none. The program sets it from an option of its own.
    #[arg(skip)]
    pub temp_dir: Option<PathBuf>,
}

impl InputOptions {
    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        self.format.is_some() || self.fingerprint_column.is_some() || self.id_column.is_some()
    }

    /// The format of an input: the option's, or what its name says.
    ///
    /// # Errors
    ///
    /// When neither tells, or this build cannot read it.
    pub fn format_of(&self, source: &Source) -> anyhow::Result<Format> {
        let format = match (self.format, source) {
            (Some(format), _) => format,
            (None, Source::Standard) => Format::Hex,
            (None, Source::File(path)) => Format::of(path)?,
        };
        if format == Format::Parquet {
            check_parquet(source)?;
        }
        Ok(format)
    }

    /// The columns that structured records are read from.
    #[must_use]
    pub fn selection(&self) -> Selection {
        Selection {
            value: self.fingerprint_column.clone().unwrap_or_else(|| "fingerprint".to_owned()),
            id: self.id_column.clone().unwrap_or_else(|| "id".to_owned()),
            id_required: self.id_column.is_some(),
            hint: "",
        }
    }
}

/// The columns of structured input that a record is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Name of the column of what a record is about: its fingerprint, or what a document says.
    pub value: String,
    /// Name of the id's column.
    pub id: String,
    /// Whether a record without that id is an error: it is when the user named the column.
    pub id_required: bool,
    /// What a message says behind that there is no such column as `value`.
    pub hint: &'static str,
}

impl Selection {
    /// A record has not what it is about.
    pub(crate) fn no_value(&self) -> String {
        format!("there is no \"{}\"{}", self.value, self.hint)
    }

    /// Refuses a record without an id where one is required.
    pub(crate) fn check_id(&self, is_none: bool) -> Result<(), String> {
        if is_none && self.id_required { Err(format!("there is no \"{}\"", self.id)) } else { Ok(()) }
    }

    /// Numbers of the two columns, found by their names; `columns` lists those that there are.
    pub(crate) fn find(
        &self,
        number: impl Fn(&str) -> Result<Option<usize>, String>,
        columns: impl Fn() -> String,
    ) -> Result<(usize, Option<usize>), String> {
        let (value, id) = (number(&self.value)?, number(&self.id)?);
        let value = value.ok_or_else(|| no_column(&self.value, &columns()) + self.hint)?;
        if id.is_none() && self.id_required {
            return Err(no_column(&self.id, &columns()));
        }
        Ok((value, id))
    }
}

/// A column that is wanted is not among those that there are.
pub(super) fn no_column(name: &str, columns: &str) -> String {
    format!("there is no column \"{name}\"; the columns are {columns}")
}
