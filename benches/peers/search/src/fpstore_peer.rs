//! fpstore, in several configurations.

use crate::peer::{Index, Peer, Result, Searcher, Sizes};
use fpstore::{Design, Filters, Options, Parameters, ReadMode, Records, Store};

/// Each row is a peer: its name, the parameters of its store, the options for opening. Opening builds the filters
/// before the first query, so that all measurements see the same store.
fn configurations(k: u32) -> Vec<(&'static str, Parameters, Options)> {
    let parameters = Parameters::new(k);
    let options = Options::new().with_filters(Filters::AtOpen);
    vec![
        ("fpstore", parameters.clone(), options.clone()),
        ("fpstore-no-filters", parameters.clone(), options.clone().with_filters(Filters::Off)),
        ("fpstore-pread", parameters.clone(), options.clone().with_read_mode(ReadMode::Pread)),
        ("fpstore-512", parameters.clone().with_block_size(512), options.clone()),
        ("fpstore-4096", parameters.clone().with_block_size(4096), options.clone()),
        ("fpstore-tables-4", parameters.with_design(Design::Tables { parts: 4 }), options),
    ]
}

pub(crate) fn peers(k: u32) -> Vec<Peer> {
    let peer = |(name, parameters, options): (_, Parameters, Options)| Peer {
        name,
        build: Box::new(move |values, directory| {
            let path = directory.join("store");
            let loading = Options::new().with_filters(Filters::Off);
            drop(<Store>::create_loaded(&path, &parameters, &loading, Records::Numbered(values))?);
            Ok(Box::new(Built { store: <Store>::open_read_only(&path, &options)?, k }))
        }),
    };
    configurations(k).into_iter().map(peer).collect()
}

struct Built {
    store: Store,
    k: u32,
}

impl Index for Built {
    fn searcher(&self) -> Result<Box<dyn Searcher + '_>> {
        Ok(Box::new(Asking { searcher: self.store.searcher(), k: self.k }))
    }

    /// Without ids: the files of the other peers have none. (The answers include them all the same.)
    fn sizes(&self) -> Result<Sizes> {
        let statistics = self.store.statistics();
        Ok(Sizes {
            file_bytes: statistics.file_bytes - statistics.id_bytes,
            resident_bytes: Some(statistics.resident_bytes + self.store.filter_bytes()),
        })
    }
}

struct Asking<'a> {
    searcher: fpstore::Searcher<'a>,
    k: u32,
}

impl Searcher for Asking<'_> {
    fn query(&mut self, query: u64, found: &mut Vec<u64>) -> Result<()> {
        found.extend(self.searcher.query(query, self.k)?.iter().map(|record| record.fingerprint));
        Ok(())
    }
}
