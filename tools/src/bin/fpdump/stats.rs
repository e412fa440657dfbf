//! `fpdump stats`: the size of every part, beside the information bound.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use fpstore::inspect;
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count, count_of, float};
use fpstore_tools::progress::Progress;
use fpstore_tools::report::{self, Columns};
use fpstore_tools::statistics::{KeyReport, StoreReport, TableReport, at_most};
use serde::Serialize;

use crate::args::Draw;
use crate::distributions::{self, DistributionReport};
use crate::opened::{Opened, Versioned, segments};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    statistics: StoreReport,
    /// Of a key index.
    #[serde(flatten)]
    keys: Option<KeyReport>,
    /// Null unless distributions are requested.
    distributions: Option<DistributionReport>,
}

pub(crate) fn run(path: &Path, draw: Draw, common: Common, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let statistics = Opened::new(path)?.statistics();
    let (statistics, keys) = (StoreReport::new(&statistics), statistics.keys.as_ref().map(KeyReport::new));
    let counted = || {
        let progress = if common.shows_progress() { Progress::spinner("counting") } else { Progress::hidden() };
        let distributions = inspect::distributions(&segments(path)?);
        progress.finish();
        distributions
    };
    if common.json {
        let distributions = if draw == Draw::Always { Some(DistributionReport::new(&counted()?)) } else { None };
        report::json(out, &Versioned::new(Report { statistics, keys, distributions }))?;
        return Ok(Outcome::Done);
    }
    if let Some(keys) = &keys {
        people_of_keys(&statistics, keys, out)?;
        return Ok(Outcome::Done);
    }
    people(&statistics, out)?;
    if draw == Draw::Always || draw == Draw::Auto && io::stdout().is_terminal() {
        distributions::draw(&counted()?, out)?;
    }
    Ok(Outcome::Done)
}

/// Sizes of the parts of a key index, in all and a record.
fn people_of_keys(statistics: &StoreReport, keys: &KeyReport, out: &mut dyn Write) -> io::Result<()> {
    let each = |size: u64| match statistics.records {
        0 => bytes(size),
        n => format!("{} ({:.2} bytes a record)", bytes(size), float(size) / float(n)),
    };
    let bound = keys.information_bound_bits.map_or("-".to_owned(), |bound| format!("{bound:.2}"));
    let facts = [
        ("records", format!("{}{}", at_most(statistics.count_is_exact), count(statistics.records))),
        ("keys", format!("{} of {} bits, {} distinct", count(keys.keys), keys.key_bits, count(keys.distinct_keys))),
        ("runs", count(statistics.runs)),
        ("files", each(statistics.file_bytes)),
        ("keys", each(keys.key_bytes)),
        ("records of keys", each(keys.row_bytes)),
        ("sketches", each(keys.sketch_bytes)),
        ("ids", each(statistics.id_bytes)),
        ("a key", format!("{:.2} bits with its record (information bound {bound})", keys.bits_per_key)),
        ("false candidates", format!("{:.1e} of the pairs of unrelated records", keys.false_candidates)),
        ("memory of the indexes", each(statistics.resident_bytes)),
        ("removed", format!("{}, hidden until they are merged", count(statistics.removals))),
    ];
    report::facts(out, &facts)
}

fn people(statistics: &StoreReport, out: &mut dyn Write) -> io::Result<()> {
    let each = |size: u64| match statistics.fingerprints {
        0 => bytes(size),
        n => format!("{} ({:.2} bytes a fingerprint)", bytes(size), float(size) / float(n)),
    };
    let amplification = format!(
        "{:.2} times the records are stored, {:.2} times the new segments' bytes were written",
        statistics.space_amplification, statistics.write_amplification
    );
    let distinct = format!("{}{}", at_most(statistics.distinct_is_exact), count(statistics.distinct_at_most));
    let records = format!("{}{}", at_most(statistics.count_is_exact), count(statistics.records));
    let mut facts = vec![
        ("records", records),
        ("distinct fingerprints", distinct),
        ("segments", format!("{} in {}", count(statistics.segments), count_of(statistics.runs, "run"))),
        ("files", each(statistics.file_bytes)),
        ("ids", each(statistics.id_bytes)),
        ("memory of the indexes", each(statistics.resident_bytes)),
        ("amplification", amplification),
    ];
    let mut filters = each(statistics.filter_bytes);
    if statistics.filters.refused_bytes > 0 {
        let [refused, budget] = [statistics.filters.refused_bytes, statistics.filters.budget_bytes].map(bytes);
        filters += &format!("; {refused} of them do not fit the {budget} that they may take by default now");
    }
    let removed = format!("{}, hidden until they are merged", count(statistics.removals));
    let logged = format!("{} of records in {}", count(statistics.unflushed), bytes(statistics.log_bytes));
    let behind = format!(
        "{}, {} more than there may be",
        bytes(statistics.bytes_behind),
        count_of(statistics.runs_behind, "run")
    );
    let more = [
        ("prefix filters", filters, statistics.filter_bytes),
        ("removed", removed, statistics.removals),
        ("only in logs", logged, statistics.unflushed),
        ("id index", each(statistics.id_index_bytes), statistics.id_index_bytes),
        ("to be merged", behind, statistics.bytes_behind),
    ];
    facts.extend(more.into_iter().filter(|more| more.2 > 0).map(|(name, what, _)| (name, what)));
    report::facts(out, &facts)?;
    writeln!(out)?;
    tables(&statistics.tables).write(out)
}

/// Bits of a fingerprint in each table, beside the information bound of uniformly distributed ones.
fn tables(tables: &[TableReport]) -> Columns {
    let mut columns =
        Columns::new(&["table", ">fingerprints", ">data", ">index", ">codes", ">bits each", ">information bound"]);
    for table in tables {
        columns.row([
            table.name.clone(),
            count(table.fingerprints),
            bytes(table.data_bytes),
            bytes(table.index_bytes),
            bytes(table.code_bytes),
            format!("{:.2}", table.bits_per_fingerprint),
            table.information_bound_bits.map_or("-".to_owned(), |bound| format!("{bound:.2}")),
        ]);
    }
    columns
}
