//! Sorted records to a segment file.

use crate::env::Env;
use crate::error::{Error, Result};
use crate::executor::{RateLimiter, spawn_scoped};
use crate::extsort::Workspace;
use crate::fingerprint::Fingerprint;
use crate::format::parameters::Parameters;
use crate::plan::TableLayout;
use crate::segment::build::chunk::{Expected, RecordChunk};
use crate::segment::build::id_section::IdSection;
use crate::segment::build::primary::PrimaryTable;
use crate::segment::build::secondary::SecondaryKeyBuffer;
use crate::segment::build::sections::{Sender, channel};
use crate::segment::name::segment_name;
use crate::segment::sketches::SketchEncoder;
use crate::segment::table_writer::TableEncoder;
use crate::segment::writer::{Built, SectionEnd, SegmentWriter};
use rayon::prelude::*;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Making<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) expected: Expected,
    /// The source of the secondary tables' keys, if they are sorted already.
    pub(crate) secondary: Option<&'a dyn SecondaryKeySource>,
    pub(crate) limiter: Option<&'a RateLimiter>,
    /// The sketches of the run's records, for a segment of keys.
    pub(crate) sketches: Option<&'a dyn SketchSource>,
}

impl<'a> Making<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, expected: Expected::default(), secondary: None, limiter: None, sketches: None }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Building<'a> {
    pub(crate) env: &'a Arc<dyn Env>,
    pub(crate) directory: &'a Path,
    /// Its number, which gives its name; a segment without a number is an unnamed file, which ends with the process.
    pub(crate) number: Option<u64>,
    pub(crate) parameters: &'a Parameters,
    pub(crate) making: Making<'a>,
}

/// Sorted keys of the secondary tables of a segment of 64-bit fingerprints. The builder reads them after all records.
pub(crate) trait SecondaryKeySource: Debug + Sync {
    /// Runs of neighbouring keys from all over a table.
    fn sample(&self, table: usize) -> Result<Vec<u64>>;

    /// Calls `visit` with all keys of a table, ascending and distinct, in pieces.
    fn keys(&self, table: usize, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()>;
}

/// A secondary table to encode, with its keys if they are sorted in memory.
struct Secondary<'a> {
    number: usize,
    layout: &'a TableLayout,
    keys: Option<Vec<u64>>,
}

/// The sketches for a segment of keys. The builder reads them last.
pub(crate) trait SketchSource: Debug + Sync {
    /// Calls `visit` with the sketches of all records in order, in pieces of whole ones.
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

/// Writes a segment of these records and makes it durable; `None` if there are no records.
///
/// On an error no file remains, except after a failed last sync; the next writer of the store removes that file.
pub(crate) fn write_segment<'b, F: Fingerprint>(
    building: Building<'_>,
    chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
) -> Result<Option<Built>> {
    let Building { env, directory, number, parameters, .. } = building;
    let layouts = parameters.design().tables(F::WIDTH)?;
    // Without records there is no file.
    let name = number.map(segment_name);
    let create = || SegmentWriter::create(env, directory, name.as_deref(), parameters);
    let (sender, sections) = channel();
    let (encoded, writer) = std::thread::scope(|scope| {
        let name = format!("{} writer", std::thread::current().name().unwrap_or("fpstore"));
        let writing = spawn_scoped(scope, name, || sections.write(create, building.making.workspace))?;
        let encoded = encode(building, &layouts, chunks, sender);
        Ok((encoded, writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    })?;
    // An encoder stops if the writer failed; the writer's error is the cause.
    let writer = writer?;
    let (records, fingerprints) = encoded?;
    writer.map(|writer| writer.finish(number.unwrap_or(0), records, fingerprints)).transpose()
}

/// Sends the pages if they have `least` bytes or more.
fn send_pages(
    building: Building<'_>,
    sender: &Sender,
    section: usize,
    pages: &mut Vec<u8>,
    least: usize,
) -> Result<()> {
    building.making.limiter.map_or(Ok(()), RateLimiter::step)?;
    if pages.len() < least.max(1) {
        return Ok(());
    }
    sender.send_pages(section, pages)
}

/// Encodes all sections; returns the numbers of records and of fingerprints.
fn encode<'b, F: Fingerprint>(
    building: Building<'_>,
    layouts: &[TableLayout],
    chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
    sender: Sender,
) -> Result<(u64, u64)> {
    let Building { parameters, making: Making { workspace, expected, secondary, limiter, .. }, .. } = building;
    let mut ids = IdSection::new(parameters.ids(), expected, workspace);
    let mut buffer = SecondaryKeyBuffer::<F>::new(layouts.get(1..).unwrap_or_default(), workspace, expected.at_once);
    let (mut first, mut records, mut last, mut fingerprints) = (None, 0, None, Vec::new());
    let mut chunks = chunks.peekable();
    while let Some(batch) = chunks.next() {
        let batch = batch?;
        if batch.is_empty() {
            continue;
        }
        fingerprints = batch.distinct(last, fingerprints);
        last = fingerprints.last().copied().or(last);
        records = batch.records().saturating_add(records);
        if records == u64::MAX {
            return Err(Error::damaged("there are more records than can be counted").at_path(building.directory));
        }
        // Peeking may take memory for the next chunk; not if all records come at once.
        if expected.at_once && first.is_none() && buffer.fits_memory(&fingerprints) && chunks.peek().is_none() {
            buffer.keep(&mut fingerprints);
            return encode_at_once(building, layouts, &batch, ids, &buffer, &sender);
        }
        if first.is_none() {
            // The code is trained on the first chunk, or on a sample from all over.
            first = Some(match secondary {
                Some(secondary) => PrimaryTable::trained(parameters, &secondary.sample(0)?),
                None => PrimaryTable::new(parameters, &fingerprints),
            });
        }
        let keys = || match &mut first {
            Some(table) => push_keys(building, table, &fingerprints, &sender),
            None => limiter.map_or(Ok(()), RateLimiter::step),
        };
        // Nothing else is made of the fingerprints if their table is the only one.
        let is_read = secondary.is_some() || layouts.len() == 1;
        let is_kept = is_read || buffer.fits_memory(&fingerprints);
        let spill = || if is_kept { Ok(()) } else { buffer.spill(&fingerprints, workspace) };
        let (keys, (pushed, spilled)) = rayon::join(keys, || rayon::join(|| ids.push(&batch), spill));
        keys.and(pushed).and(spilled)?;
        drop(batch);
        if is_read {
            buffer.count(fingerprints.len());
        } else if is_kept {
            buffer.keep(&mut fingerprints);
        }
    }
    drop(fingerprints);
    let counts = (records, buffer.counted());
    if buffer.counted() == 0 {
        return Ok(counts);
    }
    first.map_or(Ok(()), |first| finish_first(building, first, &sender))?;
    let ids = ids.finish()?;
    other_tables(building, table_batches(building, layouts, &buffer), &buffer, &sender)?;
    drop(buffer);
    let (pages, ids) = ids;
    sender.end(layouts.len(), SectionEnd::Ids(pages, ids))?;
    sketches(building, layouts.len() + 1, &sender)?;
    Ok(counts)
}

fn encode_at_once<F: Fingerprint>(
    building: Building<'_>,
    layouts: &[TableLayout],
    batch: &RecordChunk<'_, F>,
    mut ids: IdSection<F>,
    buffer: &SecondaryKeyBuffer<'_, F>,
    sender: &Sender,
) -> Result<(u64, u64)> {
    let keys = || {
        let mut table = PrimaryTable::new(building.parameters, buffer.in_memory());
        push_keys(building, &mut table, buffer.in_memory(), sender)?;
        finish_first(building, table, sender)
    };
    let encode_ids = || {
        ids.push(batch)?;
        ids.finish()
    };
    let batches = table_batches(building, layouts, buffer);
    // A free thread takes the first table, then the ids, and helps to sort only after that: this thread must not take
    // the ids while it waits for a part of the sorting.
    let ((secondary, ids), keys) =
        rayon::join(|| rayon::join(|| other_tables(building, batches, buffer, sender), encode_ids), keys);
    keys.and(secondary)?;
    let (pages, ids) = ids?;
    sender.end(layouts.len(), SectionEnd::Ids(pages, ids))?;
    sketches(building, layouts.len() + 1, sender)?;
    Ok((batch.records(), buffer.counted()))
}

fn push_keys<F: Fingerprint>(
    building: Building<'_>,
    table: &mut PrimaryTable,
    fingerprints: &[F],
    sender: &Sender,
) -> Result<()> {
    let piece = building.making.workspace.piece();
    for chunk in fingerprints.chunks((piece / F::BYTES).max(1)) {
        table.push(chunk);
        send_pages(building, sender, 0, table.pages(), piece)?;
    }
    Ok(())
}

fn finish_first(building: Building<'_>, table: PrimaryTable, sender: &Sender) -> Result<()> {
    let (mut pages, table) = table.finish();
    send_pages(building, sender, 0, &mut pages, 1)?;
    sender.end(0, SectionEnd::Table(table))
}

fn sketches(building: Building<'_>, section: usize, sender: &Sender) -> Result<()> {
    let Building { parameters, making: Making { workspace, sketches, .. }, .. } = building;
    let (Some(keys), Some(sketches)) = (parameters.keys(), sketches) else { return Ok(()) };
    let mut encoder = SketchEncoder::new(keys.sketch_bytes());
    sketches.visit(&mut |piece| {
        encoder.push(piece);
        send_pages(building, sender, section, &mut encoder.pages, workspace.piece())
    })?;
    send_pages(building, sender, section, &mut encoder.finish(), 1)
}

/// The secondary tables, as many at once as fit the memory. If the fingerprints are in memory, all free threads sort
/// the keys of the tables of a batch.
fn table_batches<'a, F: Fingerprint>(
    building: Building<'_>,
    layouts: &'a [TableLayout],
    buffer: &'a SecondaryKeyBuffer<F>,
) -> impl Iterator<Item = Vec<Secondary<'a>>> + Send {
    let threads = rayon::current_num_threads();
    let at_once = match buffer.tables_at_once(building.making.workspace) {
        many if many >= threads && !buffer.are_in_memory() => layouts.len(),
        at_once => at_once.min(threads),
    };
    let tables: Vec<(usize, &TableLayout)> = layouts.iter().enumerate().skip(1).collect();
    let batches: Vec<_> = tables.chunks(at_once).map(<[_]>::to_vec).collect();
    batches.into_iter().map(|batch| {
        let sorted = |(number, layout)| Secondary { number, layout, keys: buffer.sorted_keys(number, layout) };
        batch.into_iter().map(sorted).collect()
    })
}

fn other_tables<'a, F: Fingerprint>(
    building: Building<'_>,
    mut batches: impl Iterator<Item = Vec<Secondary<'a>>>,
    buffer: &SecondaryKeyBuffer<'_, F>,
    sender: &Sender,
) -> Result<()> {
    // Roughly in order, because the writer needs the sections in order.
    batches.try_for_each(|batch| {
        batch
            .into_iter()
            .par_bridge()
            .try_for_each_with(sender.clone(), |sender, secondary| encode_table(building, secondary, buffer, sender))
    })
}

fn encode_table<F: Fingerprint>(
    building: Building<'_>,
    Secondary { number: section, layout, keys }: Secondary<'_>,
    buffer: &SecondaryKeyBuffer<'_, F>,
    sender: &Sender,
) -> Result<()> {
    // A design has at most 256 tables.
    let number = u8::try_from(section).unwrap_or(u8::MAX);
    let Building { parameters, making: Making { workspace, secondary, .. }, .. } = building;
    let piece = workspace.piece();
    let sample = secondary.map(|secondary| secondary.sample(section)).transpose()?;
    let mut encoder = sample.map(|sample| TableEncoder::new(parameters, number, &sample));
    let mut encode = |keys: &[u64]| {
        let encoder = encoder.get_or_insert_with(|| TableEncoder::new(parameters, number, keys));
        for chunk in keys.chunks((piece / size_of::<u64>()).max(1)) {
            encoder.push(chunk);
            send_pages(building, sender, section, &mut encoder.pages, piece)?;
        }
        Ok(())
    };
    match (secondary, keys) {
        (Some(secondary), _) => secondary.keys(section, &mut encode)?,
        (None, Some(keys)) => encode(&keys)?,
        (None, None) => buffer.keys(section, layout, workspace, encode)?,
    }
    let encoder = encoder.unwrap_or_else(|| TableEncoder::new(parameters, number, &[]));
    let (mut pages, table) = encoder.finish();
    send_pages(building, sender, section, &mut pages, 1)?;
    sender.end(section, SectionEnd::Table(table))
}
