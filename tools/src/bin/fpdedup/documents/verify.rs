//! The third phase: compares the text of every removed document with that of its keeper.
//!
//! The texts that are needed go to a temporary file, as many at a time as memory has space for their places; each time,
//! all documents are read. Then pairs are compared in the order of the input, a batch at a time, on all threads.

use anyhow::{Context, bail};
use fpsketch::Preparation;
use fpstore_tools::documents::{CHANGED, Comparison, Document, Inputs, Similarity, Spool, each_or_fault};
use fpstore_tools::progress::Progress;

use super::compare::FATES;
use super::links::{Fate, Fates, Link, Links};
use super::work::Work;

/// Bytes of a pair in memory: both documents, the places of their texts, and the result.
const PAIR: u64 = 192;

/// How texts are compared.
pub(super) struct Verifying<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) preparation: &'a Preparation,
    /// Least similarity of a document that is removed.
    pub(super) threshold: f64,
    /// Bytes beside those of the program itself.
    pub(super) memory: u64,
}

/// A removed document.
type Pair = (u64, Link);

impl Verifying<'_> {
    /// Compares the texts of all removed documents that were not compared before. Returns the number of those that
    /// differ from their keeper.
    pub(super) fn run(&self, work: &Work, progress: impl Fn() -> Progress) -> anyhow::Result<u64> {
        let most = usize::try_from(self.memory / 4 / PAIR).unwrap_or(usize::MAX).max(1);
        let mut links = Links::open(work.path(FATES))?;
        let (mut document, mut doubtful) = (0, 0);
        while document < work.state.documents {
            let mut fates = Fates::from(links.path(), document)?;
            let mut pairs: Vec<Pair> = Vec::new();
            while document < work.state.documents && pairs.len() < most {
                match fates.next()? {
                    Fate::Removed(link) if link.similarity.is_nan() => pairs.push((document, link)),
                    _ => {}
                }
                document += 1;
            }
            if !pairs.is_empty() {
                let shown = progress();
                doubtful += self.part(&pairs, &mut links, work, &shown)?;
                shown.finish();
            }
        }
        links.sync()?;
        Ok(doubtful)
    }

    /// Compares some pairs; returns the number of those that differ.
    fn part(&self, pairs: &[Pair], links: &mut Links, work: &Work, progress: &Progress) -> anyhow::Result<u64> {
        let mut wanted: Vec<u64> = pairs.iter().flat_map(|(document, link)| [*document, link.keeper]).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut texts = Spool::new(wanted.len(), Some(work.directory()))?;
        let make = |Document { content, number, .. }, _: &_| {
            Ok(wanted.binary_search(&number).ok().map(|index| (index, content)))
        };
        each_or_fault(self.inputs, self.memory / 4, 0, progress, make, |made| {
            for (index, content) in made.into_iter().filter_map(|made| made.result.ok().flatten()) {
                texts.add(index, &content)?;
            }
            Ok(())
        })?;
        let texts = texts.finish()?;
        let index = |document: u64| wanted.binary_search(&document).ok().context(CHANGED);
        let indexes = pairs.iter().map(|(document, link)| Ok((index(*document)?, index(link.keeper)?)));
        let indexes = indexes.collect::<anyhow::Result<Vec<_>>>()?;
        if texts.missing().is_some() {
            bail!(CHANGED);
        }
        let similarities = Comparison::new(self.preparation).of(&indexes, &texts, self.memory / 4)?;
        let judge = |((document, link), similarity): (&Pair, Similarity)| {
            let similarity = similarity.jaccard;
            let is_similar = similarity >= self.threshold;
            let fate = if is_similar { Fate::Removed(Link { similarity, ..*link }) } else { Fate::Doubtful };
            (*document, fate)
        };
        let mut fates: Vec<_> = pairs.iter().zip(similarities).map(judge).collect();
        links.set(&mut fates)?;
        Ok(fates.iter().filter(|(_, fate)| *fate == Fate::Doubtful).count() as u64)
    }
}
