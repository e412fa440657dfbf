//! The records of one input, in order.

use std::sync::Arc;

use anyhow::bail;
use fpstore::IdRef;

use super::object::KeyObject;
use crate::input::format::check_parquet;
use crate::input::header;
use crate::input::lines::Lines;
use crate::input::opened::Recognised;
use crate::input::parquet::{Batches, KeyLists};
use crate::input::reader::warn_of_none;
use crate::input::source::Opened;
use crate::input::stream::Stream;
use crate::input::values::Values;
use crate::input::{Format, Header, IdRule, InputOptions, Source};
use crate::progress::Progress;

/// Longest object in bytes: a record may have a million keys.
const LIMIT: usize = 64 << 20;

/// The records with keys of one input, in order.
#[derive(Debug)]
pub struct KeyReader {
    name: Arc<str>,
    id: String,
    header: Option<Header>,
    /// Whether the objects name the hasher, rather than a line before them.
    named: bool,
    stream: Stream<KeyLists>,
    /// What the first advance returned, if that is not read yet.
    begun: Option<Result<bool, String>>,
}

impl KeyReader {
    /// Opens an input; the options name the column of the ids. It waits for the first object of JSON, which may name
    /// the hasher.
    ///
    /// # Errors
    ///
    /// If the input cannot be opened, or its format has no lists.
    pub fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        source.hint("records with keys");
        let (name, id): (Arc<str>, _) = (source.name().into(), options.selection().id);
        let Recognised { mut bytes, header: found, format } = Recognised::open(source, options, progress)?;
        if matches!(format, Format::Ndjson | Format::Json) {
            header::skip(&mut bytes.window, found.is_some())?;
        }
        let Opened { window, plain } = bytes;
        let (stream, header) = match format {
            Format::Ndjson => (Stream::Ndjson(Lines::new(window, LIMIT)), found),
            Format::Json => (Stream::Json(Values::new(window, LIMIT)), found),
            Format::Parquet => {
                check_parquet(source)?;
                let (bytes, temp_dir) = (Opened { window, plain }, options.temp_dir.as_deref());
                let (rows, line) = Batches::<KeyLists>::open(source, bytes, &id, temp_dir, progress)?;
                let header = line.map(|line| Header::parse(line.as_bytes())).transpose();
                let header = header.map_err(|message| anyhow::anyhow!("{name}: its metadata: {message}"))?;
                (Stream::Parquet(Box::new(rows)), header.flatten())
            }
            _ => bail!(
                "{name}: records with keys are in .ndjson, .jsonl, .json or .parquet, as `fphash bands --json` writes them"
            ),
        };
        let mut reader = Self { name, id, header, named: false, stream, begun: None };
        if matches!(format, Format::Ndjson | Format::Json) {
            reader.begin();
        }
        Ok(reader)
    }

    /// Looks at the first object. [`KeyReader::each`] reads it again, and reports what is wrong with it.
    fn begin(&mut self) {
        let (begun, mut object, mut id_text) = (self.advance(), KeyObject::default(), String::new());
        let read = match (&begun, &self.stream) {
            (Ok(true), Stream::Ndjson(lines)) => object.read(lines.line(), &self.id, &mut id_text).is_ok(),
            (Ok(true), Stream::Json(values)) => object.read(values.value(), &self.id, &mut id_text).is_ok(),
            _ => false,
        };
        self.begun = Some(begun);
        let is_silent = self.header.as_ref().is_none_or(|header| header.hasher.is_none());
        if read && is_silent && object.hasher.is_some() {
            self.named = true;
            self.header.get_or_insert_default().hasher = object.hasher;
        }
    }

    /// Rejects an object whose keys something else made than those before it.
    fn check_hasher(&self, hasher: Option<&str>) -> Result<(), String> {
        let first = self.header.as_ref().and_then(|header| header.hasher.as_deref());
        match (first, hasher) {
            (Some(first), Some(hasher)) if first == hasher => Ok(()),
            (Some(first), Some(hasher)) => {
                Err(format!("the keys were made by {hasher}, those before by {first}; they must not be mixed"))
            }
            (None, Some(hasher)) => Err(format!(
                "the keys were made by {hasher}, and what made those before is not known; they must not be mixed"
            )),
            (Some(first), None) if self.named => {
                Err(format!("the object does not name its hasher, and those before were made by {first}"))
            }
            (_, None) => Ok(()),
        }
    }

    /// What the input says about itself.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Advances to the next record; lines that begin with `#` are none.
    fn advance(&mut self) -> Result<bool, String> {
        match &mut self.stream {
            Stream::Ndjson(lines) => lines.next_record(),
            others => others.advance(),
        }
    }

    /// Calls `take` with each record: its id, as converted by the rule, its keys, and its sketch, which may be empty.
    ///
    /// # Errors
    ///
    /// If a record is malformed, the rule rejects its id, or `take` fails: all with the place.
    pub fn each(
        mut self,
        rule: &mut IdRule,
        mut take: impl FnMut(IdRef<'_>, &[u64], &[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (mut found, mut id_text, mut any) = (KeyObject::default(), String::new(), false);
        while self
            .begun
            .take()
            .unwrap_or_else(|| self.advance())
            .map_err(|message| self.stream.place(&self.name).error(message))?
        {
            let id = match &self.stream {
                Stream::Ndjson(lines) => found.read(lines.line(), &self.id, &mut id_text),
                Stream::Json(values) => found.read(values.value(), &self.id, &mut id_text),
                Stream::Parquet(rows) => rows.keys(&mut found.keys, &mut found.sketch),
                Stream::Lines(_) | Stream::Csv(_) => Err("there is no row".to_owned()),
            };
            let taken = id
                .and_then(|id| self.check_hasher(found.hasher.as_deref()).map(|()| id))
                .and_then(|id| take(rule.check(id)?, &found.keys, &found.sketch).map_err(|error| format!("{error:#}")));
            taken.map_err(|message| self.stream.place(&self.name).error(message))?;
            any = true;
        }
        warn_of_none(&self.name, &mut any);
        Ok(())
    }
}
