//! Queries of a key index: records with keys, or the keys of one query on the command line.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, bail};
use fpstore::keys::{KeyMatch, KeyQuery, QueryKeys};
use fpstore::{ErrorKind, Id, IdKind, IdRef, KeyIndex, Parameters};
use fpstore_tools::documents::{Document, DocumentId, Fault, Inputs, Location, Made, Rejects, each_or_fault};
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Found, IdRule, Ids, InputOptions, KeyReader, parse_hex, sources};
use fpstore_tools::output::{Column, Output, Rows};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::BandMaker;

use crate::args::{Args, BatchMode};
use crate::memory::Memory;
use crate::queries;
use crate::texts::names;

const COLUMNS: &[Column] = &[Column::id("query"), Column::id("id"), Column::number("shared"), Column::real("jaccard")];

/// Bytes of queries that are answered together if more would have to be waited for, or would not be faster.
const BATCH: u64 = 4 << 20;

/// The keys and the sketch of a document.
type Keys = (Vec<u64>, Vec<u8>);

/// A query: its id, or its number if it has none; its keys and its sketch.
struct Query {
    id: Id,
    keys: Vec<u64>,
    sketch: Vec<u8>,
}

/// Rejects options that have no meaning for keys.
fn check(args: &Args) -> anyhow::Result<()> {
    let refused = [
        (!args.ids.is_empty(), "--id"),
        (args.distance.is_some(), "--distance"),
        (args.first, "--first"),
        (args.count, "--count"),
        (args.only.is_some(), "--only"),
        (args.scan, "--scan"),
        (args.stats, "--stats"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => bail!("{option} does not go with a key index"),
        None => Ok(()),
    }
}

/// Answers all queries.
pub(crate) fn run(args: &Args, store: &Path, parameters: &Parameters) -> anyhow::Result<Outcome> {
    check(args)?;
    let mut how = KeyQuery::new();
    if let Some(shared) = args.min_shared {
        how = how.with_min_shared(shared);
    }
    if let Some(jaccard) = args.min_jaccard {
        if !(0.0..=1.0).contains(&jaccard) {
            bail!("--min-jaccard {jaccard}: expected a number from 0 to 1");
        }
        if parameters.keys().is_none_or(|keys| keys.sketch_bits() == 0) {
            bail!("--min-jaccard: the index has no sketches, so no similarity can be estimated");
        }
        how = how.with_min_jaccard(jaccard);
    }
    // A record that is left out as the query itself must not take the place of another.
    let most = args.nearest.map(|nearest| usize::try_from(nearest).unwrap_or(usize::MAX));
    if let Some(most) = most {
        how = how.with_nearest(most.saturating_add(usize::from(args.not_self)));
    }
    let index = KeyIndex::open_read_only(store, &args.reading())?;
    let taken = index.statistics().resident_bytes.saturating_add(args.page_cache());
    let memory = Memory::beside(args.memory, args.document_memory(), store, taken)?;
    let answering = Answering { args, index: &index, how, most, memory };
    let mut writing = Writing { kind: parameters.ids(), args, output: None, found: 0 };
    if args.text {
        from_texts(&answering, parameters, &mut writing)?;
    } else if args.queries.is_empty() {
        from_inputs(&answering, parameters, &mut writing)?;
    } else {
        let keys = args.queries.iter().map(|digits| parse_hex::<u64>(digits.as_bytes()));
        let keys = keys.collect::<Result<_, _>>().map_err(|message| anyhow::anyhow!("a key: {message}"))?;
        let query = Query { id: Id::from(0), keys, sketch: Vec::new() };
        answering.batch(&[query], &mut writing)?;
    }
    writing.finish()
}

fn from_inputs(answering: &Answering<'_>, parameters: &Parameters, writing: &mut Writing<'_>) -> anyhow::Result<()> {
    let args = answering.args;
    let described = InputOptions { temp_dir: None, ..args.options.clone() };
    let named = args.input.clone().unwrap_or_else(|| OsString::from("-"));
    let mut rule = IdRule::new(Ids::Auto);
    let mut gathered = Gathered::new(answering, queries::is_there(&named));
    let read = || {
        for source in &sources(&[named], &described)? {
            let reader = KeyReader::open(source, &described, &Progress::hidden())?;
            let hasher = reader.header().and_then(|header| header.hasher.clone());
            fpstore::check_hashers("queries", hasher.as_deref(), parameters.hasher()).with_context(|| source.name())?;
            reader.each(&mut rule, |id, keys, sketch| {
                gathered.add(id, keys.to_vec(), sketch.to_vec());
                gathered.answer_if_many(writing)
            })?;
        }
        anyhow::Ok(())
    };
    let read = read();
    if args.not_self && rule.found() == Some(Found::Numbered) {
        bail!("--not-self: the queries have no ids");
    }
    // Queries before an error are answered.
    gathered.answer(writing)?;
    read
}

/// Answers documents, whose keys are made as the index records.
fn from_texts(answering: &Answering<'_>, parameters: &Parameters, writing: &mut Writing<'_>) -> anyhow::Result<()> {
    let args = answering.args;
    let Some(recorded) = parameters.hasher() else {
        bail!(
            "--text: the index does not record how its keys were made; make those of the queries with `fphash bands`"
        );
    };
    if args.texts.simhash.any() {
        bail!("--text: keys are made as the index records; leave the sketch options out");
    }
    let given = args.texts.tokens_column.is_some();
    let maker = BandMaker::recorded(recorded, parameters.keys().unwrap_or_default(), given)?;
    let names = names(args);
    let inputs = Inputs::new(&names, &args.texts.documents(&args.options)?)?;
    let leave = &args.texts.leave;
    let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
    let make = |Document { id, content, .. }, _: &Location| {
        let keys = maker.keys(&content, least);
        Ok(keys.map(|keys| (id, keys)).map_err(|few| Fault::features(few, least, content.bytes())))
    };
    let all_there = names.iter().all(|name| queries::is_there(name));
    let mut gathered = Gathered::new(answering, all_there);
    let take = |made: Vec<Made<Result<(DocumentId, Keys), Fault>>>| {
        for made in made {
            let Some((_, (id, (keys, sketch)))) = rejects.keep(made)? else { continue };
            let id = match &id {
                DocumentId::Number(own) => IdRef::Number(*own),
                DocumentId::Text(text) => IdRef::Text(text),
                DocumentId::None => IdRef::None,
            };
            gathered.add(id, keys, sketch);
        }
        // A writer may wait for answers.
        if all_there { gathered.answer_if_many(writing) } else { gathered.answer(writing) }
    };
    let read = each_or_fault(&inputs, args.document_memory(), maker.made(), &Progress::hidden(), make, take);
    gathered.answer(writing)?;
    rejects.finish(read?.documents)?.warn();
    Ok(())
}

/// Queries that are answered together.
struct Gathered<'a> {
    answering: &'a Answering<'a>,
    queries: Vec<Query>,
    /// Number of all queries so far.
    number: u64,
    /// Bytes of memory, and from how many on the queries are answered.
    held: u64,
    most: u64,
}

impl<'a> Gathered<'a> {
    /// More queries together are faster, if they are to be had without waiting.
    fn new(answering: &'a Answering<'a>, all_there: bool) -> Self {
        let large = match answering.args.batch {
            BatchMode::Auto => all_there,
            BatchMode::Always => true,
            BatchMode::Never => false,
        };
        let queries = answering.memory.queries;
        Self {
            answering,
            queries: Vec::new(),
            number: 0,
            held: 0,
            most: if large { queries } else { queries.min(BATCH) },
        }
    }

    fn add(&mut self, id: IdRef<'_>, keys: Vec<u64>, sketch: Vec<u8>) {
        let id = match id {
            IdRef::Number(own) => Id::Number(own),
            IdRef::Text(text) => Id::from(text),
            IdRef::None => Id::Number(self.number),
        };
        self.number += 1;
        let texts = id.text().map_or(0, str::len) + sketch.len();
        // Lists grow by doubling.
        let bytes = 2 * size_of::<Query>() + 2 * size_of::<QueryKeys<'_>>() + size_of_val(&*keys) + texts + 48;
        self.held += bytes as u64;
        self.queries.push(Query { id, keys, sketch });
    }

    fn answer_if_many(&mut self, writing: &mut Writing<'_>) -> anyhow::Result<()> {
        if self.held >= self.most { self.answer(writing) } else { Ok(()) }
    }

    fn answer(&mut self, writing: &mut Writing<'_>) -> anyhow::Result<()> {
        self.held = 0;
        self.answering.batch(&std::mem::take(&mut self.queries), writing)
    }
}

struct Answering<'a> {
    args: &'a Args,
    index: &'a KeyIndex,
    how: KeyQuery,
    most: Option<usize>,
    memory: Memory,
}

impl Answering<'_> {
    /// Answers queries on all threads, and writes the answers in the order of the queries.
    fn batch(&self, queries: &[Query], writing: &mut Writing<'_>) -> anyhow::Result<()> {
        let Some(first) = queries.first() else { return Ok(()) };
        let found = &mut 0;
        let output = writing.opened(Some(&first.id))?;
        let style = output.style();
        let asked: Vec<_> = queries.iter().map(|Query { keys, sketch, .. }| QueryKeys { keys, sketch }).collect();
        let make = |first: usize, answers: Vec<Vec<KeyMatch>>| {
            let (mut rows, mut found) = (Rows::new(style), 0);
            for (query, answer) in queries.iter().skip(first).zip(&answers) {
                found += self.push(&mut rows, &query.id, answer);
            }
            (answers.len(), found, rows)
        };
        let mut answered = 0;
        let take = |(queries, some, rows): (usize, u64, Rows)| {
            answered += queries;
            *found += some;
            output.write(&rows)
        };
        let strategy = self.args.batch.into();
        let visited = self.index.searcher().visit_batch(&asked, &self.how, strategy, self.memory.answers, make, take);
        writing.found += *found;
        visited.map_err(|error| match (error.downcast_ref::<fpstore::Error>(), queries.get(answered)) {
            (Some(wrong), Some(query)) if wrong.kind() == ErrorKind::InvalidInput => {
                error.context(format!("query {}", query.id))
            }
            _ => error,
        })
    }

    /// Appends the rows of an answer; returns their number.
    fn push(&self, rows: &mut Rows, query: &Id, answer: &[KeyMatch]) -> u64 {
        let others = answer.iter().filter(|found| !self.args.not_self || found.id != *query);
        let before = rows.count();
        for KeyMatch { id, shared, jaccard } in others.take(self.most.unwrap_or(usize::MAX)) {
            rows.id(query);
            rows.id(id);
            rows.number(*shared);
            rows.estimate(*jaccard);
            rows.end_row();
        }
        rows.count() - before
    }
}

struct Writing<'a> {
    kind: IdKind,
    args: &'a Args,
    /// Opened with the first query, which tells whether queries have texts as ids.
    output: Option<Output>,
    found: u64,
}

impl Writing<'_> {
    fn opened(&mut self, first: Option<&Id>) -> anyhow::Result<&mut Output> {
        if self.output.is_none() {
            let texts = [matches!(first, Some(Id::Text(_))), self.kind == IdKind::Text];
            let path = self.args.output.as_deref();
            self.output = Some(Output::open(("--output", path), self.args.common.json, COLUMNS, 64, &texts)?);
        }
        self.output.as_mut().context("there is no output")
    }

    fn finish(mut self) -> anyhow::Result<Outcome> {
        self.opened(None)?;
        self.output.map_or(Ok(()), Output::finish)?;
        Ok(if self.found > 0 { Outcome::Done } else { Outcome::NothingFound })
    }
}
