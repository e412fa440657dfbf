//! Queries of a key index: records with keys, or the keys of one query on the command line.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, bail};
use fpstore::keys::{KeyMatch, KeyQuery, KeySearcher};
use fpstore::{Id, IdKind, IdRef, KeyIndex, Parameters};
use fpstore_tools::documents::{Document, DocumentId, Fault, Inputs, Location, Made, Rejects, each_or_fault};
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Found, IdRule, Ids, InputOptions, KeyReader, parse_hex, sources};
use fpstore_tools::output::{Column, Output, Rows};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::BandMaker;
use rayon::prelude::*;

use crate::args::Args;
use crate::texts::names;

const COLUMNS: &[Column] = &[Column::id("query"), Column::id("id"), Column::number("shared"), Column::real("jaccard")];

/// Bytes of queries that are answered together.
const BATCH: usize = 4 << 20;

/// Approximate bytes of the keys of a document.
const MADE: u64 = 1024;

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
    let options = fpstore_tools::threads::options().with_read_mode(args.read.into());
    let index = KeyIndex::open_read_only(store, &options)?;
    let answering = Answering { args, index: &index, how, most };
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
    let (mut batch, mut held, mut number) = (Vec::new(), 0, 0_u64);
    for source in &sources(&[named], &described)? {
        let reader = KeyReader::open(source, &described, &Progress::hidden())?;
        let hasher = reader.header().and_then(|header| header.hasher.clone());
        fpstore::check_hashers("queries", hasher.as_deref(), parameters.hasher()).with_context(|| source.name())?;
        reader.each(&mut rule, |id, keys, sketch| {
            let id = match id {
                IdRef::Number(own) => Id::Number(own),
                IdRef::Text(text) => Id::from(text),
                IdRef::None => Id::Number(number),
            };
            number += 1;
            held += size_of_val(keys) + sketch.len() + size_of::<Query>();
            batch.push(Query { id, keys: keys.to_vec(), sketch: sketch.to_vec() });
            if held >= BATCH {
                held = 0;
                answering.batch(&std::mem::take(&mut batch), writing)?;
            }
            Ok(())
        })?;
    }
    if args.not_self && rule.found() == Some(Found::Numbered) {
        bail!("--not-self: the queries have no ids");
    }
    answering.batch(&batch, writing)
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
    let inputs = Inputs::new(&names(args), &args.texts.documents(&args.options)?)?;
    let leave = &args.texts.leave;
    let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
    let make = |Document { id, content, .. }, _: &Location| {
        let keys = maker.keys(&content, least);
        Ok(keys.map(|keys| (id, keys)).map_err(|few| Fault::features(few, least, content.bytes())))
    };
    let mut number = 0_u64;
    let take = |made: Vec<Made<Result<(DocumentId, Keys), Fault>>>| {
        let mut batch = Vec::with_capacity(made.len());
        for made in made {
            let Some((_, (id, (keys, sketch)))) = rejects.keep(made)? else { continue };
            let id = match id {
                DocumentId::Number(own) => Id::Number(own),
                DocumentId::Text(text) => Id::from(&*text),
                DocumentId::None => Id::Number(number),
            };
            number += 1;
            batch.push(Query { id, keys, sketch });
        }
        answering.batch(&batch, writing)
    };
    let counts = each_or_fault(&inputs, args.document_memory(), MADE, &Progress::hidden(), make, take)?;
    rejects.finish(counts.documents)?.warn();
    Ok(())
}

struct Answering<'a> {
    args: &'a Args,
    index: &'a KeyIndex,
    how: KeyQuery,
    most: Option<usize>,
}

impl Answering<'_> {
    /// Answers queries on all threads, and writes the answers in the order of the queries.
    fn batch(&self, queries: &[Query], writing: &mut Writing<'_>) -> anyhow::Result<()> {
        let answers: Vec<fpstore::Result<Vec<KeyMatch>>> = queries
            .par_iter()
            .map_init(|| self.index.searcher(), |searcher, query| self.answer(searcher, query))
            .collect();
        for (query, answer) in queries.iter().zip(answers) {
            let answer = answer.with_context(|| format!("query {}", query.id))?;
            writing.write(&query.id, &answer)?;
        }
        Ok(())
    }

    fn answer(&self, searcher: &mut KeySearcher<'_>, query: &Query) -> fpstore::Result<Vec<KeyMatch>> {
        // Without a sketch of the query there is nothing to compare.
        let mut found = searcher.query(&query.keys, &query.sketch, &self.how)?;
        if self.args.not_self {
            found.retain(|one| one.id != query.id);
            found.truncate(self.most.unwrap_or(usize::MAX));
        }
        Ok(found)
    }
}

struct Writing<'a> {
    kind: IdKind,
    args: &'a Args,
    /// Opened with the first query, which tells whether queries have texts as ids.
    output: Option<(Output, Rows)>,
    found: u64,
}

impl Writing<'_> {
    fn opened(&mut self, first: Option<&Id>) -> anyhow::Result<&mut (Output, Rows)> {
        if self.output.is_none() {
            let texts = [matches!(first, Some(Id::Text(_))), self.kind == IdKind::Text];
            let path = self.args.output.as_deref();
            let output = Output::open(("--output", path), self.args.common.json, COLUMNS, 64, &texts)?;
            let rows = Rows::new(output.style());
            self.output = Some((output, rows));
        }
        self.output.as_mut().context("there is no output")
    }

    fn write(&mut self, query: &Id, found: &[KeyMatch]) -> anyhow::Result<()> {
        self.found += found.len() as u64;
        let (output, rows) = self.opened(Some(query))?;
        for KeyMatch { id, shared, jaccard } in found {
            rows.id(query);
            rows.id(id);
            rows.number(*shared);
            rows.estimate(*jaccard);
            rows.end_row();
            if rows.is_full() {
                output.write(rows)?;
                *rows = Rows::new(output.style());
            }
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Outcome> {
        self.opened(None)?;
        if let Some((mut output, rows)) = self.output.take() {
            output.write(&rows)?;
            output.finish()?;
        }
        Ok(if self.found > 0 { Outcome::Done } else { Outcome::NothingFound })
    }
}
