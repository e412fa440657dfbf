//! The options that describe documents, as typed on the command line.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::content::{Columns, Kind};
use crate::input::format::{check_parquet, ending_of};
use crate::input::{Selection, Source};

/// How documents are written in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// A JSON object a line
    Ndjson,
    /// A row of columns, which are named in the first row
    Csv,
    /// A Parquet file
    Parquet,
    /// The whole file is one document, and its path is the id
    File,
}

impl DocumentFormat {
    /// What the ending of the name says, below `.gz` or `.zst`. Any other file is one document.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match ending_of(path).as_str() {
            "ndjson" | "jsonl" => Self::Ndjson,
            "csv" => Self::Csv,
            "parquet" => Self::Parquet,
            _ => Self::File,
        }
    }
}

/// Options of every program that reads documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DocumentOptions {
    /// Format of the input [default: by the ending of its name, .ndjson .jsonl .csv .parquet; any other file is one
    /// document; ndjson for standard input]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input options")]
    pub format: Option<DocumentFormat>,

    /// Column of the id in ndjson, csv and parquet input; every document must have it [default: id, where there is one]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub id_column: Option<String>,

    /// Column of the text in ndjson, csv and parquet input [default: text]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub text_column: Option<String>,

    /// Column of ready-made tokens, in place of a text: an array of strings, each one feature (ndjson, parquet)
    #[arg(long, value_name = "NAME", conflicts_with = "text_column", help_heading = "Input options")]
    pub tokens_column: Option<String>,

    /// Where a temporary file goes if one is needed (Parquet that is compressed or comes through a pipe); the system's
    /// place for them if there is none. The program sets it from an option of its own.
    #[arg(skip)]
    pub temp_dir: Option<PathBuf>,
}

impl DocumentOptions {
    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        self.format.is_some() || self.column().is_some()
    }

    /// The format of an input that is no directory: the option's, or what its name says.
    ///
    /// # Errors
    ///
    /// When this build cannot read it, or it has no such columns as the options name.
    pub fn format_of(&self, source: &Source) -> anyhow::Result<DocumentFormat> {
        let format = match (self.format, source) {
            (Some(format), _) => format,
            (None, Source::Standard) => DocumentFormat::Ndjson,
            (None, Source::File(path)) => DocumentFormat::of(path),
        };
        match format {
            DocumentFormat::Parquet => check_parquet(source)?,
            DocumentFormat::Csv if self.tokens_column.is_some() => {
                bail!("{}: a cell of CSV holds no array; --tokens-column needs ndjson or parquet input", source.name())
            }
            DocumentFormat::File => self.check_whole(source)?,
            DocumentFormat::Ndjson | DocumentFormat::Csv => {}
        }
        Ok(format)
    }

    /// Refuses a directory if its files cannot be one document each.
    pub(super) fn check_directory(&self, source: &Source) -> anyhow::Result<()> {
        if self.format.is_some_and(|format| format != DocumentFormat::File) {
            bail!(
                "{} is a directory, whose files are one document each whatever their names; leave --format away, or \
                 name the files",
                source.name()
            );
        }
        self.check_whole(source)
    }

    /// Refuses columns where there are none.
    fn check_whole(&self, source: &Source) -> anyhow::Result<()> {
        let Some(option) = self.column() else { return Ok(()) };
        bail!(
            "{} would be read as documents that are whole files, which have no columns; leave {option} away, or say \
             --format ndjson|csv|parquet",
            source.name()
        )
    }

    /// An option that names a column and was given.
    fn column(&self) -> Option<&'static str> {
        let columns = [
            ("--text-column", &self.text_column),
            ("--tokens-column", &self.tokens_column),
            ("--id-column", &self.id_column),
        ];
        columns.into_iter().find(|(_, name)| name.is_some()).map(|(option, _)| option)
    }

    /// The columns that documents are read from.
    pub(super) fn columns(&self) -> Columns {
        let (kind, value, hint) = match (&self.tokens_column, &self.text_column) {
            (Some(tokens), _) => (Kind::Tokens, tokens.clone(), "; name the column with --tokens-column"),
            (None, Some(text)) => (Kind::Text, text.clone(), "; name the column with --text-column"),
            (None, None) => (Kind::Text, "text".to_owned(), "; name the column with --text-column"),
        };
        let id = self.id_column.clone().unwrap_or_else(|| "id".to_owned());
        Columns { kind, selection: Selection { value, id, id_required: self.id_column.is_some(), hint } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Source {
        Source::File(name.into())
    }

    #[test]
    fn formats_by_name() {
        use DocumentFormat::{Csv, File, Ndjson, Parquet};
        let of = |name: &str| DocumentOptions::default().format_of(&Source::new(name.as_ref())).unwrap();
        for (name, format) in [
            ("-", Ndjson),
            ("a.ndjson", Ndjson),
            ("a.JSONL.gz", Ndjson),
            ("a.csv.zst", Csv),
            ("dir.csv/a", File),
            ("a.txt", File),
            ("a.json.gz", File),
            ("a.gz", File),
            ("/dev/fd/63", File),
        ] {
            assert_eq!(of(name), format, "{name}");
        }
        assert_eq!(DocumentFormat::of(Path::new("a.parquet.gz")), Parquet);
        let options = DocumentOptions { format: Some(File), ..DocumentOptions::default() };
        assert!([Source::Standard, file("a.ndjson")].iter().all(|source| options.format_of(source).unwrap() == File));
    }

    #[test]
    fn columns_where_there_are_none() {
        let tokens = DocumentOptions { tokens_column: Some("words".into()), ..DocumentOptions::default() };
        let text = DocumentOptions { text_column: Some("body".into()), ..DocumentOptions::default() };
        let id = DocumentOptions { id_column: Some("url".into()), ..DocumentOptions::default() };
        let ndjson = DocumentOptions { format: Some(DocumentFormat::Ndjson), ..DocumentOptions::default() };
        for (options, name, expected) in [
            (&tokens, "a.csv", "a.csv: a cell of CSV holds no array; --tokens-column needs ndjson or parquet input"),
            (
                &text,
                "a.json",
                "a.json would be read as documents that are whole files, which have no columns; leave --text-column \
                 away, or say --format ndjson|csv|parquet",
            ),
        ] {
            assert_eq!(options.format_of(&file(name)).unwrap_err().to_string(), expected);
        }
        assert!(tokens.format_of(&file("a")).unwrap_err().to_string().contains("leave --tokens-column away"));
        assert!(id.check_directory(&file("a")).unwrap_err().to_string().contains("leave --id-column away"));
        assert!(ndjson.check_directory(&file("a")).unwrap_err().to_string().starts_with("a is a directory, whose"));
        assert!(DocumentOptions::default().check_directory(&file("a")).is_ok());
        for options in [&tokens, &text, &id] {
            assert!(options.any() && options.format_of(&file("a.jsonl")).is_ok());
        }
        assert!(ndjson.any() && !DocumentOptions::default().any());
    }
}
