//! Earlier labels and their records, matched by their places.
//!
//! Labels most often come in the order of the store, as they were written. So a label is compared with the next record,
//! and with a few after it, as records come and go; other threads read the records meanwhile. Labels and records
//! without a counterpart are left for [`crate::cluster::earlier_clusters`], which sorts them. Several records that
//! share an id are matched in order; this is right if all of them have a label and all labels a record.

use crate::bitset::Bitset;
use crate::cluster::clusters::Clusters;
use crate::cluster::groups::shares;
use crate::cluster::keys::{Key, Keys, Line};
use crate::cluster::label_order::{BYTES, Order};
use crate::cluster::labels::LabelRef;
use crate::cluster::names::Names;
use crate::cluster::numbers::Numbers;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::spawn;
use crate::extsort::Sorter;
use crate::fingerprint::{Fingerprint, IdKind, IdRef, Record};
use crate::join::{Output, Progress, Step, ordered};
use crate::segment::{Segment, SegmentRecords};
use crate::version::{RecordIter, Share};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// Bytes of records in one message of a thread, about.
const SENT: usize = 1 << 18;
/// Records and bytes of names of a chunk, about.
const RECORDS: usize = 256;
const CHUNK: usize = 1 << 14;
const WAITING: usize = 2;
/// Records in which a label is searched if it is not that of the next record: [`FAR`] after the first, second, fourth
/// and so on of consecutive labels without a record, else [`NEAR`]. So labels in another order take little time.
const NEAR: usize = 32;
const FAR: usize = 1 << 12;

/// Entry of a label for a record that is missing.
pub(crate) const MISSING: u64 = 0;
/// Entry for the record whose id is the label, plus its fingerprint's number.
pub(crate) const STANDING: u64 = 1;
/// Entry for another record of the cluster, plus its fingerprint's number.
pub(crate) const MEMBER: u64 = 1 << 33;

/// Matches labels, as they are pushed, with records, as threads read them.
#[derive(Debug)]
pub(crate) struct Matching<F: Fingerprint, K: Key> {
    records: Receiver<Result<Vec<RecordChunk<F>>>>,
    reading: Option<JoinHandle<()>>,
    /// Whether reading has failed and the error was returned.
    has_failed: bool,
    /// The next records, in chunks that are not empty.
    ahead: VecDeque<RecordChunk<F>>,
    at: usize,
    waiting: usize,
    /// Labels without a record since the last match.
    missed: usize,
    /// The text of the last label, and its key: neighbours often have the same label.
    last: Option<(String, K)>,
    entry: Option<(K, u64)>,
    pub(crate) matched: u64,
    pub(crate) has_rest: bool,
    pub(crate) members: Sorter<(K, u64)>,
    /// Heads of the matched ids, and the numbers of their fingerprints.
    pub(crate) ids: Sorter<(u64, u64)>,
    pub(crate) lines: Sorter<Line<K>>,
    pub(crate) unknown: Sorter<(K, u64)>,
    /// The numbers of fingerprints that may have unknown neighbours.
    pub(crate) fresh: Bitset,
    /// The numbers of fingerprints with a record whose id is its label, as long as no label is greater than its
    /// record's id.
    pub(crate) standing: Option<Bitset>,
    /// The label of each record.
    pub(crate) order: Order<F>,
}

#[derive(Debug)]
struct RecordChunk<F> {
    /// A lower bound of the first 64 bits of their fingerprints: that of the chunk before, or greater than any there.
    from: u64,
    names: Names<F>,
    /// Old records: the numbers of their fingerprints, and the heads of their ids.
    old: Vec<(u32, u64)>,
    /// Number of old records of each fingerprint of the store.
    counts: Vec<u32>,
    /// Whether the first count is of the last fingerprint of the chunk before.
    goes_on: bool,
    /// New records, each with the number of old ones before it and the number of its fingerprint.
    new: Vec<(usize, u32, Record<F>)>,
    fresh: Vec<u32>,
    /// Whether new records were left out, as they take too much memory.
    lacks_new: bool,
}

impl<F: Fingerprint, K: Key> Matching<F, K> {
    /// Starts to read the records; sorts within `memory` bytes.
    pub(crate) fn new(clusters: &Clusters<F>, keys: &Keys, memory: u64) -> Result<Self> {
        let count = Numbers::<F>::count_of(&clusters.segments()?)? as usize;
        let workspace = clusters.job.workspace(memory);
        let (reading, records) = read::<F, K>(clusters, keys.clone())?;
        Ok(Self {
            records,
            reading: Some(reading),
            has_failed: false,
            ahead: VecDeque::new(),
            at: 0,
            waiting: 0,
            missed: 0,
            last: None,
            entry: None,
            matched: 0,
            has_rest: false,
            members: Sorter::new(&workspace, memory / 4),
            ids: Sorter::new(&workspace, memory / 4),
            lines: Sorter::new(&workspace, memory / 8),
            unknown: Sorter::new(&workspace, memory / 8),
            fresh: Bitset::new(count),
            standing: Some(Bitset::new(count)),
            order: Order::new(memory / 8),
        })
    }

    /// Takes a record and its label; `line` counts them.
    pub(crate) fn push(
        &mut self,
        keys: &Keys,
        record: LabelRef<'_, F>,
        cluster: LabelRef<'_, F>,
        line: u64,
    ) -> Result<()> {
        let label = self.key(keys, cluster);
        let Some((number, head)) = self.find(keys, record)? else {
            self.has_rest = true;
            self.order.skip_label(line);
            return self.lines.push((keys.key(record), (label, line)));
        };
        self.matched += 1;
        self.ids.push((head, number.into()))?;
        let mut kind = MEMBER;
        if record == cluster {
            kind = STANDING;
            self.standing.iter_mut().for_each(|standing| _ = standing.insert(number as usize));
        } else if cluster > record {
            self.standing = None;
        }
        let entry = (label, u64::from(number) + kind);
        if self.entry == Some(entry) {
            return Ok(());
        }
        self.entry = Some(entry);
        self.members.push(entry)
    }

    fn key(&mut self, keys: &Keys, cluster: LabelRef<'_, F>) -> K {
        let LabelRef::Text(text) = cluster else { return keys.key(cluster) };
        match &mut self.last {
            Some((last, key)) if last == text => *key,
            last => {
                let (kept, key) = last.get_or_insert_default();
                text.clone_into(kept);
                *key = keys.key(cluster);
                *key
            }
        }
    }

    fn pass(&mut self, keys: &Keys) -> Result<()> {
        self.has_rest = true;
        let name = self.ahead.front().and_then(|chunk| chunk.names.get(self.at));
        let name = name.ok_or_else(|| Error::damaged("a record has no name"))?;
        let key = keys.key(name);
        self.order.skip_record(name);
        let Some((number, _)) = self.next() else { return Ok(()) };
        self.unknown.push((key, number.into()))
    }

    /// Takes the next record ahead: the number of its fingerprint, and the head of its id.
    fn next(&mut self) -> Option<(u32, u64)> {
        let chunk = self.ahead.front()?;
        let next = chunk.old.get(self.at).copied();
        self.at += 1;
        self.waiting -= 1;
        if self.at == chunk.old.len() {
            self.ahead.pop_front();
            self.at = 0;
        }
        next
    }

    /// Takes a record if it is among the next ones, and skips those before it.
    fn find(&mut self, keys: &Keys, record: LabelRef<'_, F>) -> Result<Option<(u32, u64)>> {
        if self.ahead.is_empty() {
            self.fill(1)?;
        }
        if self.ahead.front().and_then(|chunk| chunk.names.get(self.at)) != Some(record) {
            let reach = if self.missed == 0 || self.missed.is_power_of_two() { FAR } else { NEAR };
            self.fill(reach)?;
            let names = self.ahead.iter().flat_map(|chunk| chunk.names.iter());
            let Some(at) = names.skip(self.at).take(reach).position(|name| name == record) else {
                self.missed += 1;
                return Ok(None);
            };
            (0..at).try_for_each(|_| self.pass(keys))?;
        }
        self.missed = 0;
        self.order.meet();
        Ok(self.next())
    }

    /// Receives until `count` records are ahead or all were read. Resumes a panic of the reading thread.
    fn fill(&mut self, count: usize) -> Result<()> {
        if self.has_failed {
            return Err(Error::new(ErrorKind::Io, "the records could not be read; see the earlier error"));
        }
        while self.waiting < count {
            let Ok(chunks) = self.records.recv() else {
                return self
                    .reading
                    .take()
                    .map_or(Ok(()), |reading| reading.join().or_else(|panic| resume_unwind(panic)));
            };
            for mut chunk in chunks.inspect_err(|_| self.has_failed = true)? {
                chunk.fresh.iter().for_each(|&number| _ = self.fresh.insert(number as usize));
                for (at, number, record) in chunk.new.drain(..) {
                    self.order.add_new(at, number, record);
                }
                if chunk.lacks_new {
                    self.order.lose();
                }
                self.order.add_records(chunk.from, chunk.goes_on, &chunk.counts);
                if !chunk.old.is_empty() {
                    self.waiting += chunk.old.len();
                    self.ahead.push_back(chunk);
                }
            }
        }
        Ok(())
    }

    /// Ends the labels: the other records have none.
    pub(crate) fn end(&mut self, keys: &Keys) -> Result<()> {
        loop {
            self.fill(1)?;
            if self.waiting == 0 {
                return Ok(());
            }
            self.pass(keys)?;
        }
    }
}

type Read<F> = (JoinHandle<()>, Receiver<Result<Vec<RecordChunk<F>>>>);

/// Starts a thread that reads all records with a crew.
fn read<F: Fingerprint, K: Key>(clusters: &Clusters<F>, keys: Keys) -> Result<Read<F>> {
    let segments = clusters.segments()?;
    let numbers = Numbers::<F>::new(&segments, 0)?;
    let (old, new) = segments.split_at(clusters.old()?);
    let reading = Reading {
        old: old.to_vec(),
        new: new.to_vec(),
        numbers,
        kind: clusters.parameters.ids(),
        keys,
        progress: clusters.progress(),
        kept: AtomicUsize::new(0),
    };
    let (shares, executor) = (shares(&segments)?, Arc::clone(&clusters.job.executor));
    let (sender, records) = sync_channel(WAITING);
    let run = move || {
        let mut take = |chunks: Vec<RecordChunk<F>>| {
            // Fails if the receiver is gone.
            let sent = sender.send(Ok(chunks));
            Ok(if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        let work = |(): &mut (), share: Share, output: &Output<_>| reading.share::<K>(share, output);
        let read = executor.crew().and_then(|crew| ordered(None, &crew, shares, || (), work, &mut take));
        if let Err(error) = read {
            let _ = sender.send(Err(error));
        }
    };
    let reading = spawn("fpstore labels", run)?;
    Ok((reading, records))
}

struct Reading<F> {
    old: Vec<Arc<Segment>>,
    new: Vec<Arc<Segment>>,
    numbers: Numbers<F>,
    kind: IdKind,
    keys: Keys,
    progress: Progress,
    /// Bytes of new records in all chunks.
    kept: AtomicUsize,
}

impl<F: Fingerprint> Reading<F> {
    fn share<K: Key>(&self, share: Share, output: &Output<Vec<RecordChunk<F>>>) -> Step {
        self.progress.check()?;
        let (mut numbers, mut numbers_of_new) = (self.numbers.ascending()?, self.numbers.ascending()?);
        let mut new = RecordIter::<F>::of_share(&self.new, share)?;
        let (mut chunks, mut chunk, mut bytes) = (Vec::new(), RecordChunk::new(share.from, self.kind), 0);
        let mut last: Option<(F, u32)> = None;
        self.each_old(share, |fingerprint, id| {
            let name = LabelRef::of(fingerprint, id);
            let mut as_new = None;
            let is_by_then = |next: &Record<F>| (next.fingerprint, LabelRef::of_record(next)) <= (fingerprint, name);
            while let Some(next) = new.next_if(is_by_then) {
                if next.fingerprint != fingerprint || LabelRef::of_record(&next) != name {
                    chunk.add_new(numbers_of_new.of(next.fingerprint)?, next, &self.kept);
                } else if self.kind != IdKind::None {
                    // Without ids, a fingerprint that was there before is not new.
                    as_new = Some(next);
                }
            }
            if let Some(error) = new.take_error() {
                return Err(error.into());
            }
            if chunk.old.len() >= RECORDS || chunk.names.bytes() >= CHUNK {
                // Records with equal first 64 bits are one chunk of the order, and possibly several here.
                let head = fingerprint.word(0);
                let from = if last.is_none_or(|(last, _)| last.word(0) < head) { head } else { chunk.from };
                bytes += chunk.bytes();
                chunks.push(std::mem::replace(&mut chunk, RecordChunk::new(from, self.kind)));
                if last.is_some_and(|(last, _)| last == fingerprint) {
                    chunk.goes_on = true;
                    chunk.counts.push(0);
                }
                if bytes >= SENT {
                    output.send(std::mem::take(&mut chunks))?;
                    bytes = 0;
                }
            }
            let number = match last {
                Some((last, number)) if last == fingerprint => number,
                _ => {
                    chunk.counts.push(0);
                    numbers.of(fingerprint)?
                }
            };
            last = Some((fingerprint, number));
            match as_new {
                Some(record) => chunk.add_new(number, record, &self.kept),
                None => {
                    chunk.names.push(name);
                    chunk.old.push((number, self.keys.head::<F, K>(name)));
                    chunk.counts.last_mut().into_iter().for_each(|count| *count += 1);
                }
            }
            Ok(())
        })?;
        for next in new {
            let next = next?;
            chunk.add_new(numbers_of_new.of(next.fingerprint)?, next, &self.kept);
        }
        chunks.push(chunk);
        output.send(chunks)
    }

    fn each_old(&self, share: Share, mut take: impl FnMut(F, IdRef<'_>) -> Step) -> Step {
        if let [segment] = &self.old[..] {
            return SegmentRecords::<F>::visit_near(segment, share.from, |fingerprint, id| {
                if share.has(fingerprint) {
                    take(fingerprint, id).map(ControlFlow::Continue)
                } else if fingerprint.word(0) < share.from {
                    Ok(ControlFlow::Continue(()))
                } else {
                    Ok(ControlFlow::Break(()))
                }
            });
        }
        for record in RecordIter::<F>::of_share(&self.old, share)? {
            let Record { fingerprint, id } = record?;
            take(fingerprint, id.as_ref())?;
        }
        Ok(())
    }
}

impl<F: Fingerprint> RecordChunk<F> {
    fn new(from: u64, kind: IdKind) -> Self {
        let (new, fresh) = Default::default();
        let (old, counts) = (Vec::with_capacity(RECORDS), Vec::with_capacity(RECORDS));
        let names = Names::new(kind, RECORDS, CHUNK);
        Self { from, names, old, counts, goes_on: false, new, fresh, lacks_new: false }
    }

    /// Bytes of memory without new records, about.
    fn bytes(&self) -> usize {
        self.names.bytes() + size_of_val(&self.old[..]) + size_of_val(&self.counts[..])
    }

    fn add_new(&mut self, number: u32, record: Record<F>, kept: &AtomicUsize) {
        if self.fresh.last() != Some(&number) {
            self.fresh.push(number);
        }
        let bytes = size_of_val(&record) + record.id.text().map_or(0, str::len);
        if kept.fetch_add(bytes, Relaxed) < BYTES {
            self.new.push((self.old.len(), number, record));
        } else {
            self.lacks_new = true;
        }
    }
}
