//! The options that describe inputs, as typed on the command line.

use std::path::PathBuf;

use anyhow::bail;

use super::format::{check_parquet, ending_of};
use super::recognise::{Content, recognise};
use super::{Digits, Format, LINE_LIMIT, Quality, Selection, Source, ToldBy};
use crate::progress::Progress;

/// Options of every program that reads fingerprints.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InputOptions {
    /// Format of the input [default: Parquet and JSON by their content, else by the ending of the name; hex for standard input]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input options")]
    pub format: Option<Format>,

    /// What stands between the columns of csv, one character, such as ';', '|' or tab; the input is csv then, unless its content
    /// says otherwise [default: a comma]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Input options")]
    pub delimiter: Option<u8>,

    /// Column of the fingerprint in json, csv and parquet input [default: fingerprint]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub fingerprint_column: Option<String>,

    /// Column of the id in json, csv and parquet input; every record must have it [default: id, where there is one]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub id_column: Option<String>,

    /// How fingerprints are written in text, json, csv and in texts of parquet. Numbers of json and parquet are numbers
    /// unless told; with `dec` and `hex` negative ones, and with `hex` all, are errors [default: hex]
    #[arg(long, value_enum, value_name = "DIGITS", help_heading = "Input options")]
    pub fingerprint_format: Option<Digits>,

    /// Column of a quality in json, csv and parquet input, such as that of PDQ hashes, 0 to 100: records below
    /// --min-quality are passed over and counted; one without a quality is an error
    #[arg(long, value_name = "NAME", requires = "min_quality", help_heading = "Input options")]
    pub quality_column: Option<String>,

    /// The least quality of a record that is taken
    #[arg(
        long,
        value_name = "N",
        value_parser = finite,
        allow_negative_numbers = true,
        requires = "quality_column",
        help_heading = "Input options"
    )]
    pub min_quality: Option<f64>,

    /// Where a temporary file goes if one is needed (Parquet that is compressed or comes through a pipe); the system's
    /// place for them if there is none. The program sets it from an option of its own.
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

    /// Refuses options that are about fingerprints, of input that has none.
    ///
    /// # Errors
    ///
    /// When one was given; `why` says what the input is.
    pub fn check_without_fingerprints(&self, why: &str) -> anyhow::Result<()> {
        let column = self.fingerprint_column.as_ref().map(|_| "--fingerprint-column");
        let format = self.fingerprint_format.map(|_| "--fingerprint-format");
        match column.or(format).or(self.quality_column.as_ref().map(|_| "--quality-column")) {
            Some(option) => bail!("{option}: {why}"),
            None => Ok(()),
        }
    }

    /// Which records are passed over, if any.
    pub(super) fn quality(&self) -> Option<Quality> {
        let (column, least) = self.quality_column.clone().zip(self.min_quality)?;
        Some(Quality { column, least })
    }

    /// The format of an input: the option's, what its content says, or what its name says. A stream is not looked into.
    ///
    /// # Errors
    ///
    /// When nothing tells, it cannot be opened, or this build cannot read it.
    pub fn format_of(&self, source: &Source) -> anyhow::Result<Format> {
        if self.told()?.is_some() || self.is_le(source) || source.is_stream() {
            return self.settle(source, Content::Other);
        }
        let mut bytes = source.bytes(&Progress::hidden(), ToldBy::Content)?;
        // Reading will tell what is wrong, and where.
        self.settle(source, recognise(&mut bytes.window, LINE_LIMIT).unwrap_or(Content::Nothing))
    }

    /// The same of an input that holds this.
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

    /// The format that the options name.
    pub(super) fn told(&self) -> anyhow::Result<Option<Format>> {
        match (self.format, self.delimiter) {
            (Some(Format::File), _) => bail!("--format file: it is of documents, a whole file each"),
            (None | Some(Format::Csv | Format::Tsv), _) | (_, None) => Ok(self.format),
            (_, Some(_)) => bail!("--delimiter is of --format csv"),
        }
    }

    /// Whether the input is raw integers, which may begin with any bytes: what stands in them tells nothing.
    pub(super) fn is_le(&self, source: &Source) -> bool {
        let named = || source.path().is_some_and(|path| Format::of(path).is_ok_and(|format| format == Format::Le));
        self.format.map_or_else(named, |format| format == Format::Le)
    }

    /// What stands between columns.
    pub(super) fn delimiter_of(&self, format: Format) -> u8 {
        self.delimiter.unwrap_or(if format == Format::Tsv { b'\t' } else { b',' })
    }

    /// How fingerprints are written in input of this format, if the user says it.
    pub(super) fn digits_of(&self, format: Format) -> Result<Option<Digits>, String> {
        match (format, self.fingerprint_format) {
            (Format::Le, Some(_)) => Err("--fingerprint-format: raw integers have no digits".to_owned()),
            (Format::Dec, Some(Digits::Hex)) => Err("--fingerprint-format hex contradicts --format dec".to_owned()),
            (Format::Dec, None) => Ok(Some(Digits::Dec)),
            (_, digits) => Ok(digits),
        }
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

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "expected a number".to_owned())
}

/// What stands between columns, as it is typed.
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
