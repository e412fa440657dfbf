//! `fpdump get HEX`: the records of one fingerprint, by id. Finding none is exit code 1.

use std::io::Write;
use std::path::Path;

use fpstore::Record;
use fpstore_tools::exit::Outcome;

use crate::opened::Opened;
use crate::scan;

pub(crate) fn run(path: &Path, fingerprint: u64, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let ids: Vec<u64> = match Opened::new(path)? {
        Opened::Store(store) => store.query(fingerprint, 0)?.iter().map(|found| found.id).collect(),
        Opened::Segment(view) => view.get(fingerprint)?,
    };
    let mut text = Vec::new();
    for &id in &ids {
        scan::push(&mut text, Record { fingerprint, id }, json);
    }
    out.write_all(&text)?;
    Ok(if ids.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}
