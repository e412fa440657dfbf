//! The second phase: loads the fingerprints, or the keys and sketches, into a temporary store whose ids are the numbers
//! of the documents, and decides which documents are removed.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;
use fpstore::bulk::RecordSorter;
use fpstore::clusters::{Clusters, Decision, Keeper, Label, Linkage, Nearness, Removed};
use fpstore::keys::{KeyRule, KeySorter};
use fpstore::{Filters, Fingerprint, Id, IdKind, KeyFormat, KeyIndex, Options, Parameters, Store};
use fpstore_tools::{interrupt, sketching};

use super::hash::ENTRIES;
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

/// What makes documents near.
#[derive(Clone, Copy, Debug)]
pub(super) enum Near {
    /// Fingerprints of this width differ in at most so many bits.
    Distance { width: u32, distance: u32 },
    /// They have a key in common, and their sketches are similar enough.
    Keys { format: KeyFormat, keys: usize, min_jaccard: f64 },
}

impl Near {
    /// Whether a removed document is not near its keeper, and others link the two.
    pub(super) fn is_far(self, link: &Link) -> bool {
        match self {
            Self::Distance { distance, .. } => link.near > distance.into(),
            Self::Keys { min_jaccard, .. } => link.near == 0 || link.estimate < min_jaccard,
        }
    }

    /// Whether nothing tells a removed document from its keeper.
    pub(super) fn is_equal(self, link: &Link) -> bool {
        match self {
            Self::Distance { .. } => link.near == 0,
            Self::Keys { keys, .. } => link.near == keys as u64,
        }
    }

    fn rule(min_jaccard: f64) -> KeyRule {
        KeyRule::new().with_min_jaccard(min_jaccard)
    }
}

/// How documents are compared.
pub(super) struct Comparing<'a> {
    pub(super) near: Near,
    /// Bytes of what was made of a document.
    pub(super) length: usize,
    pub(super) linkage: Linkage,
    pub(super) keeper: &'a Keeper,
    /// Bytes beside those of the program itself and of the keeper.
    pub(super) memory: u64,
}

impl Comparing<'_> {
    /// Decides on all documents.
    pub(super) fn run(&self, work: &mut Work, watch: &Watch<'_>) -> anyhow::Result<()> {
        let loaded = self.load(work, &mut |_| Ok(true))?;
        let mut links = Links::create(work.path(LINKS), work.state.documents)?;
        self.decide_all(work, loaded, &mut links, watch)?;
        work.done(Step::Verify)
    }

    /// Decides on the documents whose texts differ from their keepers', among themselves.
    pub(super) fn again(&self, work: &Work, watch: &Watch<'_>) -> anyhow::Result<()> {
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
        let loaded = self.load(work, &mut is_doubtful)?;
        links.set(&mut settled)?;
        self.decide_all(work, loaded, &mut links, watch)
    }

    fn decide_all(&self, work: &Work, loaded: Loaded, links: &mut Links, watch: &Watch<'_>) -> anyhow::Result<()> {
        match loaded {
            Loaded::Narrow(clusters, bytes) => self.decide(work, clusters, bytes, links, watch),
            Loaded::Wide(clusters, bytes) => self.decide(work, clusters, bytes, links, watch),
        }
    }

    /// Decides on the documents of a store that takes `resident` bytes, and writes which of them are removed.
    fn decide<F: Fingerprint>(
        &self,
        work: &Work,
        clusters: Clusters<F>,
        resident: u64,
        links: &mut Links,
        watch: &Watch<'_>,
    ) -> anyhow::Result<()> {
        let spare = self.memory.saturating_sub(resident);
        let clusters = clusters
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

    /// Loads the documents for which `takes` returns true; it is called for all of them.
    fn load(&self, work: &Work, takes: &mut dyn FnMut(u64) -> anyhow::Result<bool>) -> anyhow::Result<Loaded> {
        let path = work.path("store");
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        let options: Options = fpstore_tools::threads::options()
            .with_filters(Filters::Off)
            .with_load_memory(self.memory)
            .with_temp_dir(Some(work.directory()));
        let mut each = |push: &mut dyn FnMut(u64, &[u8]) -> fpstore::Result<()>| self.each(work, takes, push);
        match self.near {
            Near::Distance { width: 128, distance } => {
                let (clusters, bytes) = fingerprints::<u128>(distance, &path, &options, &mut each)?;
                Ok(Loaded::Wide(clusters, bytes))
            }
            Near::Distance { distance, .. } => {
                let (clusters, bytes) = fingerprints::<u64>(distance, &path, &options, &mut each)?;
                Ok(Loaded::Narrow(clusters, bytes))
            }
            Near::Keys { format, keys, min_jaccard } => {
                let mut sorter = KeySorter::new(&path, &options, format);
                let mut own = Vec::with_capacity(keys);
                each(&mut |document, made| {
                    let (bytes, sketch) = made.split_at_checked(keys * size_of::<u64>()).unwrap_or_default();
                    own.clear();
                    own.extend(bytes.as_chunks().0.iter().map(|key| u64::from_le_bytes(*key)));
                    sorter.push(document.into(), &own, sketch)
                })?;
                let parameters = Parameters::of_keys(format).with_ids(IdKind::Number);
                let (index, _) = KeyIndex::create_loaded(&path, &parameters, &options, sorter.finish()?)?;
                Ok(Loaded::Narrow(index.clusters(Near::rule(min_jaccard))?, index.statistics().resident_bytes))
            }
        }
    }

    /// Calls `push` with the number of each taken document and what was made of it.
    fn each(
        &self,
        work: &Work,
        takes: &mut dyn FnMut(u64) -> anyhow::Result<bool>,
        push: &mut dyn FnMut(u64, &[u8]) -> fpstore::Result<()>,
    ) -> anyhow::Result<()> {
        let mut entries = Entries::open(&work.path(ENTRIES), self.length)?;
        for document in 0..work.state.documents {
            let (hashed, is_taken) = (entries.next()?, takes(document)?);
            if let Hashed::Made(made) = hashed
                && is_taken
            {
                push(document, made)?;
            }
            if document % 4096 == 0 {
                interrupt::check()?;
            }
        }
        Ok(())
    }
}

/// The clusters of loaded documents, and the bytes of memory that their store takes.
enum Loaded {
    Narrow(Clusters<u64>, u64),
    Wide(Clusters<u128>, u64),
}

/// Passes documents on.
type Each<'a> = dyn FnMut(&mut dyn FnMut(u64, &[u8]) -> fpstore::Result<()>) -> anyhow::Result<()> + 'a;

/// Loads fingerprints.
fn fingerprints<F: Fingerprint>(
    distance: u32,
    path: &Path,
    options: &Options,
    each: &mut Each<'_>,
) -> anyhow::Result<(Clusters<F>, u64)> {
    let mut sorter = RecordSorter::<F>::new(path, options);
    each(&mut |document, made| {
        let bits = made.first_chunk().map_or(0, |bits| u128::from_le_bytes(*bits));
        sorter.push(sketching::words::<F>(bits), document.into())
    })?;
    let parameters = Parameters::new(distance).with_width(F::WIDTH).with_ids(IdKind::Number);
    let (store, _) = Store::create_loaded(path, &parameters, options, sorter.finish()?)?;
    Ok((store.clusters(distance)?, store.statistics().resident_bytes))
}

/// Shows the progress of a comparison.
pub(super) type Watch<'a> = dyn Fn(fpstore::Progress) -> anyhow::Result<Watched> + 'a;

fn fate<F: Fingerprint>(decision: &Decision<F>) -> Option<(u64, Fate)> {
    let Decision::Removed(Removed { record, keeper, cluster, nearness }) = decision else { return None };
    let number = |label: &Label<F>| if let Label::Id(Id::Number(number)) = label { Some(*number) } else { None };
    let Id::Number(document) = record.id else { return None };
    let (keeper, cluster) = (number(keeper)?, number(cluster)?);
    let (near, estimate) = match *nearness {
        Nearness::Distance(distance) => (distance.into(), f64::NAN),
        Nearness::Keys { shared, jaccard } => (shared, jaccard.unwrap_or(f64::NAN)),
    };
    Some((document, Fate::Removed(Link { keeper, cluster, near, estimate, similarity: f64::NAN })))
}
