//! `fpdump get HEX` and `get --id ID`: the records of one fingerprint, by id, or of one id, by fingerprint. The exit
//! code is 1 if there are none.

use std::path::Path;

use anyhow::{anyhow, bail};
use fpstore::{AnyStore, Fingerprint, Id};
use fpstore_tools::by_id;
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::parse_hex;
use fpstore_tools::output::{Output, Rows};
use fpstore_tools::width::by_width;

use crate::opened::Opened;
use crate::scan;

const OF_KEYS: &str =
    "a key index has no fingerprints; `fpdump scan` prints its records, `fpquery` finds those of keys";

/// Prints the records of a fingerprint.
pub(crate) fn run(path: &Path, fingerprint: &str, json: bool) -> anyhow::Result<Outcome> {
    let opened = Opened::new(path)?;
    let output = scan::output(None, opened.parameters(), json)?;
    by_width!(opened.parameters().width(), F => {
        let fingerprint: F = parse_hex(fingerprint.as_bytes()).map_err(|message| anyhow!(message))?;
        let ids: Vec<Id> = match opened {
            Opened::Store(store) => store.get(fingerprint.into())?,
            Opened::Keys(_) => bail!(OF_KEYS),
            Opened::Segment(view) => view.get(fingerprint)?,
        };
        write(output, ids.iter().map(|id| (fingerprint, id)))
    })
}

/// Prints the records of an id.
pub(crate) fn run_id(path: &Path, id: &str, common: Common) -> anyhow::Result<Outcome> {
    let opened = Opened::new(path)?;
    let id = by_id::parse(id, opened.parameters().ids())?;
    let output = scan::output(None, opened.parameters(), common.json)?;
    match opened {
        Opened::Store(store) => match &*store {
            AnyStore::Bits64(store) => of_id(output, &id, |ids| by_id::fingerprints(store, ids)),
            AnyStore::Bits128(store) => of_id(output, &id, |ids| by_id::fingerprints(store, ids)),
            AnyStore::Bits256(store) => of_id(output, &id, |ids| by_id::fingerprints(store, ids)),
        },
        Opened::Keys(_) => bail!(OF_KEYS),
        Opened::Segment(view) => by_width!(view.parameters().width(), F => {
            of_id(output, &id, |ids| Ok(by_id::scan(view.records::<F>()?, ids)?))
        }),
    }
}

/// Prints what `find` finds of an id.
fn of_id<F: Fingerprint>(
    output: Output,
    id: &Id,
    find: impl FnOnce(&[Id]) -> anyhow::Result<Vec<Vec<F>>>,
) -> anyhow::Result<Outcome> {
    let found = find(std::slice::from_ref(id))?;
    write(output, found.iter().flatten().map(|&fingerprint| (fingerprint, id)))
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
            rows.clear();
        }
    }
    output.write(&rows)?;
    output.finish()?;
    Ok(if any { Outcome::Done } else { Outcome::NothingFound })
}
