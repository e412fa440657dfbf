//! Sorted records to a segment file.

use crate::env::{Env, ReadFile};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{RateLimiter, spawn_scoped};
use crate::extsort::{Spool, Workspace};
use crate::fingerprint::Fingerprint;
use crate::format::manifest::SegmentEntry;
use crate::format::parameters::Parameters;
use crate::plan::TableLayout;
use crate::segment::build::chunk::RecordChunk;
use crate::segment::build::expected::Expected;
use crate::segment::build::id_section::IdSection;
use crate::segment::build::primary::FirstTable;
use crate::segment::build::secondary::SecondaryKeyBuffer;
use crate::segment::name::segment_name;
use crate::segment::table_writer::TableEncoder;
use crate::segment::writer::{EncodedIds, SectionPart, SegmentWriter};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The segment that is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Building<'a> {
    pub(crate) env: &'a Arc<dyn Env>,
    pub(crate) directory: &'a Path,
    /// From which its name is made, if it is to have one; one without vanishes with the process.
    pub(crate) number: Option<u64>,
    pub(crate) parameters: &'a Parameters,
    pub(crate) workspace: &'a Workspace,
    pub(crate) expected: Expected,
    /// What the keys of the tables behind the first are, where somebody has them in order.
    pub(crate) secondary: Option<&'a dyn SecondaryKeySource>,
    pub(crate) limiter: Option<&'a RateLimiter>,
}

impl<'a> Building<'a> {
    /// A segment of which nothing is known before its records come.
    pub(crate) fn new(
        env: &'a Arc<dyn Env>,
        directory: &'a Path,
        number: Option<u64>,
        parameters: &'a Parameters,
        workspace: &'a Workspace,
    ) -> Self {
        let expected = Expected::default();
        Self { env, directory, number, parameters, workspace, expected, secondary: None, limiter: None }
    }
}

/// The keys of tables behind the first of a segment that is made of 64-bit fingerprints. They are asked for when all records
/// have come.
pub(crate) trait SecondaryKeySource: Debug + Sync {
    /// Runs of neighbouring keys from all over a table.
    ///
    /// # Errors
    /// Those of reading them.
    fn sample(&self, table: usize) -> Result<Vec<u64>>;

    /// Calls `visit` with all keys of a table, ascending and distinct, in pieces.
    ///
    /// # Errors
    /// Those of reading them, and of `visit`.
    fn keys(&self, table: usize, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()>;
}

/// A segment that was made.
#[derive(Debug)]
pub(crate) struct Built {
    /// Its path; of one without a name, its directory.
    pub(crate) path: PathBuf,
    pub(crate) entry: SegmentEntry,
    /// The file of one without a name.
    pub(crate) unnamed: Option<Box<dyn ReadFile>>,
}

/// Parts of numbered sections on their way to the file.
type Sender = SyncSender<(usize, SectionPart)>;

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    records: u64,
    fingerprints: u64,
}

/// Writes a segment of these records and makes it durable; nothing if there are none.
///
/// # Errors
/// Those of the chunks; `Io` from writing. Nothing remains then, but for a file that nobody names where the last sync
/// has failed: the next writer removes it.
pub(crate) fn write_segment<'b, F: Fingerprint>(
    building: Building<'_>,
    chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
) -> Result<Option<Built>> {
    let Building { env, directory, number, parameters, .. } = building;
    let layouts = parameters.design().tables(F::WIDTH)?;
    // Where there are no records there is no file either.
    let name = number.map(segment_name);
    let create = || SegmentWriter::create(env, directory, name.as_deref(), parameters);
    // Encoders wait until what they have is taken. What is not next to be written waits in memory or in a temporary
    // file.
    let (sender, receiver) = sync_channel(0);
    let (encoded, written) = std::thread::scope(|scope| {
        let writing = spawn_scoped(scope, writer_name(), || write_in_order(create, building, receiver))?;
        let encoded = encode(building, &layouts, chunks, sender);
        Ok((encoded, writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    })?;
    // An encoder stops if writing has; the writer has the error then.
    let writer = written?;
    let Counts { records, fingerprints } = encoded?;
    let Some(writer) = writer else { return Ok(None) };
    let finished = writer.finish(records, fingerprints)?;
    let (file_length, footer_checksum) = (finished.length, finished.footer_checksum);
    let number = number.unwrap_or(0);
    let entry = SegmentEntry { number, file_length, records, fingerprints, footer_checksum };
    Ok(Some(Built { path: finished.path, entry, unnamed: finished.unnamed }))
}

/// The name of the thread that writes for this one.
fn writer_name() -> String {
    format!("{} writer", std::thread::current().name().unwrap_or("fpstore"))
}

/// What came of a section before its place in the file was reached.
struct Waiting {
    pages: Spool,
    /// The part that ends it.
    end: Option<SectionPart>,
}

/// Writes sections in the order of their numbers, however their parts come; nothing is made if none come.
fn write_in_order(
    create: impl Fn() -> Result<SegmentWriter>,
    building: Building<'_>,
    parts: Receiver<(usize, SectionPart)>,
) -> Result<Option<SegmentWriter>> {
    let mut waiting: BTreeMap<usize, Waiting> = BTreeMap::new();
    let mut current = 0;
    let mut created = None;
    for (section, part) in parts {
        let writer = match &mut created {
            Some(writer) => writer,
            None => created.insert(create()?),
        };
        if section != current {
            let later = waiting
                .entry(section)
                .or_insert_with(|| Waiting { pages: Spool::within(building.workspace), end: None });
            match part {
                SectionPart::Pages(mut pages) => later.pages.append(&mut pages)?,
                end => later.end = Some(end),
            }
            continue;
        }
        let mut ended = !matches!(part, SectionPart::Pages(_));
        writer.part(&part)?;
        while ended {
            current += 1;
            let Some(next) = waiting.remove(&current) else { break };
            next.pages.visit(|pages| writer.pages(pages))?;
            ended = next.end.is_some();
            next.end.iter().try_for_each(|end| writer.part(end))?;
        }
    }
    Ok(created)
}

/// Sends a part to the writer.
fn send(sender: &Sender, section: usize, part: SectionPart) -> Result<()> {
    // The writer goes away only with an error of its own, which is the one that is reported.
    sender.send((section, part)).map_err(|_| Error::new(ErrorKind::Io, "the segment is not written any more"))
}

/// Sends pages if there are enough of them, or in any case.
fn send_pages(
    building: Building<'_>,
    sender: &Sender,
    section: usize,
    pages: &mut Vec<u8>,
    least: usize,
) -> Result<()> {
    building.limiter.map_or(Ok(()), RateLimiter::step)?;
    if pages.len() < least.max(1) {
        return Ok(());
    }
    send(sender, section, SectionPart::Pages(std::mem::take(pages)))
}

/// Makes all sections of the chunks.
fn encode<'b, F: Fingerprint>(
    building: Building<'_>,
    layouts: &[TableLayout],
    chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
    sender: Sender,
) -> Result<Counts> {
    let Building { parameters, workspace, expected, .. } = building;
    let mut ids = IdSection::new(parameters.ids(), expected, workspace);
    let mut buffer = SecondaryKeyBuffer::<F>::new(workspace);
    let (mut first, mut records, mut last) = (None, 0, None);
    let mut chunks = chunks.peekable();
    while let Some(batch) = chunks.next() {
        let batch = batch?;
        if batch.is_empty() {
            continue;
        }
        let fingerprints = batch.distinct(last);
        last = fingerprints.last().copied().or(last);
        records = batch.records().saturating_add(records);
        if records == u64::MAX {
            return Err(Error::damaged("there are more records than can be counted").at_path(building.directory));
        }
        // To look whether there is more may take memory for it, unless all is there.
        if expected.at_once && first.is_none() && buffer.has_room(&fingerprints) && chunks.peek().is_none() {
            buffer.push(fingerprints, workspace)?;
            return encode_at_once(building, layouts, &batch, ids, &buffer, &sender);
        }
        if first.is_none() {
            first = Some(first_table(building, &fingerprints)?);
        }
        let keys = || match &mut first {
            Some(table) => push_keys(building, table, &fingerprints, &sender),
            None => building.limiter.map_or(Ok(()), RateLimiter::step),
        };
        let (keys, pushed) = rayon::join(keys, || ids.push(&batch));
        keys.and(pushed)?;
        drop(batch);
        match building.secondary {
            Some(_) => buffer.count(fingerprints.len()),
            None => buffer.push(fingerprints, workspace)?,
        }
    }
    let counts = Counts { records, fingerprints: buffer.counted() };
    if counts.fingerprints == 0 {
        return Ok(counts);
    }
    first.map_or(Ok(()), |first| finish_first(building, first, &sender))?;
    let ids = ids.finish()?;
    other_tables(building, layouts, &buffer, &sender)?;
    drop(buffer);
    finish_ids(layouts.len(), ids, &sender)?;
    Ok(counts)
}

/// Makes all sections of the only batch, all at the same time.
fn encode_at_once<F: Fingerprint>(
    building: Building<'_>,
    layouts: &[TableLayout],
    batch: &RecordChunk<'_, F>,
    mut ids: IdSection<F>,
    buffer: &SecondaryKeyBuffer<F>,
    sender: &Sender,
) -> Result<Counts> {
    let keys = || {
        let mut table = FirstTable::new(building.parameters, buffer.in_memory());
        push_keys(building, &mut table, buffer.in_memory(), sender)?;
        finish_first(building, table, sender)
    };
    let encode_ids = || {
        ids.push(batch)?;
        ids.finish()
    };
    let (secondary, (keys, ids)) =
        rayon::join(|| other_tables(building, layouts, buffer, sender), || rayon::join(keys, encode_ids));
    keys.and(secondary)?;
    finish_ids(layouts.len(), ids?, sender)?;
    Ok(Counts { records: batch.records(), fingerprints: buffer.counted() })
}

/// The encoder of the first table. Its code is trained on all that comes first, or on a sample from all over.
fn first_table<F: Fingerprint>(building: Building<'_>, fingerprints: &[F]) -> Result<FirstTable> {
    match building.secondary.filter(|_| F::WIDTH == 64) {
        Some(secondary) => Ok(FirstTable::trained(building.parameters, &secondary.sample(0)?)),
        None => Ok(FirstTable::new(building.parameters, fingerprints)),
    }
}

/// Encodes more keys of the first table.
fn push_keys<F: Fingerprint>(
    building: Building<'_>,
    table: &mut FirstTable,
    fingerprints: &[F],
    sender: &Sender,
) -> Result<()> {
    let piece = building.workspace.piece();
    for chunk in fingerprints.chunks((piece / F::BYTES).max(1)) {
        table.push(chunk);
        send_pages(building, sender, 0, table.pages(), piece)?;
    }
    Ok(())
}

fn finish_first(building: Building<'_>, table: FirstTable, sender: &Sender) -> Result<()> {
    let (mut pages, table) = table.finish();
    send_pages(building, sender, 0, &mut pages, 1)?;
    send(sender, 0, SectionPart::Table(table))
}

fn finish_ids(section: usize, (spool, encoded): (Spool, EncodedIds), sender: &Sender) -> Result<()> {
    spool.visit(|pages| send(sender, section, SectionPart::Pages(pages.to_vec())))?;
    send(sender, section, SectionPart::Ids(encoded))
}

/// Makes the tables behind the first, as many at once as there is memory for.
fn other_tables<F: Fingerprint>(
    building: Building<'_>,
    layouts: &[TableLayout],
    buffer: &SecondaryKeyBuffer<F>,
    sender: &Sender,
) -> Result<()> {
    let secondary: Vec<_> = layouts.iter().enumerate().skip(1).collect();
    let at_once = match buffer.tables_at_once(building.workspace) {
        few if few < rayon::current_num_threads() => few,
        _ => secondary.len(),
    };
    for secondary in secondary.chunks(at_once.max(1)) {
        // In order, or nearly: nothing is written before what comes before it.
        secondary.iter().par_bridge().try_for_each_with(sender.clone(), |sender, &(number, layout)| {
            encode_table(building, number, layout, buffer, sender)
        })?;
    }
    Ok(())
}

/// Makes one of the tables behind the first.
fn encode_table<F: Fingerprint>(
    building: Building<'_>,
    section: usize,
    layout: &TableLayout,
    buffer: &SecondaryKeyBuffer<F>,
    sender: &Sender,
) -> Result<()> {
    // A design has at most 256 tables.
    let number = u8::try_from(section).unwrap_or(u8::MAX);
    let piece = building.workspace.piece();
    let mut encoder = match building.secondary {
        Some(secondary) => Some(TableEncoder::new(building.parameters, number, &secondary.sample(section)?)),
        None => None,
    };
    let mut encode = |keys: &[u64]| {
        let encoder = encoder.get_or_insert_with(|| TableEncoder::new(building.parameters, number, keys));
        for chunk in keys.chunks((piece / size_of::<u64>()).max(1)) {
            encoder.push(chunk);
            send_pages(building, sender, section, encoder.pages(), piece)?;
        }
        Ok(())
    };
    match building.secondary {
        Some(secondary) => secondary.keys(section, &mut encode)?,
        None => buffer.keys(section, layout, building.workspace, encode)?,
    }
    let encoder = encoder.unwrap_or_else(|| TableEncoder::new(building.parameters, number, &[]));
    let (mut pages, table) = encoder.finish();
    send_pages(building, sender, section, &mut pages, 1)?;
    send(sender, section, SectionPart::Table(table))
}
