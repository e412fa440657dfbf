//! `fpdump scan`: all records as `fpload` reads them, by fingerprint, then id. In a store without ids, a fingerprint
//! has as many lines as its count.

use std::path::Path;

use fpstore::{AnyStore, Fingerprint, Id, IdKind, Parameters, Record};
use fpstore_tools::exit::Outcome;
use fpstore_tools::header;
use fpstore_tools::output::{Column, Output, Rows, check_apart};
use fpstore_tools::width::by_width;

use crate::opened::Opened;
use crate::scan_keys;

const COLUMNS: &[Column] = &[Column::fingerprint("fingerprint"), Column::id("id")];
const WITHOUT_IDS: &[Column] = &[Column::fingerprint("fingerprint")];

pub(crate) fn run(path: &Path, output: Option<&Path>, json: bool) -> anyhow::Result<Outcome> {
    check_apart(&[("--output", output)], &[path])?;
    let opened = Opened::new(path)?;
    if let Opened::Keys(index) = &opened {
        scan_keys::run(index, output)?;
        return Ok(Outcome::Done);
    }
    let parameters = opened.parameters().clone();
    let mut output = self::output(output, &parameters, json)?;
    match opened {
        Opened::Store(store) => match &*store {
            AnyStore::Bits64(store) => all(store.records(), &parameters, &mut output)?,
            AnyStore::Bits128(store) => all(store.records(), &parameters, &mut output)?,
            AnyStore::Bits256(store) => all(store.records(), &parameters, &mut output)?,
        },
        Opened::Keys(_) => {}
        Opened::Segment(view) => {
            by_width!(parameters.width(), F => all(view.records::<F>()?, &parameters, &mut output)?)
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Opens the output for records of a store with these parameters.
pub(crate) fn output(path: Option<&Path>, parameters: &Parameters, json: bool) -> anyhow::Result<Output> {
    let columns = if parameters.ids() == IdKind::None { WITHOUT_IDS } else { COLUMNS };
    Output::open(("--output", path), json, columns, parameters.width(), &[parameters.ids() == IdKind::Text])
}

fn all<F: Fingerprint>(
    records: impl Iterator<Item = fpstore::Result<Record<F>>>,
    parameters: &Parameters,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut records = records.peekable();
    let first = records.peek().and_then(|first| first.as_ref().ok());
    if let Some(header) = header::of_store(parameters, first.map(|first| &first.id)) {
        output.write_header(&format!("{header}\n"))?;
    }
    let mut rows = Rows::new(output.style());
    for record in records {
        let Record { fingerprint, id } = record?;
        for _ in 0..if let Id::Count(count) = id { count } else { 1 } {
            push(&mut rows, fingerprint, &id);
            if rows.is_full() {
                output.write(&rows)?;
                rows.clear();
            }
        }
    }
    output.write(&rows)
}

/// Appends a record as a row, with its id if it has one.
pub(crate) fn push<F: Fingerprint>(rows: &mut Rows, fingerprint: F, id: &Id) {
    rows.fingerprint(fingerprint);
    if !matches!(id, Id::Count(_)) {
        rows.id(id);
    }
    rows.end_row();
}
