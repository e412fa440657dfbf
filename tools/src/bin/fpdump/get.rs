//! `fpdump get HEX` and `get --id ID`: the records of one fingerprint, by id, or of one id, by fingerprint. The exit
//! code is 1 if there are none.

use std::path::Path;

use anyhow::anyhow;
use fpstore::{Fingerprint, Id};
use fpstore_tools::by_id;
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::parse_hex;
use fpstore_tools::output::{Output, Rows};

use crate::opened::Opened;
use crate::scan;

/// Prints the records of a fingerprint.
pub(crate) fn run<F: Fingerprint>(path: &Path, fingerprint: &str, json: bool) -> anyhow::Result<Outcome> {
    let fingerprint: F = parse_hex(fingerprint.as_bytes()).map_err(|message| anyhow!(message))?;
    let opened = Opened::<F>::new(path)?;
    let output = scan::output::<F>(None, opened.parameters(), json)?;
    let ids: Vec<Id> = match opened {
        Opened::Store(store) => store.query(fingerprint, 0)?.into_iter().map(|found| found.id).collect(),
        Opened::Segment(view) => view.get(fingerprint)?,
    };
    write(output, ids.iter().map(|id| (fingerprint, id)))
}

/// Prints the records of an id.
pub(crate) fn run_id<F: Fingerprint>(path: &Path, id: &str, common: Common) -> anyhow::Result<Outcome> {
    let opened = Opened::<F>::new(path)?;
    let ids = [by_id::parse(id, opened.parameters().ids())?];
    let output = scan::output::<F>(None, opened.parameters(), common.json)?;
    let found = match opened {
        Opened::Store(store) => by_id::fingerprints(&store, &ids)?,
        Opened::Segment(view) => by_id::scan(view.records::<F>()?, &ids)?,
    };
    write(
        output,
        ids.iter().zip(&found).flat_map(|(id, found)| found.iter().map(move |&fingerprint| (fingerprint, id))),
    )
}

fn write<'a, F: Fingerprint>(
    mut output: Output,
    records: impl Iterator<Item = (F, &'a Id)>,
) -> anyhow::Result<Outcome> {
    let (mut rows, mut any) = (Rows::new(output.style()), false);
    for (fingerprint, id) in records {
        any = true;
        scan::push(&mut rows, fingerprint, id);
        if rows.is_full() {
            output.write(&rows)?;
            rows = Rows::new(output.style());
        }
    }
    output.write(&rows)?;
    output.finish()?;
    Ok(if any { Outcome::Done } else { Outcome::NothingFound })
}
