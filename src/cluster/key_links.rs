//! The links between the records of a key index: shared keys in place of distances.

use crate::cluster::linker::Linker;
use crate::cluster::numbers::Numbers;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::join::JobContext;
use crate::join::keys::{KeyGroups, KeyRule, NumberedPairs};
use crate::segment::Scratch;
use crate::version::{ReadView, StoreContext};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Links records by a rule about their keys.
#[derive(Debug)]
pub(crate) struct KeyLinks {
    context: Arc<StoreContext>,
    view: ReadView,
    rule: KeyRule,
    skipped: AtomicU64,
}

impl KeyLinks {
    pub(crate) fn new(context: &Arc<StoreContext>, view: ReadView, rule: KeyRule) -> Result<Self> {
        rule.check(&context.parameters)?;
        Ok(Self { context: Arc::clone(context), view, rule, skipped: AtomicU64::new(0) })
    }
}

impl Linker<u64> for KeyLinks {
    fn unite(&self, numbers: &Numbers<u64>, sets: &UnionFind, job: &JobContext) -> Result<()> {
        let mut scratch = Scratch::default();
        if !self.rule.takes_all() {
            return self.pairs(job, &mut |a, b| {
                let a = numbers.of(a, &mut scratch)?;
                sets.unite(a, numbers.of(b, &mut scratch)?);
                Ok(())
            });
        }
        // All records of a key are connected, whatever else they share, so each costs one step and no pair is made.
        let groups = KeyGroups::new(&self.view, self.rule.most)?;
        job.progress.begin(groups.keys());
        let mut first = 0;
        let skipped = groups.visit(&job.progress, &mut |records, continues| {
            let mut records = records.iter();
            if !continues && let Some(&record) = records.next() {
                first = numbers.of(record, &mut scratch)?;
            }
            for &record in records {
                sets.unite(first, numbers.of(record, &mut scratch)?);
            }
            Ok(())
        })?;
        self.skipped.store(skipped, Ordering::Relaxed);
        Ok(())
    }

    fn pairs(&self, job: &JobContext, visit: &mut dyn FnMut(u64, u64) -> Result<()>) -> Result<()> {
        let pairs = NumberedPairs::new(&self.context, &self.view, self.rule, job)?;
        self.skipped.store(pairs.skipped, Ordering::Relaxed);
        pairs.visit(&mut |a, b, _, _| {
            visit(a, b)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }
}
