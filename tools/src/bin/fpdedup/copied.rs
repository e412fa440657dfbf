//! Labels of which most are lines of the file of those from before.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;

use fpstore::{ClusterChange, ClusterChanges, Fingerprint, Sink};
use fpstore_tools::input::LabelLines;
use fpstore_tools::output::{Rows, Style};

use crate::clusters::push;
use crate::job::{Rowing, Writing};

/// What a thread has gathered.
#[derive(Default)]
struct Gathered {
    rows: Option<Rows>,
    file: Option<File>,
    failed: Option<io::Error>,
}

/// Writes the lines that stay, and what is new.
pub(crate) fn write<F: Fingerprint>(
    changes: &ClusterChanges<F>,
    lines: &LabelLines,
    style: Style,
    writing: &mut Writing,
) -> anyhow::Result<()> {
    let add = |gathered: &mut Gathered, change: ClusterChange<F>| {
        let rows = gathered.rows.get_or_insert_with(|| Rows::new(style));
        match change {
            ClusterChange::Same(same) => {
                let copied = rows.lines(same.end - same.start, |out| lines.append(&mut gathered.file, &same, out));
                gathered.failed = copied.err();
            }
            ClusterChange::Record(one) => push(rows, &one),
        }
        if rows.is_full() || gathered.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut failed = None;
    changes.visit(add, |gathered| {
        failed = gathered.failed;
        if failed.is_some() { Ok(ControlFlow::Break(())) } else { Rowing(writing).take(gathered.rows) }
    })?;
    // Where the file ends before, it is another one by now.
    lines.check()?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}
