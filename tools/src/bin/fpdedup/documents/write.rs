//! The last phase: writes the evidence, and the documents that stay.

use std::path::Path;

use anyhow::bail;
use fpstore_tools::documents::{CHANGED, Copied, Digest, Form, Inputs, copy};
use fpstore_tools::output::{Column, EVIDENCE, Output, Rows};
use fpstore_tools::progress::Progress;
use fpstore_tools::{interrupt, memory};

use super::compare::{FATES, Near};
use super::hash::ENTRIES;
use super::ids::AllIds;
use super::links::{Fate, Fates, Link};
use super::spool::{Entries, Hashed};
use super::summary::Removals;
use super::work::Work;

/// Opens the file of the evidence.
pub(super) fn evidence(path: &Path, columns: &'static [Column], texts: bool, json: bool) -> anyhow::Result<Output> {
    Output::open(("--evidence", Some(path)), json, columns, 64, &[texts; 3])
}

/// Counts the removed documents, and writes a row for each if there is an output.
pub(super) fn removed(
    work: &Work,
    output: Option<Output>,
    columns: &[Column],
    near: Near,
) -> anyhow::Result<(Removals, Option<Output>)> {
    let mut removals = Removals::default();
    let mut fates = Fates::from(&work.path(FATES), 0)?;
    let Some(mut output) = output else {
        for _ in 0..work.state.documents {
            removals.count(fates.next()?, near);
        }
        return Ok((removals, None));
    };
    let mut ids = AllIds::open(work)?;
    let mut rows = Rows::new(output.style());
    for document in 0..work.state.documents {
        let fate = fates.next()?;
        removals.count(fate, near);
        let Fate::Removed(Link { keeper, cluster, near, estimate, similarity }) = fate else { continue };
        for one in [document, keeper, cluster] {
            rows.id(&ids.get(one)?);
        }
        rows.number(near);
        // The similarity of the texts, if they were compared.
        match (columns.len() > EVIDENCE.len(), similarity.is_nan()) {
            (true, false) => rows.real(Some(similarity)),
            (true, true) => rows.estimate(Some(estimate).filter(|estimate| !estimate.is_nan())),
            (false, _) => {}
        }
        rows.end_row();
        if rows.is_full() {
            interrupt::check()?;
            output.write(&rows)?;
            rows.clear();
        }
    }
    output.write(&rows)?;
    Ok((removals, Some(output)))
}

/// Writes the documents that stay.
pub(super) fn documents(
    (work, length): (&Work, usize),
    (inputs, digest): (&Inputs, Digest),
    (form, output): (&Form, &Path),
    memory: u64,
    progress: &Progress,
) -> anyhow::Result<Copied> {
    let mut fates = Fates::from(&work.path(FATES), 0)?;
    let mut entries = Entries::open(&work.path(ENTRIES), length)?;
    let keep = |document: u64| {
        if document >= work.state.documents {
            bail!(CHANGED);
        }
        let (fate, hashed) = (fates.next()?, entries.next()?);
        Ok(!matches!(fate, Fate::Removed(_)) && hashed != Hashed::LeftOut)
    };
    let check = |copied: Copied| {
        let is_same = copied.documents == work.state.documents && Digest::of(inputs)? == digest;
        if is_same { Ok(()) } else { bail!(CHANGED) }
    };
    copy(inputs, form, output, memory::of_load(Some(memory)), progress, keep, check)
}
