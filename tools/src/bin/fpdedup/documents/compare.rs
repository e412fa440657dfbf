//! The second phase: loads the fingerprints into a temporary store whose ids are the numbers of the documents, and
//! decides which documents are removed.

use std::fs;
use std::ops::ControlFlow;

use anyhow::Context;
use fpstore::bulk::RecordSorter;
use fpstore::clusters::{Keeper, Label, Linkage, Removed};
use fpstore::{Filters, Fingerprint, Id, IdKind, Options, Parameters, Store};
use fpstore_tools::{interrupt, memory};

use super::hash::FINGERPRINTS;
use super::links::{Fate, Link, Links};
use super::order::Order;
use super::spool::{Entries, Hashed};
use super::work::{Step, Work};
use crate::job::Watched;

/// The decisions, and a copy of them that verification changes.
pub(super) const LINKS: &str = "links";
pub(super) const FATES: &str = "fates";
/// Removed documents that a thread passes on at once.
const GATHERED: usize = 1 << 12;
/// Bytes of a removed document in memory.
const EACH: u64 = 64;

/// How documents are compared.
pub(super) struct Comparing<'a> {
    pub(super) distance: u32,
    pub(super) linkage: Linkage,
    /// Ranks of the documents, if their priority is not the input order.
    pub(super) order: Option<Order<'a>>,
    pub(super) memory: u64,
}

impl Comparing<'_> {
    pub(super) fn run<F: Fingerprint>(
        &self,
        work: &mut Work,
        watch: impl FnOnce(fpstore::Progress) -> anyhow::Result<Watched>,
    ) -> anyhow::Result<()> {
        let free = memory::of_load(Some(self.memory));
        let (keeper, ranks) = match &self.order {
            Some(order) => order.keeper(work, free / 2)?,
            None => (Keeper::Smallest, 0),
        };
        let store = self.load::<F>(work, free - ranks)?;
        let spare = free.saturating_sub(ranks + store.statistics().resident_bytes);
        let clusters = store
            .clusters(self.distance)?
            .with_linkage(self.linkage)
            .with_memory(spare / 4 * 3)
            .with_temp_dir(work.directory())
            .with_keepers();
        let watched = watch(clusters.progress())?;
        let clustering = clusters.find(&keeper).context("--memory")?;
        let mut links = Links::create(work.path(LINKS), work.state.documents)?;
        let most = usize::try_from(spare / 4 / EACH).unwrap_or(usize::MAX).max(GATHERED);
        let mut fates = Vec::new();
        let mut failed = None;
        let add = |gathered: &mut Vec<(u64, Fate)>, removed: Removed<F>| {
            gathered.extend(fate(&removed));
            if gathered.len() < GATHERED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        clustering.visit_removed(add, |gathered| {
            fates.extend(gathered);
            if fates.len() < most {
                return Ok(ControlFlow::Continue(()));
            }
            failed = links.set(&mut fates).err();
            fates.clear();
            Ok(if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        failed.map_or(Ok(()), Err)?;
        links.set(&mut fates)?;
        links.sync()?;
        watched.finish();
        work.done(Step::Verify)
    }

    /// Returns the store of all fingerprints.
    fn load<F: Fingerprint>(&self, work: &Work, memory: u64) -> anyhow::Result<Store<F>> {
        let path = work.path("store");
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        let options: Options = fpstore_tools::threads::options()
            .with_filters(Filters::Off)
            .with_load_memory(memory)
            .with_temp_dir(Some(work.directory()));
        let mut sorter = RecordSorter::<F>::new(&path, &options);
        let mut entries = Entries::open(&work.path(FINGERPRINTS))?;
        for document in 0..work.state.documents {
            if let Hashed::Fingerprint(fingerprint) = entries.next()? {
                sorter.push(fingerprint, document.into())?;
            }
            if document % 4096 == 0 {
                interrupt::check()?;
            }
        }
        let parameters = Parameters::new(self.distance).with_width(F::WIDTH).with_ids(IdKind::Number);
        Ok(Store::create_loaded(&path, &parameters, &options, sorter.finish()?)?.0)
    }
}

fn fate<F: Fingerprint>(removed: &Removed<F>) -> Option<(u64, Fate)> {
    let number = |label: &Label<F>| if let Label::Id(Id::Number(number)) = label { Some(*number) } else { None };
    let Id::Number(document) = removed.record.id else { return None };
    let (keeper, cluster) = (number(&removed.keeper)?, number(&removed.cluster)?);
    Some((document, Fate::Removed(Link { keeper, cluster, distance: removed.distance, similarity: f64::NAN })))
}
