//! Where queries come from: the command line, a file, or a pipe that may never end.

use std::collections::VecDeque;
use std::ffi::OsStr;

use anyhow::{anyhow, bail};
use fpstore_tools::input::{IdRule, Reader, Source, parse_hex};
use fpstore_tools::progress::Progress;

use crate::args::Args;

/// One query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) fingerprint: u64,
    /// Its id in the input, or its number there.
    pub(crate) id: u64,
}

/// The queries, in order.
#[derive(Debug)]
pub(crate) struct Queries {
    from: From,
    rule: IdRule,
    next_number: u64,
}

#[derive(Debug)]
enum From {
    Arguments(VecDeque<u64>),
    Reader(Box<Reader>),
}

/// What came after a batch: nothing yet, the end, or an error.
pub(crate) type End = Option<anyhow::Result<()>>;

impl Queries {
    /// Opens the input. Arguments are all checked here, before the first answer.
    pub(crate) fn new(args: &Args) -> anyhow::Result<Self> {
        let from = match (&args.input, args.queries.as_slice()) {
            (Some(file), _) => reader(args, file)?,
            (None, []) => reader(args, OsStr::new("-"))?,
            (None, [dash]) if dash == "-" => reader(args, OsStr::new("-"))?,
            (None, _) if args.options.any() => {
                bail!("--format and the column options describe an input; queries on the command line are hex")
            }
            (None, queries) => From::Arguments(arguments(queries)?),
        };
        Ok(Self { from, rule: IdRule::default(), next_number: 0 })
    }

    /// The next queries, at most `limit`, without waiting for more once there is one. What went wrong is told after
    /// the queries before it, so that they are still answered.
    pub(crate) fn next_batch(&mut self, limit: usize) -> (Vec<Query>, End) {
        let mut batch = Vec::new();
        loop {
            match self.next_query() {
                Ok(Some(query)) => batch.push(query),
                Ok(None) => return (batch, Some(Ok(()))),
                Err(error) => return (batch, Some(Err(error))),
            }
            let waits = match &self.from {
                From::Arguments(_) => false,
                From::Reader(reader) => !reader.ready(),
            };
            if waits || batch.len() >= limit {
                return (batch, None);
            }
        }
    }

    fn next_query(&mut self) -> anyhow::Result<Option<Query>> {
        let (fingerprint, id) = match &mut self.from {
            From::Arguments(left) => match left.pop_front() {
                Some(fingerprint) => (fingerprint, None),
                None => return Ok(None),
            },
            From::Reader(reader) => match reader.next_entry()? {
                Some(entry) => {
                    self.rule.check(entry).map_err(|message| reader.here().error(message))?;
                    (entry.fingerprint, entry.id)
                }
                None => return Ok(None),
            },
        };
        let number = self.next_number;
        self.next_number += 1;
        Ok(Some(Query { fingerprint, id: id.unwrap_or(number) }))
    }
}

fn reader(args: &Args, file: &OsStr) -> anyhow::Result<From> {
    let reader = Reader::open(&Source::new(file), &args.options, &Progress::hidden())?;
    Ok(From::Reader(Box::new(reader)))
}

fn arguments(queries: &[String]) -> anyhow::Result<VecDeque<u64>> {
    let numbered = queries.iter().zip(1..);
    numbered
        .map(|(text, n): (_, u64)| parse_hex(text.as_bytes()).map_err(|message| anyhow!("query {n}: {message}")))
        .collect()
}
