//! Makes a sketch of every document and writes them in order.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use fpstore_tools::common::Common;
use fpstore_tools::documents::{self, Counts, Document, Fault, Inputs, LeaveOptions, Location, Made, Rejects};
use fpstore_tools::input::Header;
use fpstore_tools::memory;
use fpstore_tools::number::{bytes, count_of};
use fpstore_tools::output::check_apart;
use fpstore_tools::progress::Progress;
use fpstore_tools::sketches::{Kind, Row, Sink, Sketch};

use crate::args::{OutputOptions, Reading};

/// Default memory of the program.
pub(crate) const MEMORY: u64 = 512 << 20;

/// The sketches of all documents.
pub(crate) struct Job<'a> {
    inputs: &'a [OsString],
    reading: &'a Reading,
    /// Approximate bytes of the result for a document.
    made: u64,
    leave: &'a LeaveOptions,
    output: Option<&'a Path>,
    common: Common,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        inputs: &'a [OsString],
        reading: &'a Reading,
        leave: &'a LeaveOptions,
        output: &'a OutputOptions,
        made: u64,
        common: Common,
    ) -> Self {
        Self { inputs, reading, made, leave, output: output.output.as_deref(), common }
    }

    /// Writes the sketch that `make` returns for each document; `header` describes the sketches.
    pub(crate) fn write(
        &self,
        kind: Kind,
        header: &Header,
        make: impl Fn(&Document, &Location) -> Result<Sketch, Fault> + Sync,
    ) -> anyhow::Result<()> {
        // Errors in the inputs are found before anything is written.
        let inputs = Inputs::new(self.inputs, &self.reading.options)?;
        let outputs = [("--output", self.output), ("--rejects", self.leave.rejects.rejects.as_deref())];
        check_apart(&outputs, self.inputs)?;
        let mut rejects = Rejects::open(&self.leave.rejects)?;
        let mut sink = Sink::open(self.output, self.common.json, kind, header)?;
        let style = sink.style();
        let make = |document: Document, place: &Location| {
            let sketch = make(&document, place);
            Ok(sketch.map(|sketch| sketch.row(style, document.id)))
        };
        let take = |made: Vec<Made<Result<Row, Fault>>>| {
            for made in made {
                let Some((place, row)) = rejects.keep(made)? else { continue };
                match sink.check(&row) {
                    Ok(()) => sink.write(row)?,
                    Err(fault) => rejects.leave_out(&place, &fault)?,
                }
            }
            Ok(())
        };
        let documents = each_or_fault(&inputs, self.reading.memory, self.made, self.common, make, take)?;
        sink.finish()?;
        rejects.finish(documents)?.warn();
        Ok(())
    }
}

/// Calls `make` for each document on all threads, and `take` with the results and faults, in order; returns the number
/// of documents.
pub(crate) fn each_or_fault<T: Send>(
    inputs: &Inputs,
    memory: Option<u64>,
    made: u64,
    common: Common,
    make: impl Fn(Document, &Location) -> anyhow::Result<T> + Sync,
    take: impl FnMut(Vec<Made<T>>) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    reading(inputs, memory, common, |memory, progress| {
        documents::each_or_fault(inputs, memory, made, progress, make, take)
    })
}

/// Shows the progress of reading, and the totals.
fn reading(
    inputs: &Inputs,
    memory: Option<u64>,
    common: Common,
    read: impl FnOnce(u64, &Progress) -> anyhow::Result<Counts>,
) -> anyhow::Result<u64> {
    let progress = if common.shows_progress() { Progress::bytes(inputs.length()) } else { Progress::hidden() };
    // The results take as much memory as the documents.
    let memory = memory::of_load(Some(memory.unwrap_or(MEMORY)));
    let counts = read(memory / 2, &progress)?;
    progress.finish();
    counts.warn_of_pages(memory);
    if common.shows_progress() {
        let (documents, text) = (count_of(counts.documents, "document"), bytes(counts.bytes));
        let _ = writeln!(io::stderr().lock(), "{documents}, {text} of text");
    }
    Ok(counts.documents)
}

/// Returns the header of fingerprints of this hasher.
pub(crate) fn header(width: Option<u32>, hasher: String) -> Header {
    Header { width, hasher: Some(hasher), ..Header::default() }
}
