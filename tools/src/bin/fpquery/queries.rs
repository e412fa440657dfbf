//! Reads queries from the command line, a file, or a pipe that may never end.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::Path;
use std::vec::IntoIter;

use anyhow::{anyhow, bail};
use fpstore::{Fingerprint, Id, IdKind, IdRef, Parameters};
use fpstore_tools::input::{Header, IdRule, Ids, InputOptions, RawId, Series, Source, parse_hex, sources};
use fpstore_tools::notice;
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching;

use crate::args::Args;
use crate::texts::{self, Texts};

/// One query.
#[derive(Clone, Debug)]
pub(crate) struct Query<F> {
    pub(crate) fingerprint: F,
    /// The id in the input, or the number of the query.
    pub(crate) id: Id,
    /// Whether the input has an id.
    pub(crate) has_id: bool,
}

impl<F> Query<F> {
    /// Bytes of the query in a list that grows by doubling.
    pub(crate) fn bytes(&self) -> u64 {
        (2 * size_of::<Self>() + self.id.text().map_or(0, |text| text.len() + 16)) as u64
    }
}

/// The queries, in order.
#[derive(Debug)]
pub(crate) struct Queries<F: Fingerprint> {
    from: From<F>,
    /// Header in the first line.
    header: Option<Header>,
    /// The kind of ids that the queries must have, if they need any.
    rule: Option<IdRule>,
    next_number: u64,
    /// Whether they are available without waiting.
    all_there: bool,
}

#[derive(Debug)]
enum From<F: Fingerprint> {
    Arguments(VecDeque<F>),
    Records(VecDeque<(Id, IntoIter<F>)>),
    Reader(Box<Series<F>>),
    Texts(Texts),
}

/// The end or an error after a batch; `None` if more queries follow.
pub(crate) type End = Option<anyhow::Result<()>>;

impl<F: Fingerprint> Queries<F> {
    /// Opens the input, after checking all arguments.
    pub(crate) fn new(args: &Args, options: &InputOptions) -> anyhow::Result<Self> {
        let mut header = None;
        let mut reader = |file: &OsStr| -> anyhow::Result<From<F>> {
            let series = Series::open(sources(&[file.to_owned()], options)?, options, &Progress::hidden())?;
            header = series.header().cloned();
            Ok(From::Reader(Box::new(series)))
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
        let input = args.input.as_deref().unwrap_or(OsStr::new("-"));
        let all_there = matches!(from, From::Arguments(_)) || is_there(input);
        Ok(Self { from, header, rule: None, next_number: 0, all_there })
    }

    /// Returns the fingerprints and ids of records as queries.
    pub(crate) fn of_records(records: VecDeque<(Id, IntoIter<F>)>) -> Self {
        Self { from: From::Records(records), header: None, rule: None, next_number: 0, all_there: true }
    }

    /// Returns the fingerprints of documents as queries.
    pub(crate) fn of_texts(args: &Args, store: &Parameters) -> anyhow::Result<Self> {
        let (texts, header) = Texts::open::<F>(args, store, args.document_memory())?;
        let names = texts::names(args);
        let all_there = names.iter().all(|name| is_there(name));
        Ok(Self { from: From::Texts(texts), header: Some(header), rule: None, next_number: 0, all_there })
    }

    /// Whether the caller may wait for more queries: they come from a file, not from a pipe whose writer may wait for
    /// answers.
    pub(crate) fn all_there(&self) -> bool {
        self.all_there
    }

    /// The header in the first line of the input.
    pub(crate) fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Warns if queries were numbered although a column may hold their ids, and the numbers are shown.
    pub(crate) fn warn_of_numbered(&self, args: &Args) {
        if let (From::Reader(series), true) = (&self.from, args.with_query_id) {
            series.numbered().iter().for_each(notice::warn);
        }
    }

    /// Rejects queries without ids, and ids of another kind than the records have.
    pub(crate) fn need_ids(&mut self, kind: IdKind) -> anyhow::Result<()> {
        if kind == IdKind::None {
            bail!("--not-self: the records of the store have no ids; leave it out, and skip distance 0");
        }
        if matches!(self.from, From::Arguments(_)) {
            bail!("--not-self: queries on the command line have no ids; give them as lines HEX<TAB>ID, with --input");
        }
        if !matches!(self.from, From::Records(_)) {
            self.rule = Some(IdRule::new(Ids::Is(kind)));
        }
        Ok(())
    }

    /// Rejects queries of another hasher than the fingerprints', if both are known.
    pub(crate) fn check_hasher(&self, of_fingerprints: Option<&str>) -> anyhow::Result<()> {
        Ok(fpstore::check_hashers(
            "queries",
            self.header().and_then(|header| header.hasher.as_deref()),
            of_fingerprints,
        )?)
    }

    /// Returns the next queries: at most `limit`, or as many as take `bytes`; after the first, only those available
    /// without waiting. An error comes after the queries before it, so that they are still answered.
    pub(crate) fn next_batch(&mut self, limit: usize, bytes: u64) -> (Vec<Query<F>>, End) {
        let (mut batch, mut taken) = (Vec::new(), 0);
        loop {
            match self.next_query() {
                Ok(Some(query)) => {
                    taken += query.bytes();
                    batch.push(query);
                }
                Ok(None) => return (batch, Some(Ok(()))),
                Err(error) => return (batch, Some(Err(error))),
            }
            let waits = !self.all_there
                && match &mut self.from {
                    From::Arguments(_) | From::Records(_) => false,
                    From::Reader(reader) => !reader.ready(),
                    From::Texts(texts) => !texts.ready(),
                };
            if waits || batch.len() >= limit || taken >= bytes {
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
            From::Records(left) => loop {
                let Some((id, fingerprints)) = left.front_mut() else { return Ok(None) };
                match fingerprints.next() {
                    Some(fingerprint) => break (fingerprint, Some(id.clone())),
                    None => _ = left.pop_front(),
                }
            },
            From::Reader(series) => match series.next_record(|id| own_id(id, self.rule.as_mut()))? {
                Some(record) => record,
                None => return Ok(None),
            },
            From::Texts(texts) => match texts.next_made()? {
                Some((place, id, fingerprint)) => {
                    let id = own_id(id.raw(), self.rule.as_mut()).map_err(|message| anyhow!("{place}: {message}"))?;
                    (sketching::words(fingerprint), id)
                }
                None => return Ok(None),
            },
        };
        let number = self.next_number;
        self.next_number += 1;
        let has_id = id.is_some();
        Ok(Some(Query { fingerprint, id: id.unwrap_or(Id::Number(number)), has_id }))
    }
}

/// Converts the id of a query, to the kind of the records if there is a rule.
fn own_id(id: RawId<'_>, rule: Option<&mut IdRule>) -> Result<Option<Id>, String> {
    match rule {
        None => id.own(),
        Some(_) if id.is_none() => Err("this query has no id; --not-self needs one in every query".to_owned()),
        Some(rule) => Ok(match rule.check(id)? {
            IdRef::Number(number) => Some(Id::Number(number)),
            IdRef::Text(text) => Some(Id::from(text)),
            IdRef::None => None,
        }),
    }
}

/// Whether all of an input is available: it is a file, or a directory of files.
pub(crate) fn is_there(name: &OsStr) -> bool {
    match Source::new(name) {
        Source::Standard => std::fs::metadata("/dev/stdin").is_ok_and(|metadata| metadata.is_file()),
        source => Path::new(name).is_dir() || !source.is_stream(),
    }
}

fn arguments<F: Fingerprint>(queries: &[String]) -> anyhow::Result<VecDeque<F>> {
    let numbered = queries.iter().zip(1..);
    numbered
        .map(|(text, n): (_, u64)| parse_hex(text.as_bytes()).map_err(|message| anyhow!("query {n}: {message}")))
        .collect()
}
