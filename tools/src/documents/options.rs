//! Options that describe documents, as given on the command line.

use std::path::PathBuf;
use std::{fmt, io};

use anyhow::bail;
use clap::ValueEnum;

use super::DOCUMENT_LIMIT;
use super::content::{Columns, Kind};
use crate::input::format::{check_parquet, ending_of};
use crate::input::options::delimiter;
use crate::input::recognise::{Content, recognise};
use crate::input::selection::list;
use crate::input::values::first;
use crate::input::window::Window;
use crate::input::window::reading;
use crate::input::{Format, InputOptions, Selection, Source, ToldBy, object};
use crate::progress::Progress;

/// Extensions of texts, which are one document whatever they begin with.
const TEXTS: [&str; 12] =
    ["txt", "text", "md", "markdown", "rst", "adoc", "tex", "html", "htm", "xhtml", "xml", "mediawiki"];

/// Format of the documents in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// A JSON object a line
    Ndjson,
    /// An array of JSON objects, or objects one after another that may be longer than a line
    Json,
    /// A row of columns, which are named in the first row
    Csv,
    /// Like csv, with a TAB between the columns
    Tsv,
    /// A Parquet file
    Parquet,
    /// The whole file is one document, and its path is the id
    File,
}

impl DocumentFormat {
    /// Converts the `--format` of a program that also reads fingerprints; an error if documents have no such format.
    fn asked(format: Option<Format>) -> anyhow::Result<Option<Self>> {
        Ok(Some(match format {
            None => return Ok(None),
            Some(Format::Ndjson) => Self::Ndjson,
            Some(Format::Json) => Self::Json,
            Some(Format::Csv) => Self::Csv,
            Some(Format::Tsv) => Self::Tsv,
            Some(Format::Parquet) => Self::Parquet,
            Some(Format::File) => Self::File,
            Some(Format::Hex | Format::Dec | Format::Le) => {
                bail!("--format: documents are ndjson, json, csv, tsv or parquet, or one file each (--format file)")
            }
        }))
    }

    /// Returns the format of records that an extension implies.
    fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Options of every program that reads documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DocumentOptions {
    /// Format of the input [default: Parquet and JSON by their content, else by the extension of the name, .ndjson
    /// .jsonl .json .csv .tsv .parquet; any other file is one document, unless it holds JSON objects with a text]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input options")]
    pub format: Option<DocumentFormat>,

    /// Character between the columns of csv, such as ';', '|' or tab [default: a comma; for tsv a TAB]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Input options")]
    pub delimiter: Option<u8>,

    /// Column of the id in json, csv and parquet input; every document must have one [default: id, if there is such a
    /// column]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub id_column: Option<String>,

    /// Column of the text in json, csv and parquet input [default: text]
    #[arg(long, value_name = "NAME", help_heading = "Input options")]
    pub text_column: Option<String>,

    /// Column of ready-made tokens, in place of a text: an array of strings, each one feature (json, parquet)
    #[arg(long, value_name = "NAME", conflicts_with = "text_column", help_heading = "Input options")]
    pub tokens_column: Option<String>,

    /// Directory for a temporary file, if one is needed (for Parquet that is compressed or comes through a pipe); the
    /// system's directory by default. The program sets it from an option of its own.
    #[arg(skip)]
    pub temp_dir: Option<PathBuf>,
}

impl DocumentOptions {
    /// Converts the options of a program that also reads fingerprints and was called with `--text`.
    ///
    /// # Errors
    ///
    /// If documents have no such format, or an option about fingerprints was given.
    pub fn of_text(
        options: &InputOptions,
        text_column: Option<&String>,
        tokens_column: Option<&String>,
    ) -> anyhow::Result<Self> {
        let format = DocumentFormat::asked(options.format)?;
        options.check_without_fingerprints("with --text fingerprints are made of documents")?;
        Ok(Self {
            format,
            delimiter: options.delimiter,
            id_column: options.id_column.clone(),
            text_column: text_column.cloned(),
            tokens_column: tokens_column.cloned(),
            temp_dir: None,
        })
    }

    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        self.format.is_some() || self.delimiter.is_some() || self.column().is_some()
    }

    /// Checks an input that is not a directory, as far as possible without reading a stream.
    pub(super) fn check(&self, source: &Source) -> anyhow::Result<()> {
        if source.is_stream() {
            let ending = source.path().map(ending_of).unwrap_or_default();
            let known = self.told()?.or_else(|| DocumentFormat::of_ending(&ending));
            return known.map_or(Ok(()), |format| self.fits(source, format));
        }
        let mut bytes = source.bytes(&Progress::hidden(), ToldBy::Content)?;
        match self.recognise(source, &mut bytes.window) {
            // The reader reports the error after the documents before it.
            Err(error) if error.is::<Unreadable>() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Returns the format of an input: that of the option, of its content, or of its name.
    ///
    /// # Errors
    ///
    /// If the format is not known, the input or the format cannot be read, or it has no columns where the options name
    /// one.
    pub(super) fn recognise(&self, source: &Source, window: &mut Window) -> anyhow::Result<DocumentFormat> {
        let format = match self.told()? {
            Some(format) => format,
            None => self.look(source, window)?,
        };
        self.fits(source, format)?;
        Ok(format)
    }

    /// Recognises the format of an input for which the options name none.
    fn look(&self, source: &Source, window: &mut Window) -> anyhow::Result<DocumentFormat> {
        use DocumentFormat::{Csv, File, Json, Ndjson, Parquet};
        let unreadable = |error: io::Error| Unreadable(format!("{}: {}", source.name(), reading(&error)));
        let content = recognise(window, DOCUMENT_LIMIT).map_err(unreadable)?;
        let ending = source.path().map(ending_of).unwrap_or_default();
        let found = content.format(&ending).and_then(|format| DocumentFormat::asked(Some(format)).ok().flatten());
        Ok(match (found, DocumentFormat::of_ending(&ending)) {
            (Some(Parquet), _) => Parquet,
            (Some(found), Some(named)) => {
                if named == Json
                    && let Some((object, true)) = first(window, DOCUMENT_LIMIT).map_err(unreadable)?
                {
                    self.check_single(source, object)?;
                }
                found
            }
            (None, Some(named)) => named,
            (Some(found), None) if source.is_stream() => found,
            (Some(found), None) if !TEXTS.contains(&ending.as_str()) => {
                let first = first(window, DOCUMENT_LIMIT).map_err(unreadable)?;
                let has = |object| object::keys(object).contains(&self.columns().selection.value);
                if first.is_some_and(|(object, _)| has(object)) { found } else { File }
            }
            (None, None) if content == Content::Nothing && source.is_stream() => Ndjson,
            (None, None) if self.delimiter.is_some() => Csv,
            (None, None) if source.is_stream() => bail!(
                "{}: what comes is neither JSON nor Parquet; say --format csv or tsv for rows with names of columns, \
                 or \
                 --format file for one document",
                source.name()
            ),
            _ => File,
        })
    }

    /// Whether a file that is read as one document, because of its name or because no column of text was found, begins
    /// with several JSON objects.
    pub(super) fn is_doubtful(&self, window: &mut Window) -> bool {
        let objects = |content| matches!(content, Content::Lines | Content::Objects | Content::Array);
        if self.format.is_some() || !recognise(window, DOCUMENT_LIMIT).is_ok_and(objects) {
            return false;
        }
        first(window, DOCUMENT_LIMIT).is_ok_and(|found| found.is_some_and(|(_, alone)| !alone))
    }

    /// Rejects a file that is one JSON object without a text, such as a configuration.
    fn check_single(&self, source: &Source, object: &[u8]) -> anyhow::Result<()> {
        let Selection { value, hint, .. } = self.columns().selection;
        let keys = object::keys(object);
        if keys.is_empty() || keys.contains(&value) {
            return Ok(());
        }
        bail!(
            "{}: there is no \"{value}\" in its one object; the columns are {}{hint}, or say --format file if the \
             whole file \
             is a document",
            source.name(),
            list(&keys)
        )
    }

    /// Returns the format that the option names.
    fn told(&self) -> anyhow::Result<Option<DocumentFormat>> {
        match (self.format, self.delimiter) {
            (None | Some(DocumentFormat::Csv | DocumentFormat::Tsv), _) | (_, None) => Ok(self.format),
            (_, Some(_)) => bail!("--delimiter is of --format csv"),
        }
    }

    /// Returns the character between columns.
    pub(super) fn delimiter_of(&self, format: DocumentFormat) -> u8 {
        self.delimiter.unwrap_or(if format == DocumentFormat::Tsv { b'\t' } else { b',' })
    }

    /// Rejects a format that this build cannot read, or that has no columns although the options name one.
    fn fits(&self, source: &Source, format: DocumentFormat) -> anyhow::Result<()> {
        match format {
            DocumentFormat::Parquet => check_parquet(source),
            DocumentFormat::Csv | DocumentFormat::Tsv if self.tokens_column.is_some() => {
                bail!("{}: a cell of CSV holds no array; --tokens-column needs ndjson or parquet input", source.name())
            }
            DocumentFormat::File => self.check_whole(source),
            _ => Ok(()),
        }
    }

    /// Rejects options of columns for an input without columns.
    fn check_whole(&self, source: &Source) -> anyhow::Result<()> {
        let Some(option) = self.column() else { return Ok(()) };
        bail!(
            "{} would be read as documents that are whole files, which have no columns; leave {option} out, or say \
             --format ndjson|csv|parquet",
            source.name()
        )
    }

    /// Returns the given option that names a column.
    fn column(&self) -> Option<&'static str> {
        let columns = [
            ("--text-column", &self.text_column),
            ("--tokens-column", &self.tokens_column),
            ("--id-column", &self.id_column),
        ];
        columns.into_iter().find(|(_, name)| name.is_some()).map(|(option, _)| option)
    }

    /// Returns the columns that documents are read from.
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

/// The error of an input that cannot be read.
#[derive(Debug)]
struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the format of an input with that name and content.
    fn told(options: &DocumentOptions, name: &str, content: &str) -> Result<DocumentFormat, String> {
        let mut window = Window::new(Box::new(io::Cursor::new(content.as_bytes().to_vec())));
        options.recognise(&Source::new(name.as_ref()), &mut window).map_err(|error| error.to_string())
    }

    #[test]
    fn formats_by_content_and_name() {
        use DocumentFormat::{Csv, File, Json, Ndjson, Parquet, Tsv};
        let plain = DocumentOptions::default();
        let (lines, pretty) = ("{\"text\":\"a\"}\n", "{\n\"text\": \"a\"\n}\n");
        let (array, other) = ("[{\"text\":\"a\"}]", "{\"body\":1}");
        for (name, content, format) in [
            ("a.ndjson", "", Ndjson),
            ("a.JSONL.gz", lines, Ndjson),
            ("a.jsonl", array, Json),
            ("a.ndjson", pretty, Ndjson),
            ("a.json", lines, Json),
            ("a.json", "", Json),
            ("a.json", "{\"body\":1}\n{\"text\":\"\"}", Json),
            ("a.csv.zst", "text", Csv),
            ("a.csv", array, Json),
            ("a.tsv", "text\tid", Tsv),
            ("a.parquet.gz", "", Parquet),
            ("a", "PAR1\u{15}", Parquet),
            ("dir.csv/a", "text", File),
            ("a", "", File),
            ("a", lines, Ndjson),
            ("a.gz", pretty, Json),
            ("a.log", array, Json),
            ("a.log", other, File),
            ("a.log", "[{}]", File),
            ("a.txt", lines, File),
            ("a.md", "PAR1 is", File),
            ("-", lines, Ndjson),
            ("-", other, Ndjson),
            ("-", pretty, Json),
            ("/dev/fd/63", array, Json),
            ("-", "", Ndjson),
            ("-", "PAR1\u{15}", Parquet),
        ] {
            assert_eq!(told(&plain, name, content), Ok(format), "{name} {content}");
        }
        for name in ["-", "/dev/fd/63"] {
            let error = told(&plain, name, "# A text\n\nof some lines").unwrap_err();
            assert!(error.contains("neither JSON nor Parquet; say --format csv or tsv"), "{error}");
        }
        let whole = DocumentOptions { format: Some(File), ..DocumentOptions::default() };
        assert!(["-", "a.ndjson"].iter().all(|name| told(&whole, name, lines) == Ok(File)));
        let columns = DocumentOptions { delimiter: Some(b';'), ..DocumentOptions::default() };
        assert!(["-", "a.csv", "a"].iter().all(|name| told(&columns, name, "text;id") == Ok(Csv)));
        let contradiction = DocumentOptions { format: Some(File), ..columns };
        assert!(told(&contradiction, "-", "").unwrap_err().contains("--delimiter"));
    }

    #[test]
    fn one_object_without_a_text_is_no_document() {
        let error =
            told(&DocumentOptions::default(), "package.json", "{\n\"name\": \"x\",\n\"main\": 1}\n").unwrap_err();
        assert_eq!(
            error,
            "package.json: there is no \"text\" in its one object; the columns are 'main', 'name'; name the column \
             with \
             --text-column, or say --format file if the whole file is a document"
        );
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
                "a.txt",
                "a.txt would be read as documents that are whole files, which have no columns; leave --text-column \
                 out, or say --format ndjson|csv|parquet",
            ),
        ] {
            assert_eq!(told(options, name, "x").unwrap_err(), expected);
        }
        assert!(told(&tokens, "a", "x").unwrap_err().contains("leave --tokens-column out"));
        assert!(told(&id, "a", "x").unwrap_err().contains("leave --id-column out"));
        for options in [&tokens, &text, &id] {
            assert!(options.any() && told(options, "a.jsonl", "{}").is_ok());
        }
        assert!(ndjson.any() && !DocumentOptions::default().any());
    }
}
