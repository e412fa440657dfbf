//! Reads all documents and keeps the texts of those that are needed.

use std::path::Path;

use anyhow::bail;
use fpsketch::Normalise;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{
    self, Content, Document, DocumentId, Fault, Inputs, Location, RejectOptions, Rejects, Spool, Spooled,
};

use super::budget::Budget;
use super::ids::Ids;
use crate::lines;

/// The inputs, and how they are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collect<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) normalise: &'a Normalise,
    pub(crate) directory: Option<&'a Path>,
    pub(crate) rejects: &'a RejectOptions,
}

/// The texts of documents, by the index of their ids.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) contents: Spooled,
    /// Whether the id of each document is a number.
    numbers: Vec<bool>,
}

impl Texts {
    pub(crate) fn is_number(&self, index: usize) -> bool {
        self.numbers.get(index).copied().unwrap_or_default()
    }
}

/// A document that may be needed.
enum Made {
    /// The document with this index is needed.
    Needed { index: usize, number: bool, text: String },
    /// The document has an id that is not needed.
    Other,
    /// The document has no id.
    WithoutId(u64, String),
}

impl Collect<'_> {
    /// Returns the normalised texts of the documents with these ids. Documents without ids are numbered from 0; those
    /// that cannot be read have a number, too.
    pub(crate) fn texts(self, ids: &Ids, budget: Budget, common: Common) -> anyhow::Result<Texts> {
        let make = |document: Document, _: &Location| {
            let Document { id, content, number: place } = document;
            let Content::Text(text) = content else {
                bail!("texts are compared, not tokens; name the column of the text")
            };
            let number = matches!(id, DocumentId::Number(_));
            Ok(Ok(match (ids.of(&id), id) {
                (Some(index), _) => Made::Needed { index, number, text: self.normalise.apply(&text).into_owned() },
                (None, DocumentId::None) => Made::WithoutId(place, text),
                (None, _) => Made::Other,
            }))
        };
        let mut contents = Spool::new(ids.len(), self.directory)?;
        let mut numbers = vec![false; ids.len()];
        let mut add = |index: usize, number: bool, text: String| {
            numbers.iter_mut().skip(index).take(1).for_each(|one| *one = number);
            contents.add(index, &Content::Text(text))
        };
        let mut numbering = IdAssignment::default();
        let mut rejects = Rejects::open(self.rejects)?;
        let take = |made: Vec<documents::Made<Result<Made, Fault>>>| {
            for made in made {
                let Some((at, made)) = rejects.keep(made)? else { continue };
                match made {
                    Made::Needed { index, number, text } => {
                        numbering.with_id()?;
                        if !add(index, number, text)? {
                            let name = ids.name(index).unwrap_or_default();
                            bail!(
                                "{at}: another document has the id '{name}', too, so it does not say which is meant; \
                                 leave one of the two out"
                            );
                        }
                    }
                    Made::Other => numbering.with_id()?,
                    Made::WithoutId(place, text) => {
                        numbering.without_id()?;
                        if let Some(index) = ids.of(&DocumentId::Number(place)) {
                            add(index, true, self.normalise.apply(&text).into_owned())?;
                        }
                    }
                }
            }
            Ok(())
        };
        let count = lines::each_or_fault(self.inputs, budget.documents(ids), 0, common, make, take)?;
        rejects.finish(count)?.warn();
        Ok(Texts { contents: contents.finish()?, numbers })
    }
}

/// Checks that either all documents have ids or none does.
#[derive(Clone, Copy, Debug, Default)]
struct IdAssignment {
    with: bool,
    without: bool,
}

impl IdAssignment {
    fn with_id(&mut self) -> anyhow::Result<()> {
        self.with = true;
        self.check()
    }

    fn without_id(&mut self) -> anyhow::Result<()> {
        self.without = true;
        self.check()
    }

    fn check(self) -> anyhow::Result<()> {
        if self.with && self.without {
            bail!("some documents have ids and others have none; --id-column names the column of the ids");
        }
        Ok(())
    }
}
