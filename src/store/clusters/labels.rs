//! The labels of all clusters that have several fingerprints.

use super::keeper::Keeper;
use crate::bulk::{TextSorter, Workspace};
use crate::cluster::Bitset;
use crate::env::ScratchFile;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, IdKind};
use std::path::PathBuf;

/// Bytes that are written at once.
const PIECE: usize = 1 << 20;

/// What stands for a cluster: one of its ids or, where there are none, one of its fingerprints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label<F = u64> {
    /// An id.
    Id(Id),
    /// A fingerprint.
    Fingerprint(F),
}

/// The label of each component.
#[derive(Debug)]
pub(super) enum Labels<F> {
    Numbers(Vec<u64>),
    Fingerprints(Vec<F>),
    Texts(Texts),
}

/// Texts one behind the other in a temporary file, each behind its length in two bytes.
#[derive(Debug)]
pub(super) struct Texts {
    /// Where each begins.
    offsets: Vec<u64>,
    file: Box<dyn ScratchFile>,
    directory: PathBuf,
}

impl<F: Fingerprint> Labels<F> {
    /// The label of a component.
    pub(super) fn of(&self, component: usize) -> Result<Label<F>> {
        let missing = || Error::damaged("a cluster has no label");
        match self {
            Self::Numbers(all) => all.get(component).map(|&id| Label::Id(Id::Number(id))).ok_or_else(missing),
            Self::Fingerprints(all) => all.get(component).copied().map(Label::Fingerprint).ok_or_else(missing),
            Self::Texts(texts) => {
                let &offset = texts.offsets.get(component).ok_or_else(missing)?;
                let read = |offset: u64, length: usize| {
                    let mut bytes = vec![0; length];
                    let read = texts.file.read_at(offset, &mut bytes);
                    read.map_err(|error| Error::temporary("cannot read temporary data in", &texts.directory, error))?;
                    Ok::<_, Error>(bytes)
                };
                let length = read(offset, 2)?.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
                let text = String::from_utf8_lossy(&read(offset + 2, length)?).as_ref().into();
                Ok(Label::Id(Id::Text(text)))
            }
        }
    }
}

/// Gathers the labels of components from those of their fingerprints.
pub(super) struct Gathering<'k, F: Fingerprint> {
    keeper: &'k Keeper,
    workspace: Workspace,
    /// Which components have a label by now.
    known: Bitset,
    best: Best<F>,
}

enum Best<F: Fingerprint> {
    Numbers(Vec<u64>),
    Fingerprints(Vec<F>),
    /// By component, then text.
    Texts(TextSorter<u64>),
}

impl<'k, F: Fingerprint> Gathering<'k, F> {
    pub(super) fn new(kind: IdKind, components: usize, keeper: &'k Keeper, workspace: Workspace) -> Self {
        let best = match kind {
            IdKind::Number => Best::Numbers(vec![0; components]),
            IdKind::None => Best::Fingerprints(vec![F::default(); components]),
            IdKind::Text => {
                let (env, directory) = (workspace.env.clone(), workspace.directory.clone());
                Best::Texts(TextSorter::new(env, directory, workspace.memory))
            }
        };
        Self { keeper, workspace, known: Bitset::new(components), best }
    }

    /// Takes the best id of one of a component's fingerprints.
    pub(super) fn add(&mut self, component: usize, fingerprint: F, id: &Id) -> Result<()> {
        let known = !self.known.insert(component);
        match &mut self.best {
            Best::Numbers(all) => {
                if let (Some(best), Some(id)) = (all.get_mut(component), id.number())
                    && (!known || self.keeper.compare(&id, best, |&id| Id::Number(id)).is_lt())
                {
                    *best = id;
                }
            }
            Best::Fingerprints(all) => {
                if let Some(best) = all.get_mut(component)
                    && (!known || self.keeper.compare(&fingerprint, best, |_| Id::Count(0)).is_lt())
                {
                    *best = fingerprint;
                }
            }
            Best::Texts(sorter) => sorter.push(component as u64, id.text().unwrap_or_default())?,
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Labels<F>> {
        match self.best {
            Best::Numbers(all) => Ok(Labels::Numbers(all)),
            Best::Fingerprints(all) => Ok(Labels::Fingerprints(all)),
            Best::Texts(sorter) => texts(sorter, self.keeper, &self.workspace).map(Labels::Texts),
        }
    }
}

/// Writes the best text of each component.
fn texts(sorter: TextSorter<u64>, keeper: &Keeper, workspace: &Workspace) -> Result<Texts> {
    let failed = |error| Error::temporary("cannot write temporary data to", &workspace.directory, error);
    let mut file = workspace.env.scratch(&workspace.directory).map_err(failed)?;
    let (mut offsets, mut piece, mut written) = (Vec::new(), Vec::new(), 0u64);
    let mut write = |id: Id, end: bool| -> Result<()> {
        let text = id.text().unwrap_or_default();
        offsets.push(written + piece.len() as u64);
        piece.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
        piece.extend_from_slice(text.as_bytes());
        if end || piece.len() >= PIECE {
            file.append(&piece).map_err(failed)?;
            written += piece.len() as u64;
            piece.clear();
        }
        Ok(())
    };
    let mut best: Option<(u64, Id)> = None;
    for chunk in sorter.finish()?.chunks(workspace.memory) {
        for (component, text) in chunk?.records() {
            let id = Id::Text(String::from_utf8_lossy(text).as_ref().into());
            best = match best.take() {
                Some((same, kept)) if same == component => {
                    let better = keeper.compare(&id, &kept, Clone::clone).is_lt();
                    Some((component, if better { id } else { kept }))
                }
                before => {
                    before.map(|(_, kept)| write(kept, false)).transpose()?;
                    Some((component, id))
                }
            };
        }
    }
    best.map(|(_, kept)| write(kept, true)).transpose()?;
    Ok(Texts { offsets, file, directory: workspace.directory.clone() })
}
