//! `fpdump plan`: how the tables are ordered, and the radius in which a query probes each of them.

use std::io::Write;
use std::path::Path;

use fpstore::plan::{BitGroup, TableLayout};
use fpstore_tools::exit::Outcome;
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::opened::{Opened, Versioned};

#[derive(Serialize)]
struct Plan {
    plan: String,
    width: u32,
    max_distance: u32,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Table {
    table: usize,
    leading_bits: u32,
    /// Runs of the fingerprint's bits in the order of the key; bit 0 is the most significant.
    groups: Vec<Group>,
    /// The radius for each distance from 0 on; null where the table is not probed.
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
    let layouts = design.tables(fpstore::WIDTH)?;
    let by_distance: Vec<_> = (0..=parameters.max_distance()).map(|k| design.radii(k)).collect();
    let tables = layouts.iter().enumerate().map(|(table, layout)| {
        let radii = by_distance.iter().map(|radii| radii.get(table).copied().flatten());
        Table { table, leading_bits: layout.leading, groups: groups(layout), radii: radii.collect() }
    });
    let plan = Plan {
        plan: design.to_string(),
        width: fpstore::WIDTH,
        max_distance: parameters.max_distance(),
        tables: tables.collect(),
    };
    if json {
        report::json(out, &Versioned::new(plan))?;
    } else {
        people(&plan, out)?;
    }
    Ok(Outcome::Done)
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
    writeln!(out, "\nA number under k=... is the radius: how many of the leading bits may differ; - = not probed.")
}
