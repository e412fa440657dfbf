//! The options that describe inputs, as typed on the command line.

use super::{Format, Source};

/// Options of every program that reads fingerprints.
#[derive(Clone, Debug, clap::Args)]
pub struct InputOptions {
    /// Format of the input [default: by the ending of its name; hex for standard input]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input options")]
    pub format: Option<Format>,

    /// Key of the fingerprint in ndjson input [default: fingerprint]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub fingerprint_column: Option<String>,

    /// Key of the id in ndjson input; every record must have it [default: id, where there is one]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub id_column: Option<String>,
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
    /// When neither tells.
    pub fn format_of(&self, source: &Source) -> anyhow::Result<Format> {
        match (self.format, source) {
            (Some(format), _) => Ok(format),
            (None, Source::Standard) => Ok(Format::Hex),
            (None, Source::File(path)) => Format::of(path),
        }
    }

    /// The columns that ndjson records are read from.
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
