//! Ids in the order of the first table to pages and their index, as they come.

use crate::format::id_index;
use crate::format::id_page::{self, IdEntry};

/// Most records that wait for their page.
const WAITING: usize = 4 * id_page::MAX_RECORDS;

/// Encodes the ids of records sorted by fingerprint, then id, and distinct. Finished pages gather until the caller
/// takes them.
#[derive(Default)]
pub(crate) struct IdEncoder {
    waiting: Vec<IdEntry>,
    pages: Vec<u8>,
    begun: Vec<u16>,
}

impl IdEncoder {
    pub(crate) fn push(&mut self, entries: impl Iterator<Item = IdEntry>) {
        for entry in entries {
            self.waiting.push(entry);
            if self.waiting.len() == WAITING {
                // No page counts more records, so later ones do not matter to it.
                self.fill(id_page::MAX_RECORDS);
            }
        }
    }

    /// Makes pages while more than `least` records wait.
    fn fill(&mut self, least: usize) {
        let mut done = 0;
        while let Some(rest) = self.waiting.get(done..).filter(|rest| rest.len() > least) {
            let (now, behind) = rest.split_at(id_page::fill(rest));
            let mut page = Vec::with_capacity(id_page::SIZE);
            id_page::write(now, &mut page);
            id_page::close(&mut page, self.begun.len() as u64, behind.is_empty());
            self.pages.append(&mut page);
            self.begun.push(u16::try_from(now.iter().filter(|entry| entry.begins).count()).unwrap_or(u16::MAX));
            done += now.len();
        }
        self.waiting.drain(..done);
    }

    pub(crate) fn pages(&mut self) -> &mut Vec<u8> {
        &mut self.pages
    }

    /// Encodes the waiting records; returns the remaining pages and the index.
    pub(crate) fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        self.fill(0);
        (self.pages, id_index::write(&self.begun))
    }
}
