//! `fpload --plan list`: every design and its predicted cost, for uniformly distributed fingerprints or for those of
//! inputs.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::bail;
use fpstore::plan::{self, Cost, Design, Goal, Skew, Workload};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{count, float};
use fpstore_tools::prediction::Expected;
use fpstore_tools::report::{self, Columns};
use fpstore_tools::width::by_width;
use serde::Serialize;

use crate::args::Args;
use crate::choice::costs;
use crate::creation;
use crate::gather::{Inputs, Load};
use crate::writing;

#[derive(Serialize)]
struct Listed {
    schema_version: u32,
    plan: String,
    tables: usize,
    /// Number of distinct fingerprints behind the figures.
    fingerprints: u64,
    /// Whether the inputs were measured; otherwise a uniform distribution is assumed.
    from_data: bool,
    bytes: f64,
    bytes_per_fingerprint: f64,
    resident_bytes: f64,
    filter_bytes: f64,
    /// Prediction with filters.
    #[serde(flatten)]
    expected: Expected,
    without_filters: Expected,
    /// The settings of `--plan` that choose this design.
    chosen_by: Vec<&'static str>,
}

const GOALS: [(&str, Goal); 4] =
    [("auto", Goal::Balanced), ("auto:space", Goal::Space), ("auto:latency", Goal::Latency), ("auto:disk", Goal::Disk)];

/// Writes the list to standard output.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.create {
        bail!("--plan list shows the designs and loads nothing; leave out --create");
    }
    let Measured { width, fingerprints: measured, skew } = measure(args)?;
    creation::check_distance(args, width)?;
    let fingerprints = args.records.or(measured).unwrap_or(creation::PLANNED_RECORDS);
    let workload = creation::workload(args, width, fingerprints);
    let with = costs(skew.as_ref(), &workload)?;
    let without = costs(skew.as_ref(), &Workload { filter: false, ..workload })?;
    let chosen = GOALS.map(|(name, goal)| (name, plan::best(goal, &with)));
    let listed: Vec<Listed> = with
        .iter()
        .zip(&without)
        .map(|((design, with), (_, without))| Listed {
            chosen_by: chosen.iter().filter(|(_, best)| *best == Some(*design)).map(|(name, _)| *name).collect(),
            from_data: skew.is_some(),
            ..describe(*design, with, without, fingerprints)
        })
        .collect();

    let mut out = BufWriter::new(io::stdout().lock());
    if args.common.json {
        for design in &listed {
            report::json(&mut out, design)?;
        }
        return Ok(out.flush()?);
    }
    if !args.common.quiet {
        let (number, k) = (count(fingerprints), workload.distance);
        match measured {
            None => writeln!(
                out,
                "Predicted for {number} uniformly distributed {width}-bit fingerprints and queries within distance \
                 {k}, in \
                 memory:\n"
            )?,
            Some(measured) => writeln!(
                out,
                "Predicted for {number} fingerprints like the {} distinct ones of the input, and queries within \
                 distance {k} that\nare near stored ones, in memory; a query that is near nothing costs less:\n",
                count(measured)
            )?,
        }
    }
    table(&listed).write(&mut out)?;
    Ok(out.flush()?)
}

/// Measurements of the inputs.
struct Measured {
    width: u32,
    /// Number of distinct fingerprints; `None` without inputs.
    fingerprints: Option<u64>,
    /// Only 64-bit fingerprints are measured.
    skew: Option<Skew>,
}

/// Measures the inputs, if there are any. Nothing is loaded, so the first operand is an input too, not a store.
fn measure(args: &Args) -> anyhow::Result<Measured> {
    let Some(first) = &args.store else {
        return Ok(Measured { width: args.width.unwrap_or(64), fingerprints: None, skew: None });
    };
    let mut args = args.clone();
    args.inputs.insert(0, first.clone().into_os_string());
    let inputs = Inputs::open(&args, None)?;
    let width = args.width.or(inputs.width()).unwrap_or(64);
    by_width!(width, F => {
        let options = &writing::options(&args);
        let load = Load { args: &args, path: Path::new("store"), store: None, options };
        let records = inputs.gather::<F>(load)?.records;
        if records.is_empty() {
            bail!("the input has no records; leave it out to see the designs for uniformly distributed fingerprints");
        }
        let skew = (width == 64).then(|| records.skew());
        Ok(Measured { width, fingerprints: Some(records.fingerprints()), skew })
    })
}

fn describe(design: Design, cost: &Cost, without: &Cost, fingerprints: u64) -> Listed {
    Listed {
        schema_version: SCHEMA_VERSION,
        plan: design.to_string(),
        tables: cost.tables,
        fingerprints,
        from_data: false,
        bytes: cost.disk_bytes.round(),
        bytes_per_fingerprint: cost.disk_bytes / float(fingerprints.max(1)),
        resident_bytes: cost.resident_bytes.round(),
        filter_bytes: cost.filter_bytes,
        expected: Expected::new(cost),
        without_filters: Expected::new(without),
        chosen_by: Vec::new(),
    }
}

fn table(listed: &[Listed]) -> Columns {
    let mut columns = Columns::new(&[
        "plan",
        ">tables",
        ">bytes each",
        ">MiB on disk",
        ">MiB in memory",
        ">MiB of filters",
        ">probes",
        ">blocks",
        ">candidates",
        ">us a query",
        ">unfiltered: probes",
        ">blocks",
        ">candidates",
        ">us",
        "chosen by",
    ]);
    let mib = |bytes: f64| format!("{:.1}", bytes / f64::from(1 << 20));
    let expected = |expected: &Expected| {
        [
            if expected.scan { "scan".to_owned() } else { format!("{:.0}", expected.probes) },
            format!("{:.1}", expected.blocks_read),
            format!("{:.0}", expected.candidates),
            format!("{:.1}", expected.microseconds),
        ]
    };
    for design in listed {
        let sizes = [
            design.plan.clone(),
            design.tables.to_string(),
            format!("{:.2}", design.bytes_per_fingerprint),
            mib(design.bytes),
            mib(design.resident_bytes),
            mib(design.filter_bytes),
        ];
        let work = expected(&design.expected).into_iter().chain(expected(&design.without_filters));
        columns.row(sizes.into_iter().chain(work).chain([design.chosen_by.join(", ")]));
    }
    columns
}
