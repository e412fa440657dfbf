//! Moving the records of a sharded store from one ring to another.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fpring::file::{self, Lock, former_path};
use fpring::{ErrorKind, Ring};
use fpstore::bulk::RecordSorter;
use fpstore::{Fingerprint, Options, Parameters};

use super::compatible;
use super::distribute::{Sorters, each, open, remove, shared};
use super::joining;
use super::place::{Found, Places};
use super::summary::{NodeSummary, Summary};
use crate::width::by_width;

/// Passes that may find records which another program has added meanwhile.
const PASSES: u32 = 4;

/// Moves the records of the sharded store whose ring file is `old` to the ring of `new`, which then takes the place of
/// the former one. Continues an interrupted run. If the rings are equal, only records on wrong nodes move. `memory`
/// bounds the sorters.
///
/// # Errors
///
/// If a ring file or a store cannot be read or written, or the stores cannot share records; another run has the ring
/// file; a signal has arrived. The ring file and its stores have all records then.
pub fn run(old: &Path, new: &Path, options: &Options, memory: u64) -> anyhow::Result<Summary> {
    let after = file::read(new)?;
    file::read(old)?;
    check_folder(old, new, &after)?;
    let _lock = Lock::take(old)?;
    // As it is now that no other run can change it.
    let before = file::read(old)?;
    let mut summary = Summary::default();
    let former = former_path(old)?;
    match file::read(&former) {
        Ok(earlier) if earlier != before => {
            summary.is_continued = true;
            let mut interrupted = Rebalance::new(old, earlier, before.clone(), options, memory)?;
            let ended = interrupted.resume().and_then(|()| interrupted.clean());
            ended.with_context(|| format!("{} is of an interrupted run, which cannot be ended", former.display()))?;
            interrupted.end()?;
            summary.add(interrupted.summary()?);
        }
        // The run ended between the two files: nothing was removed yet.
        Ok(_) => fs::remove_file(&former).with_context(|| former.display().to_string())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    let is_replaced = before != after;
    if !is_replaced && summary.is_continued {
        return Ok(summary);
    }
    let mut rebalance = Rebalance::new(old, before, after, options, memory)?;
    rebalance.prepare()?;
    // A pass that adds nothing has looked all records up.
    if rebalance.copy()? > 0 {
        rebalance.verify()?;
    }
    if is_replaced {
        rebalance.replace()?;
    }
    rebalance.clean()?;
    if is_replaced {
        rebalance.end()?;
    }
    summary.add(rebalance.summary()?);
    summary.is_replaced = is_replaced;
    Ok(summary)
}

/// Refuses a new ring file in another directory, if its paths would change their meaning.
fn check_folder(old: &Path, new: &Path, after: &Ring) -> anyhow::Result<()> {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::canonicalize(folder).with_context(|| folder.display().to_string())
    };
    let is_relative = |path: Option<&str>| path.is_none_or(|path| Path::new(path).is_relative());
    if folder(old)? != folder(new)? && after.nodes().iter().any(|node| is_relative(node.path())) {
        bail!(
            "{} is in another directory than {}, and paths of its nodes are relative to it; put it beside the other",
            new.display(),
            old.display()
        );
    }
    Ok(())
}

/// The records of two rings' nodes on their way from one to the other. [`run`] takes the steps in order.
#[derive(Debug)]
pub struct Rebalance {
    ring_file: PathBuf,
    rings: (Ring, Ring),
    places: Places,
    options: Options,
    memory: u64,
    parameters: Option<Parameters>,
    /// Of each place.
    copied: Vec<u64>,
    removed: Vec<u64>,
}

impl Rebalance {
    /// From one ring to another, both with paths relative to the ring file.
    ///
    /// # Errors
    ///
    /// If the rings have different paths for a node.
    pub fn new(ring_file: &Path, old: Ring, new: Ring, options: &Options, memory: u64) -> anyhow::Result<Self> {
        let places = Places::new(ring_file, old.clone(), new.clone())?;
        let zeros = vec![0; places.all.len()];
        Ok(Self {
            ring_file: ring_file.to_owned(),
            rings: (old, new),
            places,
            options: options.clone(),
            memory,
            parameters: None,
            copied: zeros.clone(),
            removed: zeros,
        })
    }

    /// Checks all stores, and admits those of joining nodes: creates them, or takes out the copies of an interrupted
    /// run, because records that were removed since then are among them.
    ///
    /// # Errors
    ///
    /// If a store is missing or cannot be read, or the stores cannot share records; if the store of a joining node has
    /// records that no run of this program copied there. The message names the node.
    pub fn prepare(&mut self) -> anyhow::Result<()> {
        self.resume()?;
        let (_, options) = shared(&self.options, self.memory);
        by_width!(self.width(), F => joining::admit::<F>(&self.places.all, &options))
    }

    /// Checks all stores, for the end of an interrupted run that had replaced the ring file.
    ///
    /// # Errors
    ///
    /// As [`Rebalance::prepare`].
    pub fn resume(&mut self) -> anyhow::Result<()> {
        self.parameters = Some(compatible::prepare(&self.places, &self.options)?);
        Ok(())
    }

    /// Copies records to those of their new nodes that do not have them. Returns the number of copies.
    ///
    /// # Errors
    ///
    /// If a store cannot be read or written, or a signal has arrived.
    pub fn copy(&mut self) -> anyhow::Result<u64> {
        by_width!(self.width(), F => self.copy_of::<F>())
    }

    /// Looks all records up on their new nodes again, and copies what another program has added meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Rebalance::copy`]; if records are missing again and again.
    pub fn verify(&mut self) -> anyhow::Result<()> {
        for _ in 0..PASSES {
            if self.copy()? == 0 {
                return Ok(());
            }
        }
        bail!("after {PASSES} passes there are still records to copy; stop the programs that write to the stores")
    }

    /// Writes the old ring to [`former_path`], and replaces the ring file by the new ring.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn replace(&self) -> anyhow::Result<()> {
        file::replace(&former_path(&self.ring_file)?, &self.rings.0)?;
        Ok(file::replace(&self.ring_file, &self.rings.1)?)
    }

    /// Removes records from nodes that they do not belong to in the new ring. Before, it looks them up on the nodes
    /// that they belong to, and copies what is missing.
    ///
    /// # Errors
    ///
    /// As [`Rebalance::copy`].
    pub fn clean(&mut self) -> anyhow::Result<()> {
        joining::joined(&self.places.all)?;
        by_width!(self.width(), F => (0..self.places.all.len()).try_for_each(|place| self.clean_of::<F>(place)))
    }

    /// Removes the file of the former ring.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn end(&self) -> anyhow::Result<()> {
        let former = former_path(&self.ring_file)?;
        fs::remove_file(&former).with_context(|| former.display().to_string())
    }

    /// The result so far, and the number of records of each store.
    ///
    /// # Errors
    ///
    /// If a store cannot be opened.
    pub fn summary(&self) -> anyhow::Result<Summary> {
        let mut summary = Summary::default();
        for ((place, copied), removed) in self.places.all.iter().zip(&self.copied).zip(&self.removed) {
            let store = fpstore::AnyStore::open_read_only(&place.directory, &self.options);
            let records = store.with_context(|| format!("node {}", place.name))?.statistics().records;
            summary.copied += copied;
            summary.removed += removed;
            summary.records += if place.is_new { records } else { 0 };
            summary.nodes.push(NodeSummary {
                name: place.name.clone(),
                path: place.directory.display().to_string(),
                is_in_ring: place.is_new,
                copied: *copied,
                removed: *removed,
                records,
            });
        }
        Ok(summary)
    }

    fn width(&self) -> u32 {
        self.parameters.as_ref().map_or(64, Parameters::width)
    }

    fn copy_of<F: Fingerprint>(&mut self) -> anyhow::Result<u64> {
        let (number, options) = shared(&self.options, self.memory);
        let all = &self.places.all;
        let (mut found, mut wanted, mut sum) = (Found::default(), Vec::new(), 0);
        for targets in self.places.of_ring(true).chunks(number) {
            let mut sorters = Sorters::<F>::new(all, targets, &options);
            for source in self.places.of_ring(false) {
                let Some(place) = all.get(source) else { continue };
                let store = open::<F>(place, &self.options)?;
                each(place, &store, |record| {
                    // Also to nodes that had it before: one of its replicas may have lost it.
                    self.places.find(&record.id, &mut found);
                    wanted.clear();
                    wanted.extend(found.new.iter().copied().filter(|new| *new != source));
                    if wanted.is_empty() { Ok(()) } else { sorters.push(record, &wanted) }
                })?;
            }
            sorters.load(|target, added| {
                sum += added;
                self.copied.get_mut(target).into_iter().for_each(|copied| *copied += added);
            })?;
        }
        Ok(sum)
    }

    fn clean_of<F: Fingerprint>(&mut self, source: usize) -> anyhow::Result<()> {
        let (number, options) = shared(&self.options, self.memory);
        let all = &self.places.all;
        let Some(place) = all.get(source) else { return Ok(()) };
        let mut gone = RecordSorter::<F>::new(&place.directory, &options);
        let mut found = Found::default();
        // One state of the store for all passes over it: no record is removed that was not looked up.
        let store = open::<F>(place, &self.options)?;
        let others: Vec<usize> = self.places.of_ring(true).into_iter().filter(|other| *other != source).collect();
        for (targets, pass) in others.chunks(number).zip(0..) {
            let mut sorters = Sorters::<F>::new(all, targets, &options);
            let mut number = 0_u64;
            each(place, &store, |record| {
                self.places.find(&record.id, &mut found);
                if found.new.contains(&source) {
                    return Ok(());
                }
                number += 1;
                if pass == 0 {
                    gone.push(record.fingerprint, record.id.as_ref())?;
                }
                sorters.push(record, &found.new)
            })?;
            if number == 0 {
                return Ok(());
            }
            sorters.load(|target, added| {
                self.copied.get_mut(target).into_iter().for_each(|copied| *copied += added);
            })?;
        }
        drop(store);
        let removed = remove(place, &options, gone)?;
        self.removed.get_mut(source).into_iter().for_each(|sum| *sum += removed);
        Ok(())
    }
}
