//! Fingerprints, signatures and keys of texts, by the options of `fphash`.

mod compared;
mod looked;
mod made;
mod options;
mod texts;

pub(crate) use compared::compare;
pub(crate) use looked::health;
pub(crate) use made::{bands, lucene_min_hash, minhash, simhash};
