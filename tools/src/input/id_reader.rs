//! Reads ids alone: one a line, or a column of csv, ndjson or parquet.

use std::sync::Arc;

use anyhow::bail;
use fpstore::IdRef;

use super::csv::{Rows, Table};
use super::format::check_parquet;
use super::lines::Lines;
use super::object::{self, IdValue};
use super::opened::Recognised;
use super::parquet::{Batches, IdColumn};
use super::reader::warn_of_none;
use super::source::Opened;
use super::stream::Stream;
use super::values::Values;
use super::{Format, IdRule, InputOptions, LINE_LIMIT, RawId, Selection, Source, ndjson};
use crate::progress::Progress;

/// The ids of one input, in order.
#[derive(Debug)]
pub struct IdReader {
    name: Arc<str>,
    selection: Selection,
    stream: Stream<IdColumn>,
}

impl IdReader {
    /// Opens an input. The column of the ids takes the place of the fingerprint's.
    ///
    /// # Errors
    ///
    /// If the input cannot be opened, or its format has no ids.
    pub fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        let of_fingerprints = options.selection();
        let selection = Selection { value: of_fingerprints.id.clone(), id_required: false, ..of_fingerprints };
        source.hint("ids");
        let Recognised { bytes, header, format } = Recognised::open(source, options, progress)?;
        let (window, plain) = (bytes.window, bytes.plain);
        let stream = match format {
            Format::Hex | Format::Dec => Stream::Lines(Lines::new(window, LINE_LIMIT)),
            Format::Ndjson => Stream::Ndjson(Lines::new(window, LINE_LIMIT)),
            Format::Json => Stream::Json(Values::new(window, LINE_LIMIT)),
            Format::Csv | Format::Tsv => {
                let rows = Rows::new(window, options.delimiter_of(format), LINE_LIMIT);
                Stream::Csv(Box::new(Table::new(rows, selection.clone(), header.is_some())))
            }
            Format::Parquet => {
                check_parquet(source)?;
                let (bytes, temp_dir) = (Opened { window, plain }, options.temp_dir.as_deref());
                Stream::Parquet(Box::new(Batches::<IdColumn>::open(source, bytes, &selection.id, temp_dir, progress)?))
            }
            Format::Le => bail!("{}: raw integers are fingerprints, not ids", source.name()),
            Format::File => bail!("{}: whole files are documents, not ids", source.name()),
        };
        Ok(Self { name: source.name().into(), selection, stream })
    }

    /// Calls `take` with each id, as converted by the rule.
    ///
    /// # Errors
    ///
    /// If an id is missing or the rule rejects it, with the place; errors of `take` unchanged.
    pub fn each(
        mut self,
        rule: &mut IdRule,
        mut take: impl FnMut(IdRef<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (mut unescaped, mut any) = (String::new(), false);
        while self.stream.advance().map_err(|message| self.stream.place(&self.name).error(message))? {
            let id = match &self.stream {
                Stream::Lines(lines) => alone(lines.line()),
                Stream::Ndjson(lines) => self.of_object(lines.line(), &mut unescaped),
                Stream::Json(values) => self.of_object(values.value(), &mut unescaped),
                Stream::Csv(table) => table.record().and_then(|(id, _)| present(RawId::Text(id))),
                Stream::Parquet(rows) => rows.id().and_then(present),
            };
            match id.and_then(|id| rule.check(id)) {
                Ok(id) => take(id)?,
                Err(message) => return Err(self.stream.place(&self.name).error(message)),
            }
            any = true;
        }
        warn_of_none(&self.name, &mut any);
        Ok(())
    }

    fn of_object<'a>(&self, object: &'a [u8], unescaped: &'a mut String) -> Result<RawId<'a>, String> {
        let (id, _) = object::record(object, &self.selection, IdValue)?;
        Ok(ndjson::raw_id(id, unescaped))
    }
}

/// Parses a line that is an id.
fn alone(line: &[u8]) -> Result<RawId<'_>, String> {
    if memchr::memchr(b'\t', line).is_some() {
        return Err("expected an id alone, found more than one column; lines of a fingerprint and its id go without \
                    --by-id"
            .to_owned());
    }
    Ok(RawId::Text(line))
}

fn present(id: RawId<'_>) -> Result<RawId<'_>, String> {
    match id {
        RawId::None | RawId::Text([]) => Err("there is no id".to_owned()),
        id => Ok(id),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ids, InputOptions};
    use super::*;
    use fpstore::IdKind;

    fn read(name: &str, content: &[u8], kind: IdKind, column: Option<&str>) -> Result<Vec<String>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        let options = InputOptions { id_column: column.map(str::to_owned), ..InputOptions::default() };
        let mut ids = Vec::new();
        let reader = IdReader::open(&Source::File(path), &options, &Progress::hidden());
        let read = reader.and_then(|reader| {
            reader.each(&mut IdRule::new(Ids::Is(kind)), |id| {
                ids.push(format!("{id:?}"));
                Ok(())
            })
        });
        read.map(|()| ids).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn lines_and_columns() {
        let numbers = Ok(["Number(7)", "Number(8)"].map(str::to_owned).to_vec());
        let texts = Ok(["Text(\"7\")", "Text(\"#/a b\")"].map(str::to_owned).to_vec());
        for (name, content, column) in [
            ("a.txt", "\u{feff}7\r\n\r\n8", None),
            ("a", "7\n8\n", None),
            ("a.csv", "x,id\n,7\n,8\n", None),
            ("a.csv", "id,url\nx,7\nx,8\n", Some("url")),
            ("a.ndjson", "{\"id\":7}\n\n{\"id\":\"8\",\"fingerprint\":1}\n", None),
            ("a.ndjson", "{\"n\":7,\"id\":[1]}\n{\"n\":8}\n", Some("n")),
        ] {
            assert_eq!(read(name, content.as_bytes(), IdKind::Number, column), numbers, "{name}");
        }
        for (name, content) in
            [("a.tsv", "7\n#/a b\n"), ("a.csv", "id\n7\n#/a b\n"), ("a.ndjson", "{\"id\":7}\n{\"id\":\"#\\/a b\"}\n")]
        {
            assert_eq!(read(name, content.as_bytes(), IdKind::Text, None), texts, "{name}");
        }
        assert_eq!(read("a.csv", b"", IdKind::Text, None), Ok(Vec::new()));
    }

    #[test]
    fn what_is_refused_names_its_place() {
        for (name, content, kind, part) in [
            ("a.txt", "7\nx\n", IdKind::Number, "a.txt: line 2: the id 'x' is"),
            ("a.txt", "# gone\n", IdKind::Number, "a.txt: line 1: the id '# gone' is"),
            ("a.tsv", "7\n0000000000000001\t7\n", IdKind::Text, "a.tsv: line 2: expected an id alone"),
            ("a.tsv", "a\0b\n", IdKind::Text, "a.tsv: line 1: the id "),
            ("a.csv", "url\n7\n", IdKind::Text, "a.csv: line 1: there is no column \"id\"; the columns are 'url'"),
            ("a.csv", "id,x\n,1\n", IdKind::Text, "a.csv: line 2: there is no id"),
            ("a.csv", "id\n1,2\n", IdKind::Number, "a.csv: line 2: expected 1 cells"),
            ("a.ndjson", "{\"id\":null}\n", IdKind::Text, "a.ndjson: line 1: there is no \"id\""),
            ("a.ndjson", "{\"url\":\"a\"}\n", IdKind::Text, "a.ndjson: line 1: there is no \"id\""),
            ("a.ndjson", "{\"id\":-1}\n", IdKind::Text, "a.ndjson: line 1: "),
            ("a.u64", "12345678", IdKind::Number, "a.u64: raw integers are fingerprints"),
        ] {
            let error = read(name, content.as_bytes(), kind, None).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let long = read("a.txt", "x".repeat(4097).as_bytes(), IdKind::Text, None).unwrap_err();
        assert!(long.contains("line 1") && long.contains("4096"), "{long}");
    }
}
