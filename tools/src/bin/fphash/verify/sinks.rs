//! The outputs: all rows, the confirmed ones, the doubtful ones.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fpstore::Id;
use fpstore_tools::documents::Similarity;
use fpstore_tools::input::Ground;
use fpstore_tools::output::{Column, Output, Rows};

use super::args::VerifyArgs;

const DISTANCE: Column = Column::number("distance");
const SHARED_KEYS: Column = Column::number("shared_keys");
/// The columns by the measure of the evidence, without and with the longest common substring.
const COLUMNS: &[Column] = &columns(DISTANCE);
const WITH_SUBSTRING: &[Column] = &with_substring(DISTANCE);
const OF_KEYS: &[Column] = &columns(SHARED_KEYS);
const OF_KEYS_WITH_SUBSTRING: &[Column] = &with_substring(SHARED_KEYS);

const fn columns(measure: Column) -> [Column; 7] {
    let [id, keeper, cluster, measure, jaccard, edit, _, verdict] = with_substring(measure);
    [id, keeper, cluster, measure, jaccard, edit, verdict]
}

const fn with_substring(measure: Column) -> [Column; 8] {
    [
        Column::id("id"),
        Column::id("keeper"),
        Column::id("cluster"),
        measure,
        Column::real("jaccard"),
        Column::real("edit"),
        Column::real("substring"),
        Column::text("verdict"),
    ]
}

/// A row of evidence.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) keeper: String,
    pub(super) cluster: String,
    pub(super) ground: Ground,
    /// Its line in the evidence.
    pub(super) line: u64,
}

/// An output and the rows that wait for it.
struct Sink {
    output: Output,
    rows: Rows,
}

/// All outputs. They are opened once the kind of the ids is known.
pub(super) struct Sinks<'a> {
    args: &'a VerifyArgs,
    json: bool,
    /// Whether the ids are numbers; `None` before.
    numbers: Option<bool>,
    /// Whether the evidence is of a key index.
    of_keys: bool,
    all: Option<Sink>,
    confirmed: Option<Sink>,
    doubtful: Option<Sink>,
    counts: (u64, u64),
}

impl<'a> Sinks<'a> {
    /// Checks the names of the outputs.
    pub(super) fn new(args: &'a VerifyArgs, json: bool) -> anyhow::Result<Self> {
        let sinks = Self {
            args,
            json,
            numbers: None,
            of_keys: false,
            all: None,
            confirmed: None,
            doubtful: None,
            counts: (0, 0),
        };
        for (option, path) in sinks.files() {
            drop(sinks.sink(option, Some(path), true)?);
        }
        Ok(sinks)
    }

    fn files(&self) -> impl Iterator<Item = (&'static str, &'a Path)> {
        let VerifyArgs { output, confirmed, doubtful, .. } = self.args;
        let files = [("--output", output), ("--confirmed", confirmed), ("--doubtful", doubtful)];
        files.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)))
    }

    pub(super) fn is_open(&self) -> bool {
        self.numbers.is_some()
    }

    /// Opens the outputs, unless they are open, for evidence whose first row has this ground.
    pub(super) fn open(&mut self, numbers: bool, ground: Option<Ground>) -> anyhow::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        self.numbers = Some(numbers);
        self.of_keys = matches!(ground, Some(Ground::SharedKeys(_)));
        let VerifyArgs { output, confirmed, doubtful, .. } = self.args;
        let named = |option, path: &Option<PathBuf>| match path {
            Some(path) => self.sink(option, Some(path), numbers).map(Some),
            None => Ok(None),
        };
        let (confirmed, doubtful) = (named("--confirmed", confirmed)?, named("--doubtful", doubtful)?);
        if output.is_some() || confirmed.is_none() && doubtful.is_none() {
            self.all = Some(self.sink("--output", output.as_deref(), numbers)?);
        }
        (self.confirmed, self.doubtful) = (confirmed, doubtful);
        Ok(())
    }

    fn sink(&self, option: &str, path: Option<&Path>, numbers: bool) -> anyhow::Result<Sink> {
        let columns = match (self.of_keys, self.args.substring) {
            (false, false) => COLUMNS,
            (false, true) => WITH_SUBSTRING,
            (true, false) => OF_KEYS,
            (true, true) => OF_KEYS_WITH_SUBSTRING,
        };
        let output = Output::open((option, path), self.json, columns, 64, &[!numbers; 3])?;
        let rows = Rows::new(output.style());
        Ok(Sink { output, rows })
    }

    pub(super) fn write(&mut self, row: &Row, similarity: Similarity) -> anyhow::Result<()> {
        if matches!(row.ground, Ground::SharedKeys(_)) != self.of_keys {
            bail!("--evidence: line {}: distances and shared keys are mixed", row.line);
        }
        let is_confirmed = similarity.jaccard >= self.args.min_jaccard;
        let numbers = self.numbers.unwrap_or_default();
        let id = |text: &str| {
            if !numbers {
                return Ok(Id::from(text));
            }
            let number = text.parse().with_context(|| {
                format!("--evidence: line {}: the id '{text}' is no number, and the ids before it are", row.line)
            });
            number.map(Id::Number)
        };
        let ids = [id(&row.id)?, id(&row.keeper)?, id(&row.cluster)?];
        let (part, count) = match is_confirmed {
            true => (&mut self.confirmed, &mut self.counts.0),
            false => (&mut self.doubtful, &mut self.counts.1),
        };
        *count += 1;
        for sink in [&mut self.all, part].into_iter().flatten() {
            let rows = &mut sink.rows;
            ids.iter().for_each(|id| rows.id(id));
            rows.number(row.ground.number());
            rows.real(Some(similarity.jaccard));
            rows.real(similarity.edit);
            if self.args.substring {
                rows.real(similarity.substring);
            }
            rows.word(if is_confirmed { "confirmed" } else { "doubtful" });
            rows.end_row();
            if rows.is_full() {
                sink.output.write(rows)?;
                rows.clear();
            }
        }
        Ok(())
    }

    /// Completes the outputs; returns the numbers of confirmed and of doubtful rows.
    pub(super) fn finish(self) -> anyhow::Result<(u64, u64)> {
        for mut sink in [self.all, self.confirmed, self.doubtful].into_iter().flatten() {
            sink.output.write(&sink.rows)?;
            sink.output.finish()?;
        }
        Ok(self.counts)
    }
}
