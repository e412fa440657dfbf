//! Reads all inputs to their end, in the order of the command line.

use anyhow::bail;
use fpstore::SortedRecords;
use fpstore_tools::input::{Collector, Reader, Source};
use fpstore_tools::progress::Progress;

use crate::args::Args;

/// The records of all inputs. What can be seen to be wrong without reading (names, formats) is found first.
pub(crate) fn gather(args: &Args) -> anyhow::Result<SortedRecords> {
    let sources: Vec<Source> = args.inputs.iter().map(|name| Source::new(name)).collect();
    if sources.iter().filter(|source| **source == Source::Standard).count() > 1 {
        bail!("standard input can be read only once");
    }
    let mut total = Some(0);
    for source in &sources {
        args.options.format_of(source)?;
        let length = source.length()?;
        total = total.zip(length).map(|(total, length)| total + length);
    }
    let progress = if args.common.shows_progress() { Progress::bytes(total) } else { Progress::hidden() };
    let mut collector = Collector::default();
    for source in &sources {
        progress.message(format!("reading {}", source.name()));
        collector.read(&mut Reader::open(source, &args.options, &progress)?)?;
    }
    progress.message("sorting".to_owned());
    let records = collector.finish().into();
    progress.finish();
    Ok(records)
}
