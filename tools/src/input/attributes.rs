//! Reads attributes of records: an id and the value of one column, of csv, tsv, json, ndjson or parquet. In a list of
//! ids the value is the number of the line.
//!
//! A row without an id is an error. A row without a value is one of `Value::None`, also an object without the key; but
//! a key that no object has is an error. A cell of csv is a number if all cells of the column are.

use std::sync::Arc;

use anyhow::bail;
use fpstore::IdRef;

use super::csv::{Rows, Table};
use super::format::{check_parquet, ending_of};
use super::json_value::OfJson;
use super::lines::Lines;
use super::opened::Recognised;
use super::parquet::{Attributes, Batches};
use super::source::Opened;
use super::stream::Stream;
use super::values::Values;
use super::{Format, IdRule, InputOptions, LINE_LIMIT, RawId, Selection, Source, ToldBy, ndjson, object};
use crate::progress::Progress;
use crate::ranks::Value;

/// The attributes of one input, in order.
#[derive(Debug)]
pub struct AttributeReader {
    name: Arc<str>,
    selection: Selection,
    stream: Stream<Attributes>,
}

impl AttributeReader {
    /// Opens a list with an id on each line, whatever its name is.
    ///
    /// # Errors
    ///
    /// If the input cannot be opened.
    pub fn list(source: &Source, progress: &Progress) -> anyhow::Result<Self> {
        let lines = Lines::new(source.bytes(progress, ToldBy::Content)?.window, LINE_LIMIT);
        let selection = InputOptions::default().selection();
        Ok(Self { name: source.name().into(), selection, stream: Stream::Lines(lines) })
    }

    /// Opens an input with a column of this name beside that of the ids.
    ///
    /// # Errors
    ///
    /// If the input cannot be opened, its format has no columns, or its schema lacks one of the two.
    pub fn open(source: &Source, column: &str, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        let name = source.name();
        let selection = Selection { value: column.to_owned(), id_required: true, ..options.selection() };
        if selection.value == selection.id {
            bail!("{name}: \"{column}\" is the column of the ids, not one of values");
        }
        let Recognised { bytes, header, format } = Recognised::open(source, options, progress)?;
        let (window, plain) = (bytes.window, bytes.plain);
        let has_tabs = source.path().is_some_and(|path| ending_of(path) == "tsv");
        let table = |window, delimiter| {
            let rows = Rows::new(window, delimiter, LINE_LIMIT);
            Stream::Csv(Box::new(Table::new(rows, selection.clone(), header.is_some()).without_options()))
        };
        let stream = match format {
            Format::Ndjson => Stream::Ndjson(Lines::new(window, LINE_LIMIT)),
            Format::Json => Stream::Json(Values::new(window, LINE_LIMIT)),
            Format::Csv | Format::Tsv => table(window, options.delimiter_of(format)),
            Format::Hex if has_tabs => table(window, b'\t'),
            Format::Parquet => {
                check_parquet(source)?;
                let (bytes, temp_dir) = (Opened { window, plain }, options.temp_dir.as_deref());
                Stream::Parquet(Box::new(Batches::<Attributes>::open(source, bytes, &selection, temp_dir, progress)?))
            }
            Format::Hex | Format::Dec | Format::Le | Format::File => {
                bail!("{name}: columns with names are in .parquet, .ndjson, .jsonl, .json, .csv or .tsv")
            }
        };
        Ok(Self { name: name.into(), selection, stream })
    }

    /// Calls `take` with each id, as converted by the rule, and its value.
    ///
    /// # Errors
    ///
    /// If an id is missing, the rule rejects it, a value has no order, or `take` fails: all with the place.
    pub fn each(
        mut self,
        rule: &mut IdRule,
        mut take: impl FnMut(IdRef<'_>, Value<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (mut id_text, mut text) = (String::new(), String::new());
        // The error about the first object without the key, unless a later object has it.
        let (mut has_key, mut missing) = (false, None);
        while self.stream.advance().map_err(|message| self.stream.place(&self.name).error(message))? {
            let line = match &self.stream {
                Stream::Ndjson(lines) => Some(lines.line()),
                Stream::Json(values) => Some(values.value()),
                Stream::Lines(_) | Stream::Csv(_) | Stream::Parquet(_) => None,
            };
            let row = match (&self.stream, line) {
                (_, Some(line)) => object::fields(line, &self.selection, OfJson).map_err(String::from).map(|found| {
                    let (value, id) = found;
                    if value.is_none() && !has_key {
                        let keys = object::keys(line);
                        has_key = keys.contains(&self.selection.value);
                        missing.get_or_insert_with(|| {
                            self.stream.place(&self.name).error(self.selection.no_value_in(&keys))
                        });
                    }
                    has_key |= value.is_some();
                    let id = id.map_or(RawId::None, |id| ndjson::raw_id(id, &mut id_text));
                    (id, value.map_or(Value::None, |value| value.of(&mut text)))
                }),
                (Stream::Lines(lines), _) => Ok((RawId::Text(lines.line()), Value::Integer(lines.number().into()))),
                (Stream::Csv(table), _) => table.record().map(|(cell, id)| (id, Value::Cell(cell))),
                (Stream::Parquet(rows), _) => rows.attribute(),
                _ => Err("there is no row".to_owned()),
            };
            let taken = row.and_then(|(id, value)| {
                if matches!(id, RawId::None | RawId::Text([])) {
                    return Err(format!("there is no id in \"{}\"", self.selection.id));
                }
                take(rule.check(id)?, value).map_err(|error| format!("{error:#}"))
            });
            taken.map_err(|message| self.stream.place(&self.name).error(message))?;
        }
        match missing {
            Some(error) if !has_key => Err(error),
            _ => Ok(()),
        }
    }
}
