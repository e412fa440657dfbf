//! `fpdump plan`: the order of bits of the tables, their probing radii, and the predicted cost on the stored
//! fingerprints.

use std::io::Write;
use std::path::Path;

use fpstore::inspect::SegmentView;
use fpstore::plan::{self, BitGroup, Skew, TableLayout, Workload};
use fpstore_tools::exit::Outcome;
use fpstore_tools::prediction::Expected;
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::opened::{Opened, Versioned, segments};

/// Most fingerprints that are read into memory to be measured. For more, the prediction assumes a uniform distribution.
const MOST_MEASURED: u64 = 100_000_000;

#[derive(Serialize)]
struct Plan {
    plan: String,
    width: u32,
    max_distance: u32,
    tables: Vec<Table>,
    /// `None` for an empty store.
    predicted: Option<Predicted>,
}

/// The predicted cost of a query within the maximum distance, summed over segments.
#[derive(Default, Serialize)]
struct Predicted {
    /// Whether the stored fingerprints were measured; otherwise a uniform distribution is assumed.
    from_data: bool,
    filter_bytes: f64,
    with_filters: Expected,
    without_filters: Expected,
}

#[derive(Serialize)]
struct Table {
    table: usize,
    leading_bits: u32,
    /// Runs of the fingerprint's bits in the order of the key; bit 0 is the most significant.
    groups: Vec<Group>,
    /// The radius for each distance from 0 on; null if the table is not probed.
    radii: Vec<Option<u32>>,
}

#[derive(Serialize)]
struct Group {
    first: u32,
    length: u32,
}

pub(crate) fn run(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let opened = Opened::new(path)?;
    let parameters = opened.parameters();
    let design = parameters.design();
    let layouts = design.tables(parameters.width())?;
    let by_distance: Vec<_> = (0..=parameters.max_distance()).map(|k| design.radii(k)).collect();
    let tables = layouts.iter().enumerate().map(|(table, layout)| {
        let radii = by_distance.iter().map(|radii| radii.get(table).copied().flatten());
        Table { table, leading_bits: layout.leading, groups: groups(layout), radii: radii.collect() }
    });
    let plan = Plan {
        plan: design.to_string(),
        width: parameters.width(),
        max_distance: parameters.max_distance(),
        tables: tables.collect(),
        predicted: predicted(&segments(path)?)?,
    };
    if json {
        report::json(out, &Versioned::new(plan))?;
    } else {
        people(&plan, out)?;
    }
    Ok(Outcome::Done)
}

/// Returns the prediction for a store's segments.
fn predicted(segments: &[SegmentView]) -> fpstore::Result<Option<Predicted>> {
    let total: u64 = segments.iter().map(|segment| segment.statistics().fingerprints).sum();
    if total == 0 {
        return Ok(None);
    }
    let mut sum = Predicted { from_data: true, ..Predicted::default() };
    for segment in segments {
        // Reporting damage is the task of `verify`; the rest of the plan can be shown.
        let unmeasured = total > MOST_MEASURED || segment.parameters().width() != 64;
        let skew = if unmeasured {
            None
        } else {
            fingerprints(segment).ok().map(|values| Skew::new(values).with_threads(rayon::current_num_threads()))
        };
        sum.from_data &= skew.is_some();
        let parameters = segment.parameters();
        let cost = |filter| {
            let workload = Workload {
                fingerprints: segment.statistics().fingerprints,
                width: parameters.width(),
                distance: parameters.max_distance(),
                block_size: parameters.block_size(),
                filter,
            };
            match &skew {
                Some(skew) => skew.predict(parameters.design(), &workload),
                None => plan::predict(parameters.design(), &workload),
            }
        };
        let with = cost(true)?;
        sum.filter_bytes += with.filter_bytes;
        sum.with_filters.add(Expected::new(&with));
        sum.without_filters.add(Expected::new(&cost(false)?));
    }
    Ok(Some(sum))
}

/// Returns the keys of the primary table, which are the fingerprints.
fn fingerprints(segment: &SegmentView) -> fpstore::Result<Vec<u64>> {
    let mut all = Vec::with_capacity(usize::try_from(segment.statistics().fingerprints).unwrap_or(0));
    for block in segment.blocks(0)? {
        all.extend(block?.keys);
    }
    Ok(all)
}

fn groups(layout: &TableLayout) -> Vec<Group> {
    layout.permutation.groups().iter().map(|&BitGroup { first, length }| Group { first, length }).collect()
}

fn people(plan: &Plan, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "plan {}: complete up to distance {}, and beyond it by wider radii\n", plan.plan, plan.max_distance)?;
    let distances: Vec<String> = (0..=plan.max_distance).map(|k| format!(">k={k}")).collect();
    let headings = [">table", ">leading bits"].into_iter().chain(distances.iter().map(String::as_str));
    let mut columns = Columns::new(&headings.chain(["order of bits (0 = most significant)"]).collect::<Vec<_>>());
    for table in &plan.tables {
        let radii = table.radii.iter().map(|radius| radius.map_or("-".to_owned(), |radius| radius.to_string()));
        let order: Vec<String> =
            table.groups.iter().map(|group| format!("{}-{}", group.first, group.first + group.length - 1)).collect();
        let cells = [table.table.to_string(), table.leading_bits.to_string()].into_iter().chain(radii);
        columns.row(cells.chain([order.join(" ")]));
    }
    columns.write(out)?;
    writeln!(out, "\nA number under k=... is the radius: how many of the leading bits may differ; - = not probed.")?;
    let Some(predicted) = &plan.predicted else { return Ok(()) };
    let of =
        if predicted.from_data { "measured on the fingerprints" } else { "for uniformly distributed fingerprints" };
    let near = if predicted.from_data { " near stored ones" } else { "" };
    writeln!(out, "\nPredicted for a query{near} within distance {}, {of}:\n", plan.max_distance)?;
    let mut columns = Columns::new(&["filters", ">MiB of memory", ">probes", ">blocks", ">candidates", ">us a query"]);
    for (name, bytes, expected) in
        [("with", predicted.filter_bytes, predicted.with_filters), ("without", 0.0, predicted.without_filters)]
    {
        columns.row([
            name.to_owned(),
            format!("{:.1}", bytes / f64::from(1 << 20)),
            if expected.scan { "scan".to_owned() } else { format!("{:.0}", expected.probes) },
            format!("{:.1}", expected.blocks_read),
            format!("{:.0}", expected.candidates),
            format!("{:.1}", expected.microseconds),
        ]);
    }
    columns.write(out)
}
