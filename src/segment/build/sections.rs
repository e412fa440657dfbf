//! The parts of a segment's sections, from the threads that encode them to the one that writes them.

use crate::error::{Error, ErrorKind, Result};
use crate::extsort::{Lent, Pool, Spool, Workspace};
use crate::segment::writer::{SectionEnd, SegmentWriter};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

enum Part {
    Pages(Lent<u8>),
    End(SectionEnd),
}

/// Sends parts of numbered sections to the writer.
#[derive(Clone)]
pub(super) struct Sender {
    parts: SyncSender<(usize, Part)>,
    /// The memory of pages that were written, for the next ones.
    pool: Pool<u8>,
}

pub(super) struct Sections {
    parts: Receiver<(usize, Part)>,
}

/// Encoders wait until the writer has taken their part. Parts of later sections wait in memory or in a temporary file.
pub(super) fn channel() -> (Sender, Sections) {
    let (sender, parts) = sync_channel(0);
    (Sender { parts: sender, pool: Pool::default() }, Sections { parts })
}

impl Sender {
    fn send(&self, section: usize, part: Part) -> Result<()> {
        // The writer stops early only with an error of its own, which the caller reports.
        let stopped = |_| Error::new(ErrorKind::Io, "the segment is not written any more");
        self.parts.send((section, part)).map_err(stopped)
    }

    /// Sends all pages of a vector, and leaves none in it.
    pub(super) fn send_pages(&self, section: usize, pages: &mut Vec<u8>) -> Result<()> {
        let mut space = self.pool.take(0);
        space.clear();
        self.send(section, Part::Pages(self.pool.lend(std::mem::replace(pages, space))))
    }

    pub(super) fn end(&self, section: usize, end: SectionEnd) -> Result<()> {
        self.send(section, Part::End(end))
    }
}

struct Waiting {
    pages: Spool,
    end: Option<SectionEnd>,
}

impl Sections {
    /// Writes sections in the order of their numbers, whatever the order of their parts; makes no file if there are no
    /// parts.
    pub(super) fn write(
        self,
        create: impl Fn() -> Result<SegmentWriter>,
        workspace: &Workspace,
    ) -> Result<Option<SegmentWriter>> {
        let mut waiting: BTreeMap<usize, Waiting> = BTreeMap::new();
        let mut current = 0;
        let mut created = None;
        for (section, part) in self.parts {
            let writer = match &mut created {
                Some(writer) => writer,
                None => created.insert(create()?),
            };
            let later = || Waiting { pages: Spool::within(workspace), end: None };
            match part {
                Part::Pages(mut pages) => {
                    if section == current {
                        writer.pages(&pages)?;
                    } else {
                        waiting.entry(section).or_insert_with(later).pages.append(&mut pages)?;
                    }
                    continue;
                }
                Part::End(end) if section == current => writer.end(&end)?,
                Part::End(end) => {
                    waiting.entry(section).or_insert_with(later).end = Some(end);
                    continue;
                }
            }
            current += 1;
            while let Some(Waiting { pages, end }) = waiting.remove(&current) {
                pages.visit(1, |pages| writer.pages(pages))?;
                let Some(end) = end else { break };
                writer.end(&end)?;
                current += 1;
            }
        }
        Ok(created)
    }
}
