//! Finding clusters: near fingerprints are united, and components get their labels.

use crate::bitset::Bitset;
use crate::cluster::changes::{ClusterChanges, ClusterUpdate};
use crate::cluster::clustering::{Among, Clustering, United};
use crate::cluster::clusters::{COMPONENT, Clusters, LOOKED_UP};
use crate::cluster::components::Components;
use crate::cluster::earlier_clusters::Known;
use crate::cluster::few_pairs::Few;
use crate::cluster::keeper::Keeper;
use crate::cluster::linkage::Linkage;
use crate::cluster::numbers::Numbers;
use crate::cluster::previous::Previous;
use crate::cluster::union_find::UnionFind;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::join::{Join, Output, Step, Taker, Ticket};
use crate::segment::{Scratch, Segment};
use std::ops::ControlFlow;
use std::sync::Arc;

struct Uniter<'a, F> {
    numbers: &'a Numbers<F>,
    sets: &'a UnionFind,
    scratch: Scratch,
}

impl<F: Fingerprint> Taker<F> for Uniter<'_, F> {
    fn take(&mut self, pairs: &[(F, F)], _: &Output<Ticket>) -> Step {
        for &(a, b) in pairs {
            let a = self.numbers.of(a, &mut self.scratch)?;
            self.sets.unite(a, self.numbers.of(b, &mut self.scratch)?);
        }
        Ok(())
    }

    fn flush(&mut self, _: &Output<Ticket>) -> Step {
        Ok(())
    }
}

impl<F: Fingerprint> Clusters<F> {
    /// Takes the earlier labels of these records, for [`Clusters::find_from`], and sorts them within half of the spare
    /// memory. Threads read the records meanwhile.
    ///
    /// # Errors
    /// Those of [`Clusters::find`] about memory and numbers, and from reading.
    pub fn previous(&self) -> Result<Previous<F>> {
        Previous::new(self, self.spare()? / 2)
    }

    /// Finds the clusters. The keeper chooses the id that labels a cluster or, without ids, the fingerprint.
    ///
    /// # Errors
    /// `InvalidInput` if the memory is too small; `Unsupported` if there are more than four billion fingerprints;
    /// `Damaged` or `Io` from reading, or from temporary files.
    pub fn find(&self, keeper: &Keeper) -> Result<Clustering<F>> {
        self.find_after(None, keeper)
    }

    /// Finds the same clusters as [`Clusters::find`] without a search for pairs of records that had labels. It searches
    /// the neighbours of new records only ([`Clusters::with_new`], and records without a label), and of all records in
    /// clusters from which a record is missing.
    ///
    /// `previous` has to have all labels of a clustering at the same distance, as it returned them: each is the id of a
    /// record of the cluster. A record is known by its id, so a record with another fingerprint since then has to be
    /// among the new ones. Where several records share an id, all count as new if there are more or fewer labels with
    /// that id. All records of clusters with the same label count as new, too.
    ///
    /// ```
    /// use fpstore::clusters::{Keeper, Label};
    /// use fpstore::{Options, Parameters, Record, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// # let new_path = directory.path().join("new");
    /// let ids = |number: u64| Label::Id(number.into());
    /// let load = |path, records| Store::create_loaded(path, &Parameters::new(3), &Options::new(), records);
    /// let (store, _) = load(&path, Records::Numbered(vec![0b0u64, 0b111, u64::MAX]))?;
    /// let (new, _) = load(&new_path, Records::WithIds(vec![Record { fingerprint: u64::MAX - 1, id: 7.into() }]))?;
    /// let clusters = store.clusters(3)?.with_new(&new.snapshot())?;
    /// let mut previous = clusters.previous()?;
    /// for (id, label) in [(0, 0), (1, 0), (2, 2)] {
    ///     previous.push(&ids(id), &ids(label))?;
    /// }
    /// let clustering = clusters.find_from(previous, &Keeper::Smallest)?;
    /// let labels: Vec<Label> = clustering.records()?.map(|one| Ok(one?.label)).collect::<fpstore::Result<_>>()?;
    /// assert_eq!(labels, [0, 0, 2, 2].map(ids));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Clusters::find`].
    pub fn find_from(&self, previous: Previous<F>, keeper: &Keeper) -> Result<Clustering<F>> {
        self.find_after(Some(previous), keeper)
    }

    /// As [`Clusters::find_from`] with the smallest ids as labels, or only the changes. Those take a fraction of the
    /// time; they are returned if the labels came in the order of the store, all but a few still hold, and the records
    /// without a label take no more than some 16 MiB.
    ///
    /// # Errors
    /// As [`Clusters::find`].
    pub fn find_changes(&self, previous: Previous<F>) -> Result<ClusterUpdate<F>> {
        self.check_single(true)?;
        let (mut united, known) = self.unite(Some(previous))?;
        if let Some(Known { fresh, standing: Some(standing), order: Some(order), .. }) = &known
            && self.is_few(fresh)
            && !(self.sizes || self.keepers)
        {
            let changed = crate::cluster::changes::changed(self, united, fresh, standing)?;
            match ClusterChanges::new(self, changed, Arc::clone(order))? {
                Ok(changes) => return Ok(ClusterUpdate::Changes(changes)),
                Err(all) => united = all,
            }
        }
        self.labelled(united, known.as_ref(), &Keeper::Smallest).map(ClusterUpdate::All)
    }

    fn find_after(&self, previous: Option<Previous<F>>, keeper: &Keeper) -> Result<Clustering<F>> {
        if self.linkage != Linkage::Single {
            self.check_single(previous.is_some())?;
            return Clustering::new(self, self.link(keeper)?, keeper, Among::All);
        }
        let (united, known) = self.unite(previous)?;
        self.labelled(united, known.as_ref(), keeper)
    }

    /// Earlier labels are those of connected components.
    fn check_single(&self, has_labels: bool) -> Result<()> {
        if self.linkage == Linkage::Single || !has_labels {
            return Ok(());
        }
        let message = "only clusters of single linkage can continue earlier labels";
        Err(Error::new(ErrorKind::Unsupported, message).with_remedy("search all clusters again"))
    }

    fn labelled(&self, united: United<F>, known: Option<&Known<F>>, keeper: &Keeper) -> Result<Clustering<F>> {
        let standing = known.and_then(|known| known.standing.as_ref().map(|standing| (&known.fresh, standing)));
        match standing.filter(|_| matches!(keeper, Keeper::Smallest) && !self.sizes && !self.keepers) {
            Some((fresh, standing)) => {
                let is_wanted = |number: u32| fresh.has(number as usize) || standing.has(number as usize);
                let wanted = Bitset::of(Numbers::<F>::count_of(&united.segments)?, is_wanted);
                Clustering::new(self, united, keeper, Among::These(&wanted))
            }
            None => Clustering::new(self, united, keeper, Among::All),
        }
    }

    fn unite(&self, previous: Option<Previous<F>>) -> Result<(United<F>, Option<Known<F>>)> {
        let spare = self.spare()?;
        let segments = self.segments()?;
        let count = Numbers::<F>::count_of(&segments)?;
        let sets = UnionFind::new(count);
        let doubt = |fresh: &Bitset, all_there: bool, doubted: &mut Bitset| {
            self.doubt((fresh, all_there), doubted, &segments, spare / 16).map(drop)
        };
        let known = previous.map(|previous| previous.unite(&sets, &doubt, spare / 16)).transpose()?;
        let labelled = known.as_ref().map_or(0, |known| known.labels);
        // Where most are new, a join of all with all is faster than one of the new ones with all.
        let fresh = known.as_ref().map(|known| &known.fresh).filter(|fresh| fresh.count() <= u64::from(count) / 2);
        let records = fresh.map(|fresh| self.first_words(&segments, fresh, spare / 16)).transpose()?.flatten();
        let fresh = fresh.filter(|_| self.linker.is_none() || records.is_some());
        let searched = fresh.map_or(count.into(), Bitset::count);
        let few = fresh.filter(|fresh| self.is_few(fresh));
        let has_order = few.is_some() && known.as_ref().is_some_and(|known| known.order.is_some());
        let before =
            (has_order && u64::from(count) * COMPONENT <= spare / 4).then(|| Components::new(sets.parents().collect()));
        let looks_up = few.is_some() && self.linker.is_some();
        let few = few.filter(|_| self.linker.is_none());
        let few = few.map(|few| Few::new(&segments, few, self.k)).transpose()?.flatten();
        let executor = &self.job.executor;
        let memory_of_numbers = if few.is_some() || looks_up { 0 } else { spare / 2 };
        let mut numbers = executor.run(|| Numbers::<F>::new(&segments, memory_of_numbers))?;
        let progress = &self.job.progress;
        let components = before.as_ref().map_or(0, |_| u64::from(count) * COMPONENT);
        let memory = spare - numbers.bytes() - components;
        if searched == 0 {
            // All links are known.
        } else if let Some(linker) = &self.linker {
            linker.unite(&numbers, &sets, records.as_ref(), &self.job_within(memory))?;
        } else if let Some(few) = few {
            let unite = |a, b| {
                sets.unite(a, b);
                Ok(())
            };
            executor.run(|| few.visit(&segments, &numbers, progress, &unite))?;
        } else {
            let uniter = || Uniter { numbers: &numbers, sets: &sets, scratch: Scratch::default() };
            let taker = || -> Box<dyn Taker<F> + '_> { Box::new(uniter()) };
            let right = fresh.map(|_| &segments[..]);
            let mut join = Join::<F>::new(&segments, right, self.k, memory, progress, executor);
            (join.only, join.part) = (fresh, self.part);
            let _ = join.run(&taker, &mut |_| Ok(ControlFlow::Continue(())))?;
        }
        numbers.release();
        let components = Components::new(sets.into_parents());
        Ok((United { segments, numbers, components, divided: None, before, searched, labelled }, known))
    }

    /// Notes the numbers of fingerprints that may have lost links because of fresh ones, or because not all records
    /// before are there; all, if these cannot be told. Returns the number of keys that no longer count.
    pub(crate) fn doubt(
        &self,
        (fresh, all_there): (&Bitset, bool),
        doubted: &mut Bitset,
        segments: &[Arc<Segment>],
        memory: u64,
    ) -> Result<u64> {
        let Some(linker) = self.linker.as_ref().filter(|linker| linker.depends_on_others()) else { return Ok(0) };
        let count = Numbers::<F>::count_of(segments)?;
        let records = if all_there { self.first_words(segments, fresh, memory)? } else { None };
        let Some(records) = records else {
            *doubted = Bitset::of(count, |_| true);
            return Ok(0);
        };
        if doubted.bound() < count.into() {
            *doubted = Bitset::new(count as usize);
        }
        linker.doubt(&Numbers::new(segments, 0)?, &records, doubted, &self.job.progress)
    }

    /// Whether to look each of these fingerprints up instead of reading all.
    pub(crate) fn is_few(&self, numbers: &Bitset) -> bool {
        numbers.count() <= numbers.bound() / LOOKED_UP
    }
}
