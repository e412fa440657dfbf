//! What a memtable says of records, in order.

use super::Memtable;
use crate::fingerprint::{Fingerprint, Id, IdKind, Mention, Record};

impl<F: Fingerprint> Memtable<F> {
    /// Appends the last word at a moment on every id of a fingerprint, in order of the ids.
    pub(crate) fn mentions_of(&self, entry: u32, visible: u32, out: &mut Vec<(Id, bool)>) {
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

    /// The last word at a moment on every record, by fingerprint, then id.
    pub(crate) fn mentions(&self, visible: u32) -> Vec<Mention<F>> {
        let mut entries: Vec<(F, u32)> =
            (0..self.fingerprints()).map(|entry| (self.fingerprint(entry), entry)).collect();
        entries.retain(|&(_, entry)| self.is_visible(entry, visible));
        entries.sort_unstable();
        let (mut mentions, mut own) = (Vec::new(), Vec::new());
        for (fingerprint, entry) in entries {
            self.mentions_of(entry, visible, &mut own);
            let mention = |(id, removed)| Mention { record: Record { fingerprint, id }, removed };
            mentions.extend(own.drain(..).map(mention));
        }
        mentions
    }
}
