//! `fpload --plan list`: every design and what it would cost.

use std::io::{self, BufWriter, Write};

use anyhow::bail;
use fpstore::plan::{self, Cost, Design, Goal};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{count, float};
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::args::Args;
use crate::creation;

#[derive(Serialize)]
struct Listed {
    schema_version: u32,
    plan: String,
    tables: usize,
    bytes: f64,
    bytes_per_fingerprint: f64,
    resident_bytes: f64,
    probes: f64,
    blocks_read: f64,
    candidates: f64,
    microseconds: f64,
    /// The settings of `--plan` that choose this design.
    chosen_by: Vec<&'static str>,
}

const GOALS: [(&str, Goal); 4] =
    [("auto", Goal::Balanced), ("auto:space", Goal::Space), ("auto:latency", Goal::Latency), ("auto:disk", Goal::Disk)];

/// Writes the list to standard output.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.store.is_some() || args.create {
        bail!("--plan list shows the designs and loads nothing; leave out STORE, INPUT and --create");
    }
    let records = args.records.unwrap_or(creation::PLANNED_RECORDS);
    let workload = creation::workload(args, records);
    let mut chosen = Vec::new();
    for (name, goal) in GOALS {
        chosen.push((name, plan::recommend(goal, &workload)?));
    }
    let listed = Design::LISTED
        .into_iter()
        .map(|design| Ok(describe(design, &plan::predict(design, &workload)?, records, &chosen)))
        .collect::<fpstore::Result<Vec<_>>>()?;

    let mut out = BufWriter::new(io::stdout().lock());
    if args.common.json {
        for design in &listed {
            report::json(&mut out, design)?;
        }
    } else {
        if !args.common.quiet {
            writeln!(
                out,
                "Predicted for {} evenly spread {}-bit fingerprints and queries within distance {}, in memory:\n",
                count(records),
                workload.width,
                workload.distance
            )?;
        }
        table(&listed).write(&mut out)?;
    }
    Ok(out.flush()?)
}

fn describe(design: Design, cost: &Cost, records: u64, chosen: &[(&'static str, Design)]) -> Listed {
    Listed {
        schema_version: SCHEMA_VERSION,
        plan: design.to_string(),
        tables: cost.tables,
        bytes: cost.disk_bytes.round(),
        bytes_per_fingerprint: cost.disk_bytes / float(records.max(1)),
        resident_bytes: cost.resident_bytes.round(),
        probes: cost.probes,
        blocks_read: cost.blocks,
        candidates: cost.candidates,
        microseconds: cost.nanos / 1000.0,
        chosen_by: chosen.iter().filter(|(_, other)| *other == design).map(|(name, _)| *name).collect(),
    }
}

fn table(listed: &[Listed]) -> Columns {
    let mut columns = Columns::new(&[
        "plan",
        ">tables",
        ">bytes each",
        ">MiB on disk",
        ">MiB in memory",
        ">probes",
        ">blocks",
        ">candidates",
        ">us a query",
        "chosen by",
    ]);
    let mib = |bytes: f64| format!("{:.1}", bytes / f64::from(1 << 20));
    for design in listed {
        columns.row([
            design.plan.clone(),
            design.tables.to_string(),
            format!("{:.2}", design.bytes_per_fingerprint),
            mib(design.bytes),
            mib(design.resident_bytes),
            format!("{:.0}", design.probes),
            format!("{:.1}", design.blocks_read),
            format!("{:.0}", design.candidates),
            format!("{:.1}", design.microseconds),
            design.chosen_by.join(", "),
        ]);
    }
    columns
}
