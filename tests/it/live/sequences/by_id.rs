//! Operations by id of a sequence, many ids at a time.

use super::World;
use fpstore::bulk::{IdSorter, SortedIds};
use fpstore::{Fingerprint, Id, IdKind};
use std::collections::BTreeSet;

impl<F: Fingerprint> World<F> {
    pub(super) fn bulk_replace(&mut self) {
        let (records, load) = self.records();
        if self.parameters.ids() == IdKind::None {
            assert!(self.store.bulk_replace(load).is_err());
            return;
        }
        let (before, removed) = (self.model.count(), self.model.replace(&records));
        let report = if self.random.below(3) == 0 {
            self.store.bulk_replace_compact(load).unwrap().0
        } else {
            self.store.bulk_replace(load).unwrap()
        };
        let added = self.model.count() + removed - before;
        assert_eq!((report.removed, report.loaded.added()), (removed, added), "{:#?}", self.log);
    }

    pub(super) fn bulk_remove_ids(&mut self) {
        let ids: Vec<Id> = (0..self.random.below(6)).map(|_| self.id()).collect();
        if self.parameters.ids() == IdKind::None {
            return;
        }
        let absent: BTreeSet<&Id> = ids.iter().filter(|id| self.model.fingerprints_of(id).is_empty()).collect();
        let report = self.store.bulk_remove_ids(&self.sorted(&ids)).unwrap();
        assert!(report.unknown_ids.iter().eq(absent.iter().copied().take(5)), "{report:?} {:#?}", self.log);
        assert_eq!((report.ids, report.unknown), (ids.len() as u64, absent.len() as u64), "{:#?}", self.log);
        let removed = ids.iter().map(|id| self.model.remove_id(id, None)).sum::<u64>();
        assert_eq!((report.removed, report.left), (removed, self.model.count()), "{:#?}", self.log);
    }

    pub(super) fn sorted(&self, ids: &[Id]) -> SortedIds {
        let mut sorter = IdSorter::new(&self.fixture.path, &self.fixture.options);
        ids.iter().for_each(|id| sorter.push(id.into()).unwrap());
        sorter.finish().unwrap()
    }
}
