//! The report as two tables.

use std::io::{self, Write};

use fpstore_tools::number::{count, count_of};
use fpstore_tools::report::Columns;

use super::measure::{Change, Row};
use super::object::Report;

pub(super) fn write(report: &Report, quiet: bool, out: &mut dyn Write) -> io::Result<()> {
    if !quiet {
        let (keys, nodes) = (count_of(report.keys, "key"), count_of(report.nodes as u64, "node"));
        writeln!(out, "{keys} on {nodes}, placed by {}\n", report.hash)?;
        writeln!(out, "Balance: loads as parts of what weights promise. Monotonicity: keys that move.\n")?;
    }
    one_view(report).write(out)?;
    if !quiet {
        let clients = count_of(report.views.into(), "client");
        writeln!(out, "\nSpread and load over {clients} that know a half of the nodes.")?;
    }
    writeln!(out)?;
    partial_views(report).write(out)
}

/// Balance and monotonicity.
fn one_view(report: &Report) -> Columns {
    let mut columns = Columns::new(&[
        "placement",
        ">deviation",
        ">least",
        ">most",
        ">joins",
        ">ideal",
        ">others",
        ">leaves",
        ">ideal",
        ">others",
    ]);
    for row in &report.rows {
        let change = |change: Option<&Change>| {
            let share = |share: fn(&Change) -> f64| change.map_or("-".to_owned(), |change| percent(share(change)));
            [share(|change| change.moved), share(|change| change.ideal), share(|change| change.between_others)]
        };
        let balance = &row.balance;
        let loads = [percent(balance.deviation), format!("{:.3}", balance.least), format!("{:.3}", balance.most)];
        let joins = change(Some(&row.monotonicity.joins));
        let leaves = change(row.monotonicity.leaves.as_ref());
        columns.row([name(row)].into_iter().chain(loads).chain(joins).chain(leaves));
    }
    columns
}

/// Spread and load.
fn partial_views(report: &Report) -> Columns {
    let mut columns = Columns::new(&["placement", ">mean spread", ">most", ">mean load", ">most", ">broken"]);
    for row in &report.rows {
        columns.row([
            name(row),
            format!("{:.2}", row.spread.mean),
            count(row.spread.most),
            format!("{:.2}", row.load.mean),
            format!("{:.2}", row.load.most),
            percent(row.monotonicity.broken),
        ]);
    }
    columns
}

/// The name of a placement, with its virtual nodes.
pub(super) fn name(row: &Row) -> String {
    row.virtual_nodes.map_or(row.placement.to_owned(), |number| format!("{} {}", row.placement, count(number.into())))
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
