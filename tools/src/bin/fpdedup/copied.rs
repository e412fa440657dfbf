//! Writes labels most of which are lines of the file of previous labels.

use std::io;
use std::ops::{ControlFlow, Range};

use fpstore::Fingerprint;
use fpstore::clusters::{ClusterChange, ClusterChanges, Label};
use fpstore_tools::input::LabelLines;
use fpstore_tools::output::{Rows, Style};

use crate::job::Writing;
use crate::label_rows::{push, push_label};

/// Output of one thread.
#[derive(Default)]
struct Gathered {
    rows: Option<Rows>,
    failed: Option<io::Error>,
}

/// Writes the unchanged lines, and the new labels.
pub(crate) fn write<F: Fingerprint>(
    changes: &ClusterChanges<F>,
    lines: &LabelLines,
    writing: &mut Writing,
) -> anyhow::Result<()> {
    let empty = writing.empty();
    let add = |gathered: &mut Gathered, change: ClusterChange<F>| {
        let rows = gathered.rows.get_or_insert_with(|| empty.take());
        match change {
            ClusterChange::Same(same) => {
                let copied = rows.lines(same.end - same.start, |out| lines.append(&same, out));
                gathered.failed = copied.err();
            }
            ClusterChange::Other(others, label) => {
                let copied = rows.lines(others.end - others.start, |out| relabel(lines, &others, &label, out));
                gathered.failed = copied.err();
            }
            ClusterChange::Record(one) => push(rows, &one),
        }
        if rows.is_full() || gathered.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut failed = None;
    changes.visit(add, |gathered| {
        failed = gathered.failed;
        if failed.is_some() { Ok(ControlFlow::Break(())) } else { writing.write_found(gathered.rows) }
    })?;
    // A file that ends too early was changed meanwhile.
    lines.check()?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Appends lines with another label.
fn relabel<F: Fingerprint>(
    lines: &LabelLines,
    others: &Range<u64>,
    label: &Label<F>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let mut last = Rows::new(Style::Tsv);
    push_label(&mut last, label);
    last.end_row();
    let mut text = Vec::new();
    lines.append(others, &mut text)?;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let record = memchr::memchr(b'\t', line).map_or(0, |tab| tab + 1);
        out.extend_from_slice(line.get(..record).unwrap_or_default());
        out.extend_from_slice(last.text());
    }
    Ok(())
}
