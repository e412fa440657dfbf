//! `fpring rebalance`: moves the records of a sharded store from one ring to another.

use std::io::{self, Write};
use std::sync::Arc;

use fpstore::{Filters, Maintenance};
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::number::{count, count_of};
use fpstore_tools::progress::Progress;
use fpstore_tools::report::{self, Columns};
use fpstore_tools::sharded::{self, Summary};
use fpstore_tools::{interrupt, memory};
use serde::Serialize;

use crate::args::Rebalance;

#[derive(Serialize)]
struct Report {
    schema_version: u32,
    old: String,
    new: String,
    #[serde(flatten)]
    summary: Summary,
}

pub(crate) fn run(common: Common, given: &Rebalance) -> anyhow::Result<()> {
    let memory = memory::of_load(given.memory);
    let options = fpstore_tools::threads::options()
        .with_env(Arc::new(interrupt::stoppable()))
        .with_filters(Filters::Off)
        .with_maintenance(Maintenance::Foreground)
        .with_load_memory(memory)
        .with_temp_dir(given.tmp_dir.as_deref());
    interrupt::leaves("no record is lost; run the command again to continue");
    // The library removes the files that it has begun.
    let hold = interrupt::hold()?;
    let progress = if common.shows_progress() { Progress::spinner("moving records") } else { Progress::hidden() };
    let summary = sharded::run(&given.old, &given.new, &options, memory)?;
    progress.finish();
    drop(hold);
    interrupt::leaves("all was done already");
    let mut out = io::stdout().lock();
    if common.json {
        let (old, new) = (given.old.display().to_string(), given.new.display().to_string());
        report::json(&mut out, &Report { schema_version: SCHEMA_VERSION, old, new, summary })?;
    } else if !common.quiet {
        people(given, &summary, &mut out)?;
    }
    Ok(out.flush()?)
}

fn people(given: &Rebalance, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Summary { copied, removed, records, is_replaced, is_continued, nodes } = summary;
    if *is_continued {
        writeln!(out, "an interrupted run has been brought to its end")?;
    }
    let (old, new) = (given.old.display(), given.new.display());
    match is_replaced {
        true => writeln!(out, "{old} has the ring of {new} now")?,
        false => writeln!(out, "{old} has the ring of {new} already")?,
    }
    writeln!(
        out,
        "{} copied, {} removed, {} on all nodes\n",
        count_of(*copied, "record"),
        count(*removed),
        count(*records)
    )?;
    let mut columns = Columns::new(&["node", ">copied", ">removed", ">records", "directory"]);
    for node in nodes {
        let left = if node.is_in_ring { "" } else { " (left the ring)" };
        let [copied, removed, records] = [node.copied, node.removed, node.records].map(count);
        columns.row([node.name.clone(), copied, removed, records, format!("{}{left}", node.path)]);
    }
    columns.write(out)
}
