//! The options that describe inputs, as typed on the command line.

use std::path::PathBuf;

use anyhow::bail;

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
        if format == Format::Parquet && !cfg!(feature = "parquet") {
            bail!(
                "{}: this program was built without Parquet; build it with: cargo install fpstore-tools --features \
                 parquet",
                source.name()
            );
        }
        Ok(format)
    }

    /// The columns that structured records are read from.
    #[must_use]
    pub fn selection(&self) -> Selection {
        Selection {
            fingerprint: self.fingerprint_column.clone().unwrap_or_else(|| "fingerprint".to_owned()),
            id: self.id_column.clone().unwrap_or_else(|| "id".to_owned()),
            id_required: self.id_column.is_some(),
        }
    }
}

/// The columns of structured input that a record is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Name of the fingerprint's column.
    pub fingerprint: String,
    /// Name of the id's column.
    pub id: String,
    /// Whether a record without that id is an error: it is when the user named the column.
    pub id_required: bool,
}
