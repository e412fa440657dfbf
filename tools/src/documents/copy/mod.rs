//! Copies documents as they are, with all columns: `fpdedup documents` reads its inputs again and writes those that
//! stay.
//!
//! The output has the format of the inputs: JSON, rows with the same names of columns, or Parquet with the same schema;
//! documents that are whole files become JSON objects with an id and a text. [`Form::of`] checks this before any input
//! is read to its end. [`copy`] numbers documents as [`super::each`] does.

mod chunk;
mod digest;
mod form;
mod sink;
mod text;

pub use digest::Digest;
pub use form::{CHANGED, Form};

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, anyhow};

use super::Inputs;
use super::recognised::Recognised;
use crate::interrupt;
use crate::progress::Progress;
use chunk::Chunk;
use form::Opened;
use sink::Sink;
use text::Texts;

/// Chunks of text that wait to be written. Rows of Parquet keep whole pages in memory, so only one piece waits.
const WAITING: usize = 4;

/// Totals of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of documents that were read.
    pub documents: u64,
    /// Number of documents that were written.
    pub kept: u64,
}

impl Copied {
    /// Counts the next document; returns whether it is kept.
    fn next(&mut self, keep: impl FnOnce(u64) -> anyhow::Result<bool>) -> anyhow::Result<bool> {
        let keeps = keep(self.documents)?;
        self.documents += 1;
        self.kept += u64::from(keeps);
        Ok(keeps)
    }
}

/// Writes the documents for whose numbers `keep` returns true, in the order of the inputs, to a file that appears when
/// it is complete and `check` accepts the totals. One thread reads, another one writes; buffers take about `memory`
/// bytes.
///
/// # Errors
///
/// If an input cannot be read or has lost its form, the output cannot be written, or the user has asked the program to
/// stop; the first error of `keep`, and that of `check`.
pub fn copy(
    inputs: &Inputs,
    form: &Form,
    output: &Path,
    memory: u64,
    progress: &Progress,
    keep: impl FnMut(u64) -> anyhow::Result<bool> + Send,
    check: impl FnOnce(Copied) -> anyhow::Result<()>,
) -> anyhow::Result<Copied> {
    let mut sink = Sink::create(form, output, memory)?;
    let waiting = if form.is_parquet() { 1 } else { WAITING };
    let (sender, receiver) = sync_channel::<Chunk>(waiting);
    let copied = thread::scope(|scope| {
        let reading = thread::Builder::new().name("reading".to_owned());
        let reading = reading
            .spawn_scoped(scope, move || read(inputs, form, progress, keep, &sender))
            .context("cannot start the thread that reads")?;
        // The receiver goes before the thread is joined, which then stops sending.
        let written = receiver.into_iter().try_for_each(|chunk| sink.write(chunk));
        let read = reading.join().map_err(|_| anyhow!("the reading thread has ended early"))?;
        written.and(read)
    })?;
    check(copied)?;
    sink.finish()?;
    Ok(copied)
}

/// Sends the documents that stay, until the receiver is gone.
fn read(
    inputs: &Inputs,
    form: &Form,
    progress: &Progress,
    mut keep: impl FnMut(u64) -> anyhow::Result<bool>,
    sender: &SyncSender<Chunk>,
) -> anyhow::Result<Copied> {
    let mut copied = Copied::default();
    let mut texts = Texts::new(form);
    let send = |chunk| {
        interrupt::check()?;
        anyhow::Ok(sender.send(chunk).is_ok())
    };
    for source in inputs.files() {
        let found = Recognised::open(&source?, &inputs.options, progress)?;
        let mut reader = match form.open(found, inputs, progress)? {
            Opened::Text(reader) => reader,
            Opened::Parquet(mut rows) => {
                while let Some(piece) = rows.next_piece(|| copied.next(&mut keep))? {
                    if !send(Chunk::Rows(piece))? {
                        return Ok(copied);
                    }
                }
                continue;
            }
        };
        while let Some(item) = reader.next_item(copied.documents)? {
            if !copied.next(&mut keep)? {
                continue;
            }
            texts.push(&reader, item)?;
            if let Some(full) = texts.full()
                && !send(Chunk::Text(full))?
            {
                return Ok(copied);
            }
        }
    }
    send(Chunk::Text(texts.finish()))?;
    Ok(copied)
}
