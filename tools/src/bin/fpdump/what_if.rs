//! `fpdump what-if`: predicted sizes and costs with other codecs, block sizes and plans.

use std::io::Write;
use std::path::Path;

use fpstore::inspect::{self, Alternative, QueryCost};
use fpstore::{Codec, Design, Parameters};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count, float};
use fpstore_tools::progress::Progress;
use fpstore_tools::report::{self, Columns};
use fpstore_tools::statistics::{StoreReport, TableReport};
use fpstore_tools::width;
use serde::Serialize;

use crate::args::{Filter, Wanted};
use crate::opened::{Opened, Versioned, segments};

/// Block sizes that are tried by default.
const BLOCK_SIZES: [u32; 5] = [256, 512, 1024, 4096, 16384];

#[derive(Serialize)]
struct Report {
    path: String,
    /// Distance of the predicted queries.
    max_distance: u32,
    /// Whether the queries use prefix filters.
    filter: bool,
    fingerprints: u64,
    segments: u64,
    /// Bytes of the tables as they are, without ids.
    bytes: u64,
    alternatives: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    plan: String,
    codec: String,
    block_size: u32,
    tables: usize,
    /// Bits in a table, on average.
    bits_per_fingerprint: f64,
    information_bound_bits: Option<f64>,
    /// Bytes of all tables, without ids.
    bytes: u64,
    /// Ratio to the store as it is; null for an empty store.
    bytes_ratio: Option<f64>,
    resident_bytes: u64,
    /// Additional memory with the filters on.
    filter_bytes: u64,
    probes: f64,
    blocks_read: f64,
    candidates: f64,
    /// Whether sizes were scaled up from a sample.
    estimated: bool,
    /// Whether this is the store as it is.
    current: bool,
    by_table: Vec<TableReport>,
}

pub(crate) fn run(path: &Path, wanted: &Wanted, common: Common, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let opened = Opened::new(path)?;
    let (now, statistics) = (opened.parameters().clone(), StoreReport::new(&opened.statistics()));
    let max_distance = wanted.max_distance.unwrap_or(now.max_distance());
    width::check_distance("--max-distance", max_distance, now.width())?;
    let filter = wanted.filter == Filter::On;
    let parameters = parameters(wanted, &now, max_distance);
    let progress = if common.shows_progress() { Progress::spinner("encoding") } else { Progress::hidden() };
    let sample = usize::try_from(wanted.sample).unwrap_or(usize::MAX);
    let alternatives = inspect::what_if(&segments(path)?, &parameters, sample);
    progress.finish();
    let now_bytes = table_bytes(&statistics.tables);
    let alternatives = alternatives?.into_iter().map(|alternative| {
        let cost = alternative.query_cost(max_distance, filter)?;
        Ok(row(&alternative, cost, &now, now_bytes))
    });
    let report = Report {
        path: path.display().to_string(),
        max_distance,
        filter,
        fingerprints: statistics.fingerprints,
        segments: statistics.segments,
        bytes: now_bytes,
        alternatives: alternatives.collect::<fpstore::Result<_>>()?,
    };
    if common.json {
        report::json(out, &Versioned::new(report))?;
    } else {
        people(&report, common.quiet, out)?;
    }
    Ok(Outcome::Done)
}

/// Returns the alternatives, including the store as it is.
fn parameters(wanted: &Wanted, now: &Parameters, max_distance: u32) -> Vec<Parameters> {
    let like = |plan: Design, codec: Codec, block_size: u32| {
        now.clone().with_design(plan).with_codec(codec).with_block_size(block_size)
    };
    let mut all = vec![like(now.design(), now.codec(), now.block_size())];
    if wanted.codecs.is_empty() && wanted.block_sizes.is_empty() && wanted.plans.is_empty() {
        for codec in Codec::ALL {
            all.extend(BLOCK_SIZES.map(|block_size| like(now.design(), codec, block_size)));
        }
        let plans = Design::LISTED.into_iter().filter(|plan| plan.radii(max_distance).iter().all(Option::is_some));
        all.extend(plans.map(|plan| like(plan, now.codec(), now.block_size())));
    } else {
        for plan in named(&wanted.plans, now.design()) {
            for codec in named(&wanted.codecs, now.codec()) {
                let block_sizes = named(&wanted.block_sizes, now.block_size());
                all.extend(block_sizes.into_iter().map(|block_size| like(plan, codec, block_size)));
            }
        }
    }
    let mut distinct = Vec::new();
    all.into_iter().for_each(|one| {
        if !distinct.contains(&one) {
            distinct.push(one)
        }
    });
    let plans: Vec<Design> = distinct.iter().map(Parameters::design).collect();
    // Plans in the order in which they were named, the store's own plan and codec first.
    let rank = |one: &Parameters| plans.iter().position(|plan| *plan == one.design());
    distinct.sort_by_key(|one| (rank(one), one.codec() != now.codec(), one.codec().name(), one.block_size()));
    distinct
}

fn named<T: Clone>(named: &[T], now: T) -> Vec<T> {
    if named.is_empty() { vec![now] } else { named.to_vec() }
}

fn row(alternative: &Alternative, cost: QueryCost, now: &Parameters, now_bytes: u64) -> Row {
    let parameters = &alternative.parameters;
    let by_table: Vec<TableReport> = alternative.tables.iter().map(TableReport::new).collect();
    let bytes = table_bytes(&by_table);
    let fingerprints: u64 = by_table.iter().map(|table| table.fingerprints).sum();
    Row {
        plan: parameters.design().to_string(),
        codec: parameters.codec().to_string(),
        block_size: parameters.block_size(),
        tables: by_table.len(),
        bits_per_fingerprint: if fingerprints == 0 { 0.0 } else { float(bytes) * 8.0 / float(fingerprints) },
        information_bound_bits: by_table.first().and_then(|table| table.information_bound_bits),
        bytes,
        bytes_ratio: (now_bytes > 0).then(|| float(bytes) / float(now_bytes)),
        resident_bytes: alternative.resident_bytes,
        filter_bytes: alternative.filter_bytes,
        probes: cost.probes,
        blocks_read: cost.blocks,
        candidates: cost.candidates,
        estimated: alternative.estimated,
        current: parameters == now,
        by_table,
    }
}

fn table_bytes(tables: &[TableReport]) -> u64 {
    tables.iter().map(|table| table.data_bytes + table.index_bytes + table.code_bytes).sum()
}

fn people(report: &Report, quiet: bool, out: &mut dyn Write) -> std::io::Result<()> {
    if !quiet {
        let fingerprints = count(report.fingerprints);
        let filters = if report.filter { "with" } else { "without" };
        writeln!(out, "{}: {fingerprints} fingerprints in {} without ids", report.path, bytes(report.bytes))?;
        writeln!(
            out,
            "Predicted for a query within distance {}, {filters} filters: probes, blocks, candidates\n",
            report.max_distance
        )?;
    }
    let mut columns = Columns::new(&[
        "plan",
        "codec",
        ">block",
        ">tables",
        ">bits each",
        ">bound",
        ">bytes",
        ">beside now",
        ">memory",
        ">filters",
        ">probes",
        ">blocks",
        ">candidates",
        "",
    ]);
    for row in &report.alternatives {
        let notes = [("as it is", row.current), ("estimate", row.estimated)];
        let notes: Vec<&str> = notes.into_iter().filter(|(_, applies)| *applies).map(|(note, _)| note).collect();
        columns.row([
            row.plan.clone(),
            row.codec.clone(),
            row.block_size.to_string(),
            row.tables.to_string(),
            format!("{:.2}", row.bits_per_fingerprint),
            row.information_bound_bits.map_or("-".to_owned(), |bound| format!("{bound:.2}")),
            bytes(row.bytes),
            row.bytes_ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
            bytes(row.resident_bytes),
            bytes(row.filter_bytes),
            format!("{:.0}", row.probes),
            format!("{:.1}", row.blocks_read),
            format!("{:.0}", row.candidates),
            notes.join(", "),
        ]);
    }
    columns.write(out)
}
