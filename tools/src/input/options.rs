//! Options that describe inputs, as given on the command line.

use std::path::PathBuf;

use anyhow::bail;

use super::format::{check_parquet, ending_of};
use super::recognise::{Content, recognise};
use super::{Digits, Format, LINE_LIMIT, Quality, Selection, Source, ToldBy};
use crate::progress::Progress;

/// Options of every program that reads fingerprints.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InputOptions {
    /// Format of the input [default: Parquet and JSON by their content, else by the extension of the name; hex for
    /// standard input]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input options")]
    pub format: Option<Format>,

    /// Character between the columns of csv, such as ';', '|' or tab; the input is then read as csv, unless its content
    /// is recognised as another format [default: a comma]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Input options")]
    pub delimiter: Option<u8>,

    /// Column of the fingerprint in json, csv and parquet input [default: fingerprint]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub fingerprint_column: Option<String>,

    /// Column of the id in json, csv and parquet input; every record must have one [default: id, if there is such a
    /// column]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub id_column: Option<String>,

    /// Notation of fingerprints in text, json, csv and in string columns of parquet. Numbers of json and parquet are
    /// values by default; negative numbers are errors with `dec` and `hex`, and all numbers are with `hex` [default:
    /// hex]
    #[arg(long, value_enum, value_name = "DIGITS", help_heading = "Input options")]
    pub fingerprint_format: Option<Digits>,

    /// Column of a quality in json, csv and parquet input, such as that of PDQ hashes, 0 to 100: records below
    /// --min-quality are skipped and counted; a record without a quality is an error
    #[arg(long, value_name = "NAME", requires = "min_quality", help_heading = "Input options")]
    pub quality_column: Option<String>,

    /// Lowest quality of the records that are read
    #[arg(
        long,
        value_name = "N",
        value_parser = finite,
        allow_negative_numbers = true,
        requires = "quality_column",
        help_heading = "Input options"
    )]
    pub min_quality: Option<f64>,

    /// Directory for a temporary file, if one is needed (for Parquet that is compressed or comes through a pipe); the
    /// system's directory by default. The program sets it from an option of its own.
    #[arg(skip)]
    pub temp_dir: Option<PathBuf>,
}

impl InputOptions {
    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        let columns = self.fingerprint_column.is_some() || self.id_column.is_some() || self.quality_column.is_some();
        self.format.is_some() || self.delimiter.is_some() || columns || self.fingerprint_format.is_some()
    }

    /// Rejects options about fingerprints for input without fingerprints.
    ///
    /// # Errors
    ///
    /// If one was given; `why` describes the input.
    pub fn check_without_fingerprints(&self, why: &str) -> anyhow::Result<()> {
        let column = self.fingerprint_column.as_ref().map(|_| "--fingerprint-column");
        let format = self.fingerprint_format.map(|_| "--fingerprint-format");
        match column.or(format).or(self.quality_column.as_ref().map(|_| "--quality-column")) {
            Some(option) => bail!("{option}: {why}"),
            None => Ok(()),
        }
    }

    /// Returns the quality below which records are skipped.
    pub(super) fn quality(&self) -> Option<Quality> {
        let (column, least) = self.quality_column.clone().zip(self.min_quality)?;
        Some(Quality { column, least })
    }

    /// Returns the format of an input: that of the option, of its content, or of its name. The content of a stream is
    /// not examined.
    ///
    /// # Errors
    ///
    /// If the format is not known, the input cannot be opened, or this build cannot read it.
    pub fn format_of(&self, source: &Source) -> anyhow::Result<Format> {
        if self.told()?.is_some() || self.is_le(source) || source.is_stream() {
            return self.settle(source, Content::Other);
        }
        let mut bytes = source.bytes(&Progress::hidden(), ToldBy::Content)?;
        // The reader reports an error, with its place.
        self.settle(source, recognise(&mut bytes.window, LINE_LIMIT).unwrap_or(Content::Nothing))
    }

    /// Returns the format of an input with this content.
    pub(super) fn settle(&self, source: &Source, content: Content) -> anyhow::Result<Format> {
        let ending = source.path().map(ending_of).unwrap_or_default();
        let format = match (self.told()?, content.format(&ending)) {
            (Some(format), _) | (None, Some(format)) => format,
            (None, None) => match (source.path().map_or(Ok(Format::Hex), Format::of), self.delimiter) {
                (Ok(Format::Hex) | Err(_), Some(_)) => Format::Csv,
                (format, _) => format?,
            },
        };
        if format == Format::Parquet {
            check_parquet(source)?;
        }
        Ok(format)
    }

    /// Returns the format that the options name.
    pub(super) fn told(&self) -> anyhow::Result<Option<Format>> {
        match (self.format, self.delimiter) {
            (Some(Format::File), _) => bail!("--format file: it is of documents, a whole file each"),
            (None | Some(Format::Csv | Format::Tsv), _) | (_, None) => Ok(self.format),
            (_, Some(_)) => bail!("--delimiter is of --format csv"),
        }
    }

    /// Whether the input is raw integers. They may begin with any bytes, so their content says nothing about the
    /// format.
    pub(super) fn is_le(&self, source: &Source) -> bool {
        let named = || source.path().is_some_and(|path| Format::of(path).is_ok_and(|format| format == Format::Le));
        self.format.map_or_else(named, |format| format == Format::Le)
    }

    /// Returns the character between columns.
    pub(super) fn delimiter_of(&self, format: Format) -> u8 {
        self.delimiter.unwrap_or(if format == Format::Tsv { b'\t' } else { b',' })
    }

    /// Returns the notation of fingerprints in this format, if the user gave one.
    pub(super) fn digits_of(&self, format: Format) -> Result<Option<Digits>, String> {
        match (format, self.fingerprint_format) {
            (Format::Le, Some(_)) => Err("--fingerprint-format: raw integers have no digits".to_owned()),
            (Format::Dec, Some(Digits::Hex)) => Err("--fingerprint-format hex contradicts --format dec".to_owned()),
            (Format::Dec, None) => Ok(Some(Digits::Dec)),
            (_, digits) => Ok(digits),
        }
    }

    /// Returns the columns of structured records.
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

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "expected a number".to_owned())
}

/// Parses the character between columns.
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, [byte]) if byte.is_ascii_punctuation() && *byte != b'"' || matches!(text, "\t" | " ") => Ok(*byte),
        _ => Err("expected one character, such as , ; | or tab".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters() {
        for (text, byte) in [("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t'), (";", b';'), ("|", b'|'), (" ", b' ')] {
            assert_eq!(delimiter(text), Ok(byte));
        }
        for text in ["", "\"", "\n", "a", "ab", "é", ";;", "\0"] {
            assert!(delimiter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_the_options_name_counts_first() {
        let options = |format, delimiter| InputOptions { format, delimiter, ..InputOptions::default() };
        let settled = |format, delimiter, name: &str, content| {
            options(format, delimiter).settle(&Source::new(name.as_ref()), content).map_err(|error| error.to_string())
        };
        let semicolon = Some(b';');
        for (format, delimiter, name, content, expected) in [
            (Some(Format::Dec), None, "a.csv", Content::Lines, Format::Dec),
            (None, None, "a.csv", Content::Lines, Format::Ndjson),
            (None, None, "a.xyz", Content::Parquet, Format::Parquet),
            (None, None, "-", Content::Array, Format::Json),
            (None, None, "a.ndjson", Content::Array, Format::Json),
            (None, None, "a.ndjson", Content::Objects, Format::Ndjson),
            (None, None, "a.json", Content::Lines, Format::Json),
            (None, None, "-", Content::Other, Format::Hex),
            (None, semicolon, "-", Content::Other, Format::Csv),
            (None, semicolon, "a.xyz", Content::Other, Format::Csv),
            (None, semicolon, "a.tsv", Content::Other, Format::Csv),
            (None, semicolon, "a.tsv", Content::Array, Format::Json),
            (Some(Format::Tsv), None, "-", Content::Other, Format::Tsv),
        ] {
            assert_eq!(settled(format, delimiter, name, content), Ok(expected), "{name}");
        }
        assert!(settled(None, None, "a.xyz", Content::Other).unwrap_err().contains("a.xyz: neither the content nor"));
        assert!(settled(Some(Format::Dec), semicolon, "-", Content::Other).unwrap_err().contains("--delimiter"));
        assert!(settled(Some(Format::File), None, "-", Content::Other).unwrap_err().contains("documents"));
        assert!(options(None, None).is_le(&Source::new("a.u64.gz".as_ref())));
        assert!(!options(Some(Format::Hex), None).is_le(&Source::new("a.u64".as_ref())));
    }
}
