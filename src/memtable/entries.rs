//! What a memtable says of records, in order.

use crate::fingerprint::{Entry, Fingerprint, Id, IdKind, Record};
use crate::memtable::table::Memtable;

impl Memtable {
    /// Appends the last word at a moment on every id of a fingerprint, in order of the ids.
    pub(crate) fn entries_of(&self, entry: u32, visible: u32, out: &mut Vec<(Id, bool)>) {
        let chain = self.records_of(entry).skip_while(|&record| record >= visible);
        if self.shape.ids == IdKind::None {
            let (mut more, mut less) = (0u64, 0u64);
            for record in chain {
                let (Id::Count(count), removed) = (self.ids.get(record), self.link(record).removed) else { continue };
                let sum = if removed { &mut less } else { &mut more };
                *sum = sum.saturating_add(count);
            }
            if more != less {
                out.push((Id::Count(more.abs_diff(less)), less > more));
            }
            return;
        }
        let start = out.len();
        out.extend(chain.map(|record| (self.ids.get(record), self.link(record).removed)));
        let mut own = out.split_off(start);
        // Stable: of equal ids the newest stays in front, and is kept.
        own.sort_by(|a, b| a.0.cmp(&b.0));
        own.dedup_by(|next, kept| next.0 == kept.0);
        out.append(&mut own);
    }

    /// The newest entry of every record at a moment, by fingerprint, then id.
    pub(crate) fn entries<F: Fingerprint>(&self, visible: u32) -> Vec<Entry<F>> {
        let mut slots: Vec<(F, u32)> = (0..self.fingerprints()).map(|slot| (self.fingerprint(slot), slot)).collect();
        slots.retain(|&(_, slot)| self.is_visible(slot, visible));
        slots.sort_unstable();
        let (mut entries, mut own) = (Vec::new(), Vec::new());
        for (fingerprint, slot) in slots {
            self.entries_of(slot, visible, &mut own);
            let entry = |(id, removed)| Entry { record: Record { fingerprint, id }, is_tombstone: removed };
            entries.extend(own.drain(..).map(entry));
        }
        entries
    }
}
