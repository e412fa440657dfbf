//! Many queries: the matches of each, in the order of the queries.
//!
//! Threads take pieces of the queries in turn, and each sends the matches of its pieces through a channel of its own; the
//! channels are read in the same order. A thread waits when its channel is full, so the memory is bounded however many
//! matches a query has. A batch that is large beside the store is merged with it instead, as the library advises.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use arrow_array::ArrayRef;
use fpstore::{
    BatchStrategy, Error, ErrorKind, Fingerprint, IdKind, Match, Progress, Result, Searcher, Snapshot, Visit,
};

use crate::input::{fingerprints, invalid};
use crate::open::{AnySnapshot, Stop, with_snapshot};
use crate::output::{Answers, Kind, Layout, Rows, Sender};
use crate::threads::spawn_scoped;

/// Fewest and most queries of a piece. A piece is a batch of rows, or more.
const PIECE: [usize; 2] = [256, 8192];
/// Pieces of a thread, if they are not too small or too large.
const PIECES: usize = 32;
/// Batches of a thread that may wait to be read.
const AHEAD: usize = 8;
/// Most queries that are merged at a time, and fewest.
const MERGED: [usize; 2] = [1 << 20, 256];
/// Memory of the answers of merged queries.
const MERGE_MEMORY: u64 = 512 << 20;

/// What is asked of each fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// All records within a distance.
    Within(u32),
    /// So many nearest records within a distance.
    Nearest(usize, u32),
}

impl Question {
    fn k(self) -> u32 {
        match self {
            Self::Within(k) | Self::Nearest(_, k) => k,
        }
    }

    fn ask<F: Fingerprint>(
        self,
        searcher: &mut Searcher<'_, F>,
        query: F,
        visit: &mut dyn FnMut(Match<F>) -> ControlFlow<()>,
    ) -> Result<()> {
        match self {
            Self::Within(k) => searcher.visit(query, &Visit::within(k), visit).map(drop),
            Self::Nearest(count, k) => {
                let found = searcher.nearest_within(query, count, k)?;
                let _ = found.into_iter().try_for_each(visit);
                Ok(())
            }
        }
    }
}

/// The matches of every fingerprint of a column: `query_row`, `fingerprint`, `distance`, and `id`, or `count` where there
/// are no ids.
///
/// # Errors
/// `InvalidInput` if the column is not of fingerprints of the store, or the distance exceeds their width.
pub fn queries(snapshot: &AnySnapshot, column: &ArrayRef, question: Question, threads: usize) -> Result<Answers> {
    let (kind, width) = (snapshot.parameters().ids(), snapshot.parameters().width());
    check_distance(question.k(), width)?;
    let id = if kind == IdKind::None { "count" } else { "id" };
    let layout = Layout::new(&[
        ("query_row", Kind::Number),
        ("fingerprint", Kind::Fingerprint(width)),
        ("distance", Kind::Distance),
        (id, Kind::Id(kind)),
    ]);
    with_snapshot!(snapshot, snapshot => start(snapshot.clone(), column, question, layout, threads))
}

/// Starts the queries, after a look at the type of the column: a wrong one is an error now, not of the first batch.
fn start<F: Fingerprint>(
    snapshot: Snapshot<F>,
    column: &ArrayRef,
    question: Question,
    layout: Layout,
    threads: usize,
) -> Result<Answers> {
    fingerprints::each::<F>(&*column.slice(0, 0), |_, _| Ok(()))?;
    let (progress, column) = (Progress::default(), Arc::clone(column));
    let asker = Asker { snapshot, question, layout: layout.clone(), progress: progress.clone(), threads };
    Answers::start(&layout, progress, move |sender| asker.answer(&column, sender))
}

/// Refuses a distance that fingerprints of this width cannot have.
///
/// # Errors
/// `InvalidInput` if it exceeds the width.
pub fn check_distance(k: u32, width: u32) -> Result<()> {
    if k <= width { Ok(()) } else { Err(invalid(format!("k is {k}, and fingerprints have {width} bits"))) }
}

/// Whether there is a record within distance `k` of each fingerprint of a column; of a null there is none.
///
/// # Errors
/// As [`queries`].
pub fn contains_near(
    snapshot: &AnySnapshot,
    column: &ArrayRef,
    k: u32,
    threads: usize,
    stop: &Stop,
) -> Result<Vec<bool>> {
    with_snapshot!(snapshot, snapshot => {
        let (queries, rows) = fingerprints::all(&**column)?;
        let searched = std::thread::scope(|scope| {
            let length = queries.len().div_ceil(threads.max(1)).max(1);
            let search = |part| {
                let mut searcher = snapshot.searcher();
                let near = |query: &_| {
                    stop.check()?;
                    Ok(searcher.contains_near(*query, k)?.is_some())
                };
                <[_]>::iter(part).map(near).collect::<Result<Vec<bool>>>()
            };
            let start = |part| spawn_scoped(scope, "fpstore query", move || search(part));
            let threads = queries.chunks(length).map(start).collect::<Result<Vec<_>>>()?;
            threads.into_iter().map(joined).collect::<Result<Vec<_>>>()
        })?;
        let found = searched.into_iter().flatten();
        if queries.len() == column.len() {
            return Ok(found.collect());
        }
        let mut near = vec![false; column.len()];
        for (row, is_near) in rows.iter().zip(found) {
            let row = usize::try_from(*row).ok().and_then(|row| near.get_mut(row));
            row.into_iter().for_each(|near| *near = is_near);
        }
        Ok(near)
    })
}

/// The result of a thread; its panic goes on here.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Answers queries in one way.
struct Asker<F: Fingerprint> {
    snapshot: Snapshot<F>,
    question: Question,
    layout: Layout,
    progress: Progress,
    threads: usize,
}

/// Queries with the rows that they came from, unless they are all rows.
struct Queries<'a, F> {
    queries: &'a [F],
    rows: &'a [u64],
    first: usize,
}

impl<F> Queries<'_, F> {
    /// The row of a query.
    fn row(&self, query: usize) -> u64 {
        self.rows.get(query).copied().unwrap_or((self.first + query) as u64)
    }
}

/// What a thread has found: rows, or the end of a piece.
type Found = Option<Result<Rows>>;

/// What a thread makes of merged answers.
enum Part {
    Rows(Rows),
    /// A query that is answered alone.
    Ask(usize),
}

#[inline]
fn push<F: Fingerprint>(rows: &mut Rows, row: u64, found: &Match<F>) {
    rows.number(row);
    rows.fingerprint(found.fingerprint);
    rows.distance(found.distance);
    rows.id(&found.id);
    rows.end_row();
}

/// Gathers matches until they are a batch.
struct Gather<'a> {
    layout: &'a Layout,
    rows: Rows,
    send: &'a dyn Fn(Rows) -> Result<ControlFlow<()>>,
    /// An error of sending, or that the reader has dropped the answers.
    ended: Option<Result<()>>,
}

impl<'a> Gather<'a> {
    fn new(layout: &'a Layout, send: &'a dyn Fn(Rows) -> Result<ControlFlow<()>>) -> Self {
        Self { layout, rows: layout.rows(), send, ended: None }
    }

    #[inline]
    fn push<F: Fingerprint>(&mut self, row: u64, found: &Match<F>) -> ControlFlow<()> {
        push(&mut self.rows, row, found);
        if self.rows.is_full() { self.flush() } else { ControlFlow::Continue(()) }
    }

    fn flush(&mut self) -> ControlFlow<()> {
        match (self.send)(std::mem::replace(&mut self.rows, self.layout.rows())) {
            Ok(ControlFlow::Continue(())) => return ControlFlow::Continue(()),
            Ok(ControlFlow::Break(())) => self.ended = Some(Ok(())),
            Err(error) => self.ended = Some(Err(error)),
        }
        ControlFlow::Break(())
    }

    /// Sends the last rows; breaks if the reader has dropped the answers.
    fn finish(mut self) -> Result<ControlFlow<()>> {
        if self.ended.is_none() {
            let _ = self.flush();
        }
        let Some(ended) = self.ended else { return Ok(ControlFlow::Continue(())) };
        ended.map(ControlFlow::Break)
    }
}

impl<F: Fingerprint> Asker<F> {
    fn answer(&self, column: &ArrayRef, sender: &Sender) -> Result<()> {
        let (queries, rows) = fingerprints::all::<F>(&**column)?;
        let merges = matches!(self.question, Question::Within(k)
            if self.snapshot.searcher().batch_strategy(queries.len(), k) == BatchStrategy::Always);
        let (mut first, [mut length, least]) = (0, MERGED);
        while !self.progress.is_stopped()
            && let Some(rest) = queries.get(first..).filter(|rest| !rest.is_empty())
        {
            let queries = if merges { rest.get(..length.min(rest.len())).unwrap_or_default() } else { rest };
            let some = Queries { queries, rows: rows.get(first..).unwrap_or_default(), first };
            if !merges {
                self.probe(&some, sender)?;
            } else if !self.merge(&some, sender)? {
                if queries.len() > least {
                    length = (queries.len() / 4).max(least);
                    continue;
                }
                self.probe(&some, sender)?;
            }
            first += queries.len();
        }
        Ok(())
    }

    /// Merges the queries with the store; `false`, with nothing sent, if their answers take too much memory.
    fn merge(&self, some: &Queries<'_, F>, sender: &Sender) -> Result<bool> {
        let make = |first: usize, answers: Vec<Option<Vec<Match<F>>>>| {
            let (mut parts, mut rows) = (Vec::new(), self.layout.rows());
            for (query, matches) in (first..).zip(answers) {
                let row = some.row(query);
                matches.iter().flatten().for_each(|found| push(&mut rows, row, found));
                if matches.is_none() || rows.is_full() {
                    parts.push(Part::Rows(std::mem::replace(&mut rows, self.layout.rows())));
                }
                if matches.is_none() {
                    parts.push(Part::Ask(query));
                }
            }
            parts.push(Part::Rows(rows));
            parts
        };
        let take = |parts: Vec<Part>| {
            for part in parts {
                let flow = match part {
                    Part::Rows(rows) => sender.send(rows)?,
                    Part::Ask(query) => self.ask_alone(some, query, sender)?,
                };
                if flow.is_break() {
                    return Err(Error::new(ErrorKind::Stopped, "the reader has dropped the answers"));
                }
            }
            Ok(())
        };
        self.snapshot.searcher().visit_batch(some.queries, self.question.k(), MERGE_MEMORY, make, take)
    }

    /// Answers a query that has too many matches for a list.
    fn ask_alone(&self, some: &Queries<'_, F>, query: usize, sender: &Sender) -> Result<ControlFlow<()>> {
        let Some(&fingerprint) = some.queries.get(query) else { return Ok(ControlFlow::Continue(())) };
        let send = |rows| sender.send(rows);
        let mut gather = Gather::new(&self.layout, &send);
        let row = some.row(query);
        self.question.ask(&mut self.snapshot.searcher(), fingerprint, &mut |found| gather.push(row, &found))?;
        gather.finish()
    }

    /// Looks the queries up, on all threads.
    fn probe(&self, some: &Queries<'_, F>, sender: &Sender) -> Result<()> {
        let [least, most] = PIECE;
        let length = (some.queries.len() / (self.threads.max(1) * PIECES)).clamp(least, most);
        let pieces = some.queries.len().div_ceil(length);
        let threads = self.threads.clamp(1, pieces.max(1));
        std::thread::scope(|scope| {
            let channels = (0..threads)
                .map(|thread| {
                    let (found, channel) = sync_channel(AHEAD);
                    spawn_scoped(scope, "fpstore query", move || {
                        // An error ends the pieces of all threads: the reader does not ask for more.
                        if let Err(error) = self.pieces(some, length, (thread, threads), &found) {
                            let _ = found.send(Some(Err(error)));
                        }
                    })
                    .map(|_| channel)
                })
                .collect::<Result<Vec<_>>>()?;
            for piece in 0..pieces {
                // A thread that has panicked sends nothing more; the scope passes its panic on.
                let Some(channel) = channels.get(piece % threads) else { return Ok(()) };
                while let Ok(Some(found)) = channel.recv() {
                    if sender.send(found?)?.is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    /// Answers every piece of one of the threads, with a `None` after each.
    fn pieces(
        &self,
        some: &Queries<'_, F>,
        length: usize,
        (thread, threads): (usize, usize),
        found: &SyncSender<Found>,
    ) -> Result<()> {
        let sent = |message| {
            let sent = found.send(message);
            if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mut searcher = self.snapshot.searcher();
        for (number, piece) in some.queries.chunks(length).enumerate().skip(thread).step_by(threads) {
            let send = |rows| Ok(sent(Some(Ok(rows))));
            let mut gather = Gather::new(&self.layout, &send);
            for (query, &fingerprint) in (number * length..).zip(piece) {
                let row = some.row(query);
                self.question.ask(&mut searcher, fingerprint, &mut |found| gather.push(row, &found))?;
                if gather.ended.is_some() || self.progress.is_stopped() {
                    return Ok(());
                }
            }
            if gather.finish()?.is_break() || sent(None).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}
