//! `fpdump get HEX`: the records of one fingerprint, by id. Finding none is exit code 1.

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use fpstore::{Fingerprint, Id};
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::parse_hex;

use crate::opened::Opened;
use crate::scan;

pub(crate) fn run<F: Fingerprint>(
    path: &Path,
    fingerprint: &str,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let fingerprint: F = parse_hex(fingerprint.as_bytes()).map_err(|message| anyhow!(message))?;
    let ids: Vec<Id> = match Opened::<F>::new(path)? {
        Opened::Store(store) => store.query(fingerprint, 0)?.into_iter().map(|found| found.id).collect(),
        Opened::Segment(view) => view.get(fingerprint)?,
    };
    let mut text = Vec::new();
    for id in &ids {
        scan::push(&mut text, fingerprint, id, json);
    }
    out.write_all(&text)?;
    Ok(if ids.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}
