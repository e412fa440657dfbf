//! Processes every document: one thread reads, all others work, and the results come in the order of the input.
//!
//! The memory for documents is divided into three: documents in the queue, documents of the batch in work, and the
//! parsed JSON of such a batch. The buffer of the input, as long as one document, comes in addition.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use anyhow::{Context, anyhow};
use rayon::prelude::*;

use super::content::Columns;
use super::inputs::Kinds;
use super::item::{Item, Location};
use super::queue::{Batch, Filler, queue};
use super::reader::Reader;
use super::{Document, Fault, Inputs};
use crate::notice;
use crate::number::bytes;
use crate::progress::Progress;

/// Shares of the memory for documents: in the queue, in work, and parsed.
const SHARES: u64 = 3;

/// Most documents that a thread takes at once.
const PIECE: usize = 16;

/// The result for a document, and the place of the document.
#[derive(Debug)]
pub struct Made<T> {
    /// Place of the document.
    pub place: Location,
    /// The result of `make`, or the fault of the document.
    pub result: Result<T, Fault>,
}

/// Totals of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of documents, including those with a fault.
    pub documents: u64,
    /// Bytes of texts or tokens.
    pub bytes: u64,
    /// Most memory that pages of Parquet have taken, in bytes and approximately. A page is read whole.
    pub page: u64,
}

impl Counts {
    /// Warns of pages of Parquet that are larger than the memory for documents.
    pub fn warn_of_pages(&self, memory: u64) {
        if self.page > memory {
            let page = bytes(self.page);
            notice::warn(format_args!(
                "pages of Parquet are not read in parts, and the largest here take up to {page} of memory: more than \
                     --memory has for them. Write the file with pages of 1 MiB, and texts without a dictionary"
            ));
        }
    }
}

/// Calls `make` with every document, on all threads of the pool, and `take` with batches of the results, in the order
/// of the input. A call of `take` receives the results of all documents that were available; the caller should then
/// write its output, since the next documents may take long to arrive.
///
/// Documents in flight take about `memory` bytes at most, or as much as a single larger document needs. The same limit
/// applies to the input's buffer, except for larger pages of Parquet, which [`Counts`] reports. The result for a
/// document counts as `made` bytes.
///
/// # Errors
///
/// The first error in the order of the input: of reading, of a document with a fault or of `make` (these name the
/// place), or of `take`. `take` has then received all results before it. An error if the user has asked the program to
/// stop.
pub fn each<T: Send>(
    inputs: &Inputs,
    memory: u64,
    made: u64,
    progress: &Progress,
    make: impl Fn(Document, &Location) -> anyhow::Result<T> + Sync,
    take: impl FnMut(Vec<T>) -> anyhow::Result<()>,
) -> anyhow::Result<Counts> {
    each_or_fault(inputs, memory, made, progress, make, strict(take))
}

/// Returns a `take` that turns the first fault into an error.
fn strict<T>(mut take: impl FnMut(Vec<T>) -> anyhow::Result<()>) -> impl FnMut(Vec<Made<T>>) -> anyhow::Result<()> {
    move |batch| {
        let mut results = Vec::with_capacity(batch.len());
        let mut failed = None;
        for Made { place, result } in batch {
            match result {
                Ok(result) => results.push(result),
                Err(fault) => {
                    failed = Some(anyhow!("{place}: {fault}"));
                    break;
                }
            }
        }
        if !results.is_empty() {
            take(results)?;
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Like [`each`], but passes faults of documents to `take` in place of results.
///
/// # Errors
///
/// Errors of [`each`], except for faults of documents.
pub fn each_or_fault<T: Send>(
    inputs: &Inputs,
    memory: u64,
    made: u64,
    progress: &Progress,
    make: impl Fn(Document, &Location) -> anyhow::Result<T> + Sync,
    take: impl FnMut(Vec<Made<T>>) -> anyhow::Result<()>,
) -> anyhow::Result<Counts> {
    let columns = inputs.options.columns();
    let (inputs, progress) = (inputs.clone(), progress.clone());
    let page = Arc::new(AtomicU64::new(0));
    let longest = Arc::clone(&page);
    let counts = flow(memory, move |filler| read(&inputs, made, &progress, filler, &longest), &columns, make, take)?;
    Ok(Counts { page: page.load(Relaxed), ..counts })
}

/// Reads all inputs to their end, or until no more documents are wanted.
fn read(
    inputs: &Inputs,
    made: u64,
    progress: &Progress,
    filler: &Filler<Item>,
    page: &AtomicU64,
) -> anyhow::Result<()> {
    let kind = inputs.options.columns().kind;
    let mut kinds = Kinds::default();
    let mut number = 0;
    for source in inputs.files() {
        let mut reader = Reader::open(&source?, &inputs.options, progress)?;
        kinds.add(&reader);
        while let Some(item) = reader.next_item(number)? {
            number += 1;
            let cost = item.cost(kind) + made;
            if !filler.push(item, cost) {
                return Ok(());
            }
        }
        page.fetch_max(reader.page_memory(), Relaxed);
    }
    kinds.tell(inputs);
    Ok(())
}

/// Runs [`each`] on the documents that `read` puts into the queue.
fn flow<T: Send>(
    memory: u64,
    read: impl FnOnce(&Filler<Item>) -> anyhow::Result<()> + Send + 'static,
    columns: &Columns,
    make: impl Fn(Document, &Location) -> anyhow::Result<T> + Sync,
    mut take: impl FnMut(Vec<Made<T>>) -> anyhow::Result<()>,
) -> anyhow::Result<Counts> {
    let (filler, taker) = queue(memory / SHARES);
    // The thread is not joined: after an error it may still wait for an input that never ends.
    let reading = thread::Builder::new().name("reading".to_owned()).spawn(move || {
        let end = read(&filler);
        filler.end(end);
    });
    reading.context("cannot start the thread that reads")?;

    let work = |item: Item| {
        let (place, document) = item.document(columns);
        let document = match document {
            Ok(document) => document,
            Err(fault) => return Ok((0, Made { place, result: Err(fault) })),
        };
        let bytes = document.content.bytes();
        let result = make(document, &place).with_context(|| place.to_string())?;
        Ok((bytes, Made { place, result: Ok(result) }))
    };
    let mut counts = Counts::default();
    loop {
        let Batch { items, end } = taker.take()?;
        let results: Vec<anyhow::Result<(u64, Made<T>)>> =
            items.into_par_iter().with_max_len(PIECE).map(work).collect();
        let mut made = Vec::with_capacity(results.len());
        let mut failed = None;
        for result in results {
            match result {
                Ok((bytes, result)) => {
                    counts.bytes += bytes;
                    made.push(result);
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        counts.documents += made.len() as u64;
        if !made.is_empty() {
            take(made)?;
        }
        match (failed, end) {
            (Some(error), _) | (None, Some(Err(error))) => return Err(error),
            (None, Some(Ok(()))) => return Ok(counts),
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::Kind;
    use super::super::item::Raw;
    use super::super::{Content, DocumentId, DocumentOptions};
    use super::*;
    use crate::input::Place;
    use anyhow::bail;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc::channel;

    const MEMORY: u64 = 1 << 20;

    /// Number of the document and length of its text.
    fn measured(document: &Document) -> (u64, usize) {
        match (&document.id, &document.content) {
            (DocumentId::Number(number), Content::Text(text)) => (*number, text.len()),
            other => panic!("{other:?}"),
        }
    }

    /// Returns documents of known numbers and lengths.
    fn item(number: u64) -> Item {
        let place = Place { input: "made".into(), unit: "record", number };
        let raw = Raw::Cells(DocumentId::Number(number), vec![b'x'; length(number)]);
        Item { place: Location::At(place), raw, number }
    }

    fn length(number: u64) -> usize {
        usize::try_from(number * 7919 % 3000).unwrap()
    }

    fn columns() -> Columns {
        DocumentOptions::default().columns()
    }

    /// Writes a file and reads it with pools of several sizes. The results (the numbers of the documents) and the
    /// outcome must not depend on the size.
    fn with_pools(text: &str, bad: u64, full: usize) -> (Vec<u64>, Result<Counts, String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        std::fs::write(&path, text).unwrap();
        let inputs = Inputs::new(&[path.into()], &DocumentOptions::default()).unwrap();
        let once = |memory| {
            let mut taken = Vec::new();
            let make = |document: Document, _: &Location| {
                let (number, _) = measured(&document);
                if number >= bad { bail!("number {number} is bad") } else { Ok(number) }
            };
            let take = |batch: Vec<u64>| {
                for number in batch {
                    if taken.len() == full {
                        bail!("full");
                    }
                    taken.push(number);
                }
                Ok(())
            };
            let result = each(&inputs, memory, 0, &Progress::hidden(), make, take);
            let prefix = format!("{}/", dir.path().display());
            (taken, result.map_err(|error| format!("{error:#}").replace(&prefix, "")))
        };
        let first = once(u64::MAX);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for memory in [0, 100_000, MEMORY] {
                assert!(pool.install(|| once(memory)) == first, "{threads} threads, {memory} bytes");
            }
        }
        first
    }

    fn lines(numbers: impl Iterator<Item = u64>) -> String {
        numbers
            .map(|number| format!("{{\"id\":{number},\"text\":\"{}\"}}\n", "x".repeat(length(number) / 50)))
            .collect()
    }

    #[test]
    fn neither_results_nor_errors_depend_on_the_threads() {
        const NUMBER: u64 = 9000;
        let text = lines(0..NUMBER);
        let numbers = |end| (0..end).collect::<Vec<u64>>();
        let bytes = (0..NUMBER).map(|number| length(number) as u64 / 50).sum();
        let never = usize::MAX;
        assert_eq!(with_pools("", 0, 0), (vec![], Ok(Counts::default())));
        assert_eq!(
            with_pools(&text, NUMBER, never),
            (numbers(NUMBER), Ok(Counts { documents: NUMBER, bytes, page: 0 }))
        );
        let bad = Err("a.ndjson: line 8001: number 8000 is bad".to_owned());
        assert_eq!(with_pools(&text, 8000, never), (numbers(8000), bad.clone()));
        let (full, numbers_of_full) = (Err("full".to_owned()), numbers(700));
        assert_eq!(with_pools(&text, 8000, 700), (numbers_of_full.clone(), full.clone()));
        assert_eq!(with_pools(&text, 700, 700).1, Err("a.ndjson: line 701: number 700 is bad".to_owned()));
        // The error is found by the reading thread (a line without an end) or later.
        let wrong = format!("{text}{{\"text\":\"a\n{}", lines(0..10));
        let message = "a.ndjson: line 9001: EOF while parsing a string (column 10); was it cut? an object that is \
                       longer than a \
                       line needs --format json";
        assert_eq!(with_pools(&wrong, NUMBER, never), (numbers(NUMBER), Err(message.to_owned())));
        assert_eq!(with_pools(&wrong, 8000, never), (numbers(8000), bad));
        assert_eq!(with_pools(&wrong, NUMBER, 700), (numbers_of_full, full));
    }

    #[test]
    fn what_is_wrong_with_reading_comes_after_what_was_read() {
        let read = |filler: &Filler<Item>| {
            assert!((0..5000).all(|number| filler.push(item(number), 1)));
            bail!("the disk is gone")
        };
        let mut taken = Vec::new();
        let take = |batch: Vec<_>| {
            taken.extend(batch);
            Ok(())
        };
        let error = flow(MEMORY, read, &columns(), |document, _| Ok(measured(&document).0), strict(take)).unwrap_err();
        assert_eq!(error.to_string(), "the disk is gone");
        assert!(taken.into_iter().eq(0..5000));
        let panics = |_: &Filler<Item>| panic!("a mistake, made on purpose");
        let error = flow(MEMORY, panics, &columns(), |document, _| Ok(document), strict(|_| Ok(()))).unwrap_err();
        assert_eq!(error.to_string(), "the reading thread has ended early");
    }

    #[test]
    fn a_generator_without_end_is_left_when_nobody_wants_more() {
        let (live, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (ended, end) = channel();
        let read = {
            let (live, most) = (Arc::clone(&live), Arc::clone(&most));
            move |filler: &Filler<Item>| {
                let mut numbers = 0..;
                let wanted = |number| {
                    let item = item(number);
                    most.fetch_max(live.fetch_add(length(number) as u64, SeqCst), SeqCst);
                    let cost = item.cost(Kind::Text);
                    filler.push(item, cost)
                };
                assert!(!numbers.all(wanted));
                Ok(ended.send(())?)
            }
        };
        let make = |document: Document, _: &Location| {
            let (number, length) = measured(&document);
            drop(document);
            live.fetch_sub(length as u64, SeqCst);
            Ok(number)
        };
        let mut taken = 0;
        let take = |batch: Vec<u64>| {
            assert!(batch.iter().copied().eq(taken..taken + batch.len() as u64));
            taken += batch.len() as u64;
            if taken < 50_000 { Ok(()) } else { bail!("enough") }
        };
        let error = flow(MEMORY, read, &columns(), make, strict(take)).unwrap_err();
        assert_eq!(error.to_string(), "enough");
        end.recv().unwrap();
        let most = most.load(SeqCst);
        assert!(most < MEMORY, "{most} bytes in flight");
    }

    #[test]
    fn documents_that_are_there_are_not_kept_waiting() {
        // The next document is read only after the one before it was taken.
        let (taken, again) = channel();
        let read = move |filler: &Filler<Item>| {
            for number in 0..100 {
                assert!(filler.push(item(number), 1));
                assert_eq!(again.recv().unwrap(), [number]);
            }
            Ok(())
        };
        let take = |batch: Vec<u64>| Ok(taken.send(batch)?);
        let counts = flow(MEMORY, read, &columns(), |document, _| Ok(measured(&document).0), strict(take)).unwrap();
        assert_eq!(counts.documents, 100);
    }

    #[test]
    fn errors_keep_their_cause() {
        let read = |filler: &Filler<Item>| {
            assert!(filler.push(item(1), 1));
            Ok(())
        };
        let make = |made: Document, _: &Location| {
            assert_eq!(measured(&made), (1, length(1)));
            Err::<(), _>(crate::interrupt::Interrupted.into())
        };
        let error = flow(MEMORY, read, &columns(), make, strict(|_| Ok(()))).unwrap_err();
        assert!(error.is::<crate::interrupt::Interrupted>());
        assert_eq!(format!("{error:#}"), "made: record 1: stopped");
    }
}
