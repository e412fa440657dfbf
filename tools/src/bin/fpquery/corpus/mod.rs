//! `--corpus`: builds tables of the queries in memory and streams a file of fingerprints past them.
//!
//! One thread reads the file in chunks; another looks up the previous chunk on all cores. Matches are kept until the
//! end, since answers are in the order of the queries. The answers depend neither on the chunks nor on the number of
//! threads.

mod chunk;
mod gathered;
mod report;
mod round;
mod what;

use std::ffi::OsStr;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, bail};
use fpstore::{AnyFingerprint, Fingerprint, IdKind, QueryTables};
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Fed, Header, IdRule, Input, InputOptions, Source, feed};
use fpstore_tools::notice;
use fpstore_tools::output::Output;
use fpstore_tools::progress::Progress;
use fpstore_tools::width::by_width;
use fpstore_tools::{memory, number};

use crate::answer::{Kind, Look, records};
use crate::args::Args;
use crate::queries::{Queries, Query};
use chunk::{Chunk, ChunkSize};
use gathered::{Gathered, text_bytes};
use report::Report;
use round::search;
use what::What;

/// Default distance.
const DISTANCE: u32 = 3;

/// Default width, if the file does not tell it.
const WIDTH: u32 = 64;

/// Answers all queries from a file of fingerprints.
pub(crate) fn run(args: &Args, file: &OsStr) -> anyhow::Result<Outcome> {
    let source = Source::new(file);
    if !args.queries.is_empty() && args.input.is_some() {
        bail!("--input: queries come from the command line or from a file, not both");
    }
    let standard = args.queries.is_empty() && args.input.as_ref().is_none_or(|input| input == "-");
    if source == Source::Standard && standard {
        bail!("--corpus -: standard input can be read only once; name the queries, or their file with --input");
    }
    let length = source.length()?;
    let progress = if args.common.shows_progress() { Progress::bytes(length) } else { Progress::hidden() };
    let input = Input::open(&source, &args.options, &progress)?;
    let width = args.width.or(input.width()).or_else(|| width_of_digits(args.queries.first()?)).unwrap_or(WIDTH);
    by_width!(width, F => answer::<F>(args, input, &progress))
}

fn answer<F: Fingerprint>(args: &Args, input: Input, progress: &Progress) -> anyhow::Result<Outcome> {
    args.check_distance(F::WIDTH)?;
    let what = What::from(args);
    let memory = memory::of_load(args.memory);
    let hasher = input.header().and_then(|header| header.hasher.as_deref());
    let (queries, header) = all_queries::<F>(args, hasher, memory)?;
    let distance = match (args.distance, what) {
        (Some(distance), _) => distance,
        (None, What::Nearest(_)) => F::WIDTH,
        (None, _) => DISTANCE,
    };
    let started = Instant::now();
    let tables = tables(args, &queries, distance, memory)?;
    let mut report = Report { build_seconds: started.elapsed().as_secs_f64(), ..Report::default() };

    let started = Instant::now();
    let own = queries.iter().map(|query| Gathered::<F>::BYTES_OF_QUERY + text_bytes(&query.id)).sum();
    let chunk = ChunkSize::within::<F>(memory);
    let Some(left) = memory.checked_sub(tables.bytes().saturating_add(own).saturating_add(chunk.bytes_of_all())) else {
        return Err(too_many(memory));
    };
    let gathered = Gathered::new(what, queries.len(), distance, left);
    let (mut gathered, fed) = stream(input, chunk, &tables, gathered, &mut report)?;
    if let Some(warning) = fed.numbered {
        notice::warn(warning);
    }
    report.seconds = started.elapsed().as_secs_f64();
    progress.finish();

    let ids = if gathered.has_texts() { IdKind::Text } else { IdKind::Number };
    let (look, mut out) = Look::open(args, ids, queries.first(), header.as_ref())?;
    look.check(&queries)?;
    let unseen = write(&queries, &mut gathered, look, &mut out, &mut report)?;
    look.finish(out, unseen)?;
    if args.stats {
        report.tell(&tables, queries.len(), &mut io::stderr().lock(), args.common.json)?;
    }
    let found = if look.kind == Kind::Unseen { unseen } else { report.matches };
    Ok(if found > 0 { Outcome::Done } else { Outcome::NothingFound })
}

/// Returns the width of a fingerprint in hexadecimal.
fn width_of_digits(query: &str) -> Option<u32> {
    let digits = query.strip_prefix("0x").or_else(|| query.strip_prefix("0X")).unwrap_or(query).len();
    AnyFingerprint::WIDTHS.into_iter().find(|&width| width as usize == 4 * digits)
}

/// Reads all queries, if they fit half of the memory.
fn all_queries<F: Fingerprint>(
    args: &Args,
    hasher: Option<&str>,
    memory: u64,
) -> anyhow::Result<(Vec<Query<F>>, Option<Header>)> {
    // The options describe the corpus. A file of queries may have the same columns; its name determines its format.
    let options = match args.queries.as_slice() {
        [] => InputOptions { format: None, ..args.options.clone() },
        _ => InputOptions::default(),
    };
    let mut queries = Queries::<F>::new(args, &options)?;
    queries.check_hasher(hasher)?;
    let (mut all, mut texts) = (Vec::new(), 0);
    loop {
        let (batch, end) = queries.next_batch(1 << 12, u64::MAX);
        texts += batch.iter().map(|query| text_bytes(&query.id)).sum::<u64>();
        all.extend(batch);
        if let Some(end) = end {
            queries.warn_of_numbered(args);
            return end.map(|()| (all, queries.header().cloned()));
        }
        if texts + (all.capacity() * size_of::<Query<F>>()) as u64 > memory / 2 {
            return Err(too_many(memory));
        }
    }
}

fn too_many(memory: u64) -> anyhow::Error {
    anyhow!("the queries do not fit {} of memory: ask fewer at a time, or give more --memory", number::bytes(memory))
}

fn tables<F: Fingerprint>(
    args: &Args,
    queries: &[Query<F>],
    distance: u32,
    memory: u64,
) -> anyhow::Result<QueryTables<F>> {
    let fingerprints: Vec<F> = queries.iter().map(|query| query.fingerprint).collect();
    Ok(if args.scan {
        QueryTables::comparing_all(&fingerprints, distance, &fpstore_tools::threads::options())?
    } else {
        // The other half is for matches.
        QueryTables::within(&fingerprints, distance, memory / 2, &fpstore_tools::threads::options())?
    })
}

/// Reads the file to its end and collects the matches.
fn stream<F: Fingerprint>(
    input: Input,
    size: ChunkSize,
    tables: &QueryTables<F>,
    mut gathered: Gathered<F>,
    report: &mut Report,
) -> anyhow::Result<(Gathered<F>, Fed)> {
    let mut rule = IdRule::default();
    input.tell_ids(&mut rule)?;
    let mut reader = input.reader::<F>()?;
    let (sender, receiver) = sync_channel::<Chunk<F>>(1);
    thread::scope(|scope| {
        let searching = scope.spawn(move || -> anyhow::Result<Gathered<F>> {
            search_all(&receiver, tables, &mut gathered, report)?;
            Ok(gathered)
        });
        let mut chunk = Chunk::first();
        let read = feed(&mut reader, &mut rule, &mut |fingerprint, id| {
            chunk.push(fingerprint, id);
            if chunk.len() < size.records && chunk.text_bytes() < size.texts {
                return Ok(());
            }
            let next = chunk.next();
            sender.send(std::mem::replace(&mut chunk, next)).map_err(|_| anyhow!("the search has ended"))
        });
        // If the search has ended early, its error is reported instead.
        let _ = sender.send(chunk);
        drop(sender);
        let gathered = searching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        read.map(|fed| (gathered, fed))
    })
}

/// Looks up one chunk after another.
fn search_all<F: Fingerprint>(
    chunks: &Receiver<Chunk<F>>,
    tables: &QueryTables<F>,
    gathered: &mut Gathered<F>,
    report: &mut Report,
) -> anyhow::Result<()> {
    for chunk in chunks {
        report.records += chunk.len() as u64;
        let mut begin = 0;
        let mut length = gathered.round();
        while let Some(fingerprints) = chunk.fingerprints().get(begin..).filter(|rest| !rest.is_empty()) {
            let fingerprints = fingerprints.get(..length).unwrap_or(fingerprints);
            match search(tables, fingerprints, gathered.limits(), gathered.most_hits()) {
                Some((pieces, work)) => {
                    report.work += work;
                    for (first, hits) in pieces {
                        gathered.take(&chunk, begin + first, &hits)?;
                    }
                    begin += fingerprints.len();
                }
                // Too many hits: try half as many fingerprints.
                None => length = (fingerprints.len() / 2).max(1),
            }
        }
    }
    Ok(())
}

/// Writes the answers in the order of the queries; returns the number of queries without a match.
fn write<F: Fingerprint>(
    queries: &[Query<F>],
    gathered: &mut Gathered<F>,
    look: Look,
    out: &mut Output,
    report: &mut Report,
) -> anyhow::Result<u64> {
    gathered.finish();
    let (mut rows, mut unseen) = (look.rows(), 0);
    for (query, number) in queries.iter().zip(0..) {
        let matches = gathered.matches(number);
        let count = matches.iter().map(records).fold(0, u64::saturating_add);
        report.matches += count;
        match look.kind {
            Kind::Count => look.push_count(&mut rows, query, count),
            Kind::Unseen if matches.is_empty() => {
                look.push_unseen(&mut rows, query);
                unseen += 1;
            }
            Kind::Unseen => {}
            Kind::Matches => {
                let numbered = matches.iter().enumerate();
                numbered.for_each(|(number, found)| look.push_match(&mut rows, query, found, number > 0));
            }
        }
        if rows.is_full() {
            out.write(&rows)?;
            rows.clear();
        }
    }
    out.write(&rows)?;
    Ok(unseen)
}
