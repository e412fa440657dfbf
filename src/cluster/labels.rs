//! The labels of the components.

use crate::bitset::Bitset;
use crate::cluster::keeper::Keeper;
use crate::env::ReadFile;
use crate::error::{Error, Result};
use crate::extsort::{TextSorter, Workspace};
use crate::fingerprint::{Fingerprint, Id, IdKind, IdRef, Record};
use std::path::PathBuf;

const PIECE: usize = 1 << 20;

/// The label of a cluster: one of its ids or, without ids, one of its fingerprints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label<F = u64> {
    /// An id.
    Id(Id),
    /// A fingerprint.
    Fingerprint(F),
}

/// A borrowed label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelRef<'a, F = u64> {
    /// A number as id.
    Number(u64),
    /// A text as id.
    Text(&'a str),
    /// A fingerprint.
    Fingerprint(F),
}

impl<'a, F: Fingerprint> LabelRef<'a, F> {
    /// The label that names a record: its id or, without ids, its fingerprint.
    #[inline]
    pub(crate) fn of(fingerprint: F, id: IdRef<'a>) -> Self {
        match id {
            IdRef::Number(number) => Self::Number(number),
            IdRef::Text(text) => Self::Text(text),
            IdRef::None => Self::Fingerprint(fingerprint),
        }
    }

    /// The id of the named record; 0 for its unknown count.
    pub(crate) fn id(self) -> Id {
        match self {
            Self::Number(number) => Id::Number(number),
            Self::Text(text) => Id::from(text),
            Self::Fingerprint(_) => Id::Count(0),
        }
    }

    pub(crate) fn of_record(record: &'a Record<F>) -> Self {
        Self::of(record.fingerprint, record.id.as_ref())
    }
}

impl<'a, F: Fingerprint> From<&'a Label<F>> for LabelRef<'a, F> {
    fn from(label: &'a Label<F>) -> Self {
        match label {
            Label::Id(Id::Number(number) | Id::Count(number)) => Self::Number(*number),
            Label::Id(Id::Text(text)) => Self::Text(text),
            Label::Fingerprint(fingerprint) => Self::Fingerprint(*fingerprint),
        }
    }
}

/// The label of each component, or of some of them.
#[derive(Debug)]
pub(crate) enum Labels<F> {
    Numbers(Vec<u64>),
    Fingerprints(Vec<F>),
    Texts(Texts),
}

/// Texts in a temporary file.
#[derive(Debug)]
pub(crate) struct Texts {
    /// Where each component's text begins, and the end of the file. A component without a text has no bytes.
    offsets: Vec<u64>,
    file: Box<dyn ReadFile>,
    directory: PathBuf,
}

impl<F: Fingerprint> Labels<F> {
    pub(crate) fn of(&self, component: usize) -> Result<Label<F>> {
        let missing = || Error::damaged("a cluster has no label");
        match self {
            Self::Numbers(all) => all.get(component).map(|&id| Label::Id(Id::Number(id))).ok_or_else(missing),
            Self::Fingerprints(all) => all.get(component).copied().map(Label::Fingerprint).ok_or_else(missing),
            Self::Texts(texts) => {
                let bounds = texts.offsets.get(component..).and_then(<[u64]>::first_chunk::<2>);
                let &[offset, end] = bounds.filter(|[offset, end]| offset < end).ok_or_else(missing)?;
                let failed = |error| Error::temporary("cannot read temporary data in", &texts.directory, error);
                let mut buffer = Vec::new();
                let length = usize::try_from(end - offset).unwrap_or(usize::MAX);
                let text = texts.file.read(offset, length, &mut buffer).map_err(failed)?;
                let text = String::from_utf8_lossy(text).as_ref().into();
                Ok(Label::Id(Id::Text(text)))
            }
        }
    }
}

pub(crate) struct Gathering<'k, F: Fingerprint> {
    keeper: &'k Keeper,
    workspace: Workspace,
    known: Bitset,
    best: Best<F>,
    /// The fingerprint of each component's keeper, if wanted.
    keepers: Option<Vec<F>>,
}

enum Best<F: Fingerprint> {
    Numbers(Vec<u64>),
    Fingerprints(Vec<F>),
    /// By component; each text after its fingerprint if those are wanted.
    Texts(Box<TextSorter<u64>>),
}

impl<'k, F: Fingerprint> Gathering<'k, F> {
    pub(crate) fn new(
        kind: IdKind,
        components: usize,
        keeper: &'k Keeper,
        wants_keepers: bool,
        workspace: Workspace,
    ) -> Self {
        let best = match kind {
            IdKind::Number => Best::Numbers(vec![0; components]),
            IdKind::None => Best::Fingerprints(vec![F::default(); components]),
            IdKind::Text => Best::Texts(Box::new(TextSorter::new(&workspace, workspace.memory))),
        };
        let keepers = wants_keepers.then(|| vec![F::default(); components]);
        Self { keeper, workspace, known: Bitset::new(components), best, keepers }
    }

    pub(crate) fn add(&mut self, component: usize, fingerprint: F, id: &Id) -> Result<()> {
        let known = !self.known.insert(component);
        let mut keep = |fingerprint: F| {
            if let Some(slot) = self.keepers.as_mut().and_then(|keepers| keepers.get_mut(component)) {
                *slot = fingerprint;
            }
        };
        match &mut self.best {
            Best::Numbers(all) => {
                if let (Some(best), Some(id)) = (all.get_mut(component), id.number())
                    && (!known || self.keeper.compare(&id, best, |&id| Id::Number(id)).is_lt())
                {
                    *best = id;
                    keep(fingerprint);
                }
            }
            Best::Fingerprints(all) => {
                if let Some(best) = all.get_mut(component)
                    && (!known || self.keeper.compare(&fingerprint, best, |_| Id::Count(0)).is_lt())
                {
                    *best = fingerprint;
                    keep(fingerprint);
                }
            }
            Best::Texts(sorter) => {
                let mut text = Vec::new();
                if self.keepers.is_some() {
                    (0..F::WORDS).for_each(|number| text.extend(fingerprint.word(number).to_be_bytes()));
                }
                text.extend_from_slice(id.text().unwrap_or_default().as_bytes());
                sorter.push(component as u64, &text)?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(Labels<F>, Option<Vec<F>>)> {
        let labels = match self.best {
            Best::Numbers(all) => Labels::Numbers(all),
            Best::Fingerprints(all) => Labels::Fingerprints(all),
            Best::Texts(sorter) => {
                Labels::Texts(texts(*sorter, self.keeper, self.keepers.as_deref_mut(), &self.workspace)?)
            }
        };
        Ok((labels, self.keepers))
    }
}

/// Writes the best text of each component to a temporary file, and its fingerprint to `keepers`.
fn texts<F: Fingerprint>(
    sorter: TextSorter<u64>,
    keeper: &Keeper,
    keepers: Option<&mut [F]>,
    workspace: &Workspace,
) -> Result<Texts> {
    let failed = |error| Error::temporary("cannot write temporary data to", &workspace.directory, error);
    let mut file = workspace.env.scratch(&workspace.directory).map_err(failed)?;
    let (mut offsets, mut piece, mut written) = (Vec::new(), Vec::new(), 0u64);
    let prefix = if keepers.is_some() { F::BYTES } else { 0 };
    let mut keepers = keepers.into_iter().flatten();
    let mut write = |component: u64, (fingerprint, id): (F, Id), end: bool| -> Result<()> {
        offsets.resize(usize::try_from(component).unwrap_or(usize::MAX) + 1, written + piece.len() as u64);
        keepers.next().into_iter().for_each(|slot| *slot = fingerprint);
        piece.extend_from_slice(id.text().unwrap_or_default().as_bytes());
        if end || piece.len() >= PIECE {
            file.append(&piece).map_err(failed)?;
            written += piece.len() as u64;
            piece.clear();
        }
        Ok(())
    };
    let mut best: Option<(u64, (F, Id))> = None;
    for chunk in sorter.finish()?.chunks(workspace.memory) {
        for (component, text) in chunk?.records() {
            let (head, text) = text.split_at_checked(prefix).unwrap_or_default();
            let (words, _) = head.as_chunks();
            let fingerprint = F::from_words(|number| words.get(number).map_or(0, |&word| u64::from_be_bytes(word)));
            let id = Id::Text(String::from_utf8_lossy(text).as_ref().into());
            best = match best.take() {
                Some((same, kept)) if same == component => {
                    let better = keeper.compare(&id, &kept.1, Clone::clone).is_lt();
                    Some((component, if better { (fingerprint, id) } else { kept }))
                }
                before => {
                    before.map(|(component, kept)| write(component, kept, false)).transpose()?;
                    Some((component, (fingerprint, id)))
                }
            };
        }
    }
    best.map(|(component, kept)| write(component, kept, true)).transpose()?;
    let file = file.into_reader().map_err(failed)?;
    offsets.push(file.length());
    Ok(Texts { offsets, file, directory: workspace.directory.clone() })
}
