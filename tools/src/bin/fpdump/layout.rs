//! `fpdump layout`: the sections of segment files, which together cover all bytes.

use std::io::Write;
use std::path::Path;

use fpstore_tools::exit::Outcome;
use fpstore_tools::number::count;
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::opened::{Versioned, all_segments, file_name};

#[derive(Serialize)]
struct SectionRow {
    file: String,
    section: String,
    offset: u64,
    bytes: u64,
}

pub(crate) fn run(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let mut columns = Columns::new(&["file", "section", ">offset", ">bytes"]);
    for (_, segment) in all_segments(path)? {
        let file = file_name(segment.path());
        for section in segment.sections() {
            let row =
                SectionRow { file: file.clone(), section: section.name, offset: section.offset, bytes: section.length };
            if json {
                report::json(out, &Versioned::new(row))?;
            } else {
                columns.row([row.file, row.section, row.offset.to_string(), count(row.bytes)]);
            }
        }
    }
    if !json {
        columns.write(out)?;
    }
    Ok(Outcome::Done)
}
