//! mih-rs: multi-index hashing in memory, with its own choice of the number of blocks, or with two or three.

use crate::peer::{Index, Peer, Result, Searcher, Sizes};

pub(crate) fn peers(k: u32) -> Vec<Peer> {
    let peer = |(name, blocks): (_, Option<usize>)| Peer {
        name,
        build: Box::new(move |values, _| {
            let index = match blocks {
                Some(blocks) => mih_rs::Index::with_blocks(values, blocks)?,
                None => mih_rs::Index::new(values)?,
            };
            Ok(Box::new(Built { index, k: k as usize }))
        }),
    };
    [("mih-rs", None), ("mih-rs-2", Some(2)), ("mih-rs-3", Some(3))].map(peer).into()
}

struct Built {
    index: mih_rs::Index<u64>,
    k: usize,
}

impl Index for Built {
    fn searcher(&self) -> Result<Box<dyn Searcher + '_>> {
        Ok(Box::new(Asking { codes: self.index.codes(), searcher: self.index.range_searcher(), k: self.k }))
    }

    fn sizes(&self) -> Result<Sizes> {
        Ok(Sizes::default())
    }
}

struct Asking<'a> {
    codes: &'a [u64],
    searcher: mih_rs::index::RangeSearcher<'a, u64>,
    k: usize,
}

impl Searcher for Asking<'_> {
    fn query(&mut self, query: u64, found: &mut Vec<u64>) -> Result<()> {
        found.extend(self.searcher.run(query, self.k).iter().map(|&id| self.codes[id as usize]));
        Ok(())
    }
}
