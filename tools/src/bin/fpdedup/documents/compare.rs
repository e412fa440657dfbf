//! The second phase: loads the fingerprints into a temporary store whose ids are the numbers of the documents, and
//! decides which documents are removed.

use std::fs;
use std::ops::ControlFlow;

use anyhow::Context;
use fpstore::bulk::RecordSorter;
use fpstore::clusters::{Decision, Keeper, Label, Linkage, Removed};
use fpstore::{Filters, Fingerprint, Id, IdKind, Options, Parameters, Store};
use fpstore_tools::interrupt;

use super::hash::FINGERPRINTS;
use super::links::{Fate, Fates, Link, Links};
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
    pub(super) keeper: &'a Keeper,
    /// Bytes beside those of the program itself and of the keeper.
    pub(super) memory: u64,
}

impl Comparing<'_> {
    /// Decides on all documents.
    pub(super) fn run<F: Fingerprint>(&self, work: &mut Work, watch: &Watch<'_>) -> anyhow::Result<()> {
        let store = self.load::<F>(work, &mut |_| Ok(true))?;
        let mut links = Links::create(work.path(LINKS), work.state.documents)?;
        self.decide(work, &store, &mut links, watch)?;
        work.done(Step::Verify)
    }

    /// Decides on the documents whose texts differ from their keepers', among themselves.
    pub(super) fn again<F: Fingerprint>(&self, work: &Work, watch: &Watch<'_>) -> anyhow::Result<()> {
        let mut links = Links::open(work.path(FATES))?;
        let mut fates = Fates::from(links.path(), 0)?;
        // They stay, unless another one of them removes them.
        let mut settled = Vec::new();
        let mut is_doubtful = |document| {
            let is_doubtful = fates.next()? == Fate::Doubtful;
            if is_doubtful {
                settled.push((document, Fate::Different));
            }
            if settled.len() == GATHERED {
                links.set(&mut settled)?;
                settled.clear();
            }
            Ok(is_doubtful)
        };
        let store = self.load::<F>(work, &mut is_doubtful)?;
        links.set(&mut settled)?;
        self.decide(work, &store, &mut links, watch)
    }

    /// Decides on the documents of a store, and writes which of them are removed.
    fn decide<F: Fingerprint>(
        &self,
        work: &Work,
        store: &Store<F>,
        links: &mut Links,
        watch: &Watch<'_>,
    ) -> anyhow::Result<()> {
        let spare = self.memory.saturating_sub(store.statistics().resident_bytes);
        let clusters = store
            .clusters(self.distance)?
            .with_linkage(self.linkage)
            .with_memory(spare / 4 * 3)
            .with_temp_dir(work.directory())
            .with_keepers();
        let watched = watch(clusters.progress())?;
        let clustering = clusters.find(self.keeper).context("--memory")?;
        let most = usize::try_from(spare / 4 / EACH).unwrap_or(usize::MAX).max(GATHERED);
        let mut fates = Vec::new();
        let mut failed = None;
        let add = |gathered: &mut Vec<(u64, Fate)>, decision: Decision<F>| {
            gathered.extend(fate(&decision));
            if gathered.len() < GATHERED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        clustering.visit_decisions(add, |gathered| {
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
        Ok(())
    }

    /// Returns the store of the fingerprints of documents for which `takes` returns true; it is called for all of them.
    fn load<F: Fingerprint>(
        &self,
        work: &Work,
        takes: &mut dyn FnMut(u64) -> anyhow::Result<bool>,
    ) -> anyhow::Result<Store<F>> {
        let path = work.path("store");
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        let options: Options = fpstore_tools::threads::options()
            .with_filters(Filters::Off)
            .with_load_memory(self.memory)
            .with_temp_dir(Some(work.directory()));
        let mut sorter = RecordSorter::<F>::new(&path, &options);
        let mut entries = Entries::open(&work.path(FINGERPRINTS))?;
        for document in 0..work.state.documents {
            let (hashed, is_taken) = (entries.next()?, takes(document)?);
            if let Hashed::Fingerprint(fingerprint) = hashed
                && is_taken
            {
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

/// Shows the progress of a comparison.
pub(super) type Watch<'a> = dyn Fn(fpstore::Progress) -> anyhow::Result<Watched> + 'a;

fn fate<F: Fingerprint>(decision: &Decision<F>) -> Option<(u64, Fate)> {
    let Decision::Removed(Removed { record, keeper, cluster, distance }) = decision else { return None };
    let number = |label: &Label<F>| if let Label::Id(Id::Number(number)) = label { Some(*number) } else { None };
    let Id::Number(document) = record.id else { return None };
    let (keeper, cluster) = (number(keeper)?, number(cluster)?);
    Some((document, Fate::Removed(Link { keeper, cluster, distance: *distance, similarity: f64::NAN })))
}
