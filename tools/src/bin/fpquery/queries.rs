//! Where queries come from: the command line, a file, or a pipe that may never end.

use std::collections::VecDeque;
use std::ffi::OsStr;

use anyhow::{anyhow, bail};
use fpstore::{Fingerprint, Id, check_hashers};
use fpstore_tools::input::{Entry, Input, InputOptions, Reader, Source, parse_hex};
use fpstore_tools::progress::Progress;

use crate::args::Args;

/// One query.
#[derive(Clone, Debug)]
pub(crate) struct Query<F> {
    pub(crate) fingerprint: F,
    /// Its id in the input, or its number there.
    pub(crate) id: Id,
}

/// The queries, in order.
#[derive(Debug)]
pub(crate) struct Queries<F: Fingerprint> {
    from: From<F>,
    /// Who made them, where their header says so.
    hasher: Option<String>,
    next_number: u64,
    /// Whether they never keep anybody waiting.
    all_there: bool,
}

#[derive(Debug)]
enum From<F: Fingerprint> {
    Arguments(VecDeque<F>),
    Reader(Box<Reader<F>>),
}

/// What came after a batch: nothing yet, the end, or an error.
pub(crate) type End = Option<anyhow::Result<()>>;

impl<F: Fingerprint> Queries<F> {
    /// Opens the input. Arguments are all checked here, before the first answer.
    pub(crate) fn new(args: &Args, options: &InputOptions) -> anyhow::Result<Self> {
        let mut hasher = None;
        let mut reader = |file: &OsStr| -> anyhow::Result<From<F>> {
            let input = Input::open(&Source::new(file), options, &Progress::hidden())?;
            hasher = input.header().and_then(|header| header.hasher.clone());
            Ok(From::Reader(Box::new(input.reader()?)))
        };
        let from = match (&args.input, args.queries.as_slice()) {
            (Some(file), _) => reader(file)?,
            (None, []) => reader(OsStr::new("-"))?,
            (None, [dash]) if dash == "-" => reader(OsStr::new("-"))?,
            (None, _) if options.any() => {
                bail!("--format and the column options describe an input; queries on the command line are hex")
            }
            (None, queries) => From::Arguments(arguments(queries)?),
        };
        let all_there = matches!(from, From::Arguments(_)) || is_regular(args.input.as_deref());
        Ok(Self { from, hasher, next_number: 0, all_there })
    }

    /// Whether more queries can be waited for, because they come from a file and not from somebody who waits for answers.
    pub(crate) fn all_there(&self) -> bool {
        self.all_there
    }

    /// Refuses queries of another hasher than the fingerprints', where both are known.
    pub(crate) fn check_hasher(&self, of_fingerprints: Option<&str>) -> anyhow::Result<()> {
        Ok(check_hashers("queries", self.hasher.as_deref(), of_fingerprints)?)
    }

    /// The next queries, at most `limit`, without waiting for somebody to send more once there is one. What went wrong is told after
    /// the queries before it, so that they are still answered.
    pub(crate) fn next_batch(&mut self, limit: usize) -> (Vec<Query<F>>, End) {
        let mut batch = Vec::new();
        loop {
            match self.next_query() {
                Ok(Some(query)) => batch.push(query),
                Ok(None) => return (batch, Some(Ok(()))),
                Err(error) => return (batch, Some(Err(error))),
            }
            let waits = match &self.from {
                From::Arguments(_) => false,
                From::Reader(reader) => !self.all_there && !reader.ready(),
            };
            if waits || batch.len() >= limit {
                return (batch, None);
            }
        }
    }

    fn next_query(&mut self) -> anyhow::Result<Option<Query<F>>> {
        let (fingerprint, id) = match &mut self.from {
            From::Arguments(left) => match left.pop_front() {
                Some(fingerprint) => (fingerprint, None),
                None => return Ok(None),
            },
            From::Reader(reader) => match reader.next_entry()? {
                Some(Entry { fingerprint, id }) => match id.own() {
                    Ok(id) => (fingerprint, id),
                    Err(message) => return Err(reader.here().error(message)),
                },
                None => return Ok(None),
            },
        };
        let number = self.next_number;
        self.next_number += 1;
        Ok(Some(Query { fingerprint, id: id.unwrap_or(Id::Number(number)) }))
    }
}

/// Whether an input, standard input if there is no name, is a regular file.
fn is_regular(input: Option<&OsStr>) -> bool {
    // Where there is no such name, nobody knows, and nothing is waited for.
    let file = input.filter(|file| *file != "-").unwrap_or(OsStr::new("/dev/stdin"));
    std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file())
}

fn arguments<F: Fingerprint>(queries: &[String]) -> anyhow::Result<VecDeque<F>> {
    let numbered = queries.iter().zip(1..);
    numbered
        .map(|(text, n): (_, u64)| parse_hex(text.as_bytes()).map_err(|message| anyhow!("query {n}: {message}")))
        .collect()
}
