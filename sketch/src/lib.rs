//! Makes fingerprints and signatures of documents, for `fpstore` or for any other index.
//!
//! A [`Document`] is a text or a list of ready-made tokens. [`Normalise`] prepares the text, [`Features`] splits it
//! into features, [`Weights`] says how much each feature counts, and one of these makes a sketch of them:
//!
//! * [`Simhash`]: a fingerprint of up to 128 bits. Documents that share many features differ in few bits (Charikar,
//!   STOC 2002).
//! * [`MinHash`]: a signature of many integers. The share of equal integers estimates the Jaccard similarity of the
//!   feature sets (Broder, 1997). [`Lucene`] is the token filter of that name.
//! * [`bands`]: keys of a signature; similar documents share at least one.
//! * [`sentences`]: keys of the longest sentences.
//!
//! A preset named after another system gives exactly the values of that system; tests compare them with values that the
//! system produced (`tests/vectors`). The presets of this crate are called `native`. They are versioned and change only
//! with their version. [`Simhash::identity`] and [`MinHash::identity`] name in one word everything that determines a
//! sketch: preset, version and all parameters.
//!
//! All documents without features have the same sketch. [`Simhash::try_fingerprint`] and [`MinHash::try_signature`]
//! reject documents with fewer features than the caller asks for.
//!
//! [`compare`] measures how similar two fingerprints or two short texts are.
//!
//! ```
//! use fpsketch::{Features, MinHash, MinHashPreset, Simhash, SimhashPreset, compare, estimate};
//!
//! # fn main() -> fpsketch::Result<()> {
//! let (a, b) = ("A crawler has seen this page before.", "A crawler has seen that page before!");
//!
//! let simhash = Simhash::new(SimhashPreset::Native);
//! let distance = compare::distance(simhash.fingerprint(a.into()), simhash.fingerprint(b.into()));
//! assert!(distance < 32, "unrelated texts differ in some 32 of 64 bits");
//!
//! let minhash = MinHash::new(MinHashPreset::Native, 128, 1)?.prepared(|now| now.with_features(Features::Words(1)));
//! let jaccard = estimate::matching(&minhash.signature(a.into()), &minhash.signature(b.into()));
//! assert!((jaccard.unwrap_or(0.0) - 5.0 / 9.0).abs() < 0.2);
//! # Ok(())
//! # }
//! ```

pub mod bands;
pub mod compare;
mod document;
mod enough;
mod error;
mod features;
mod frequencies;
mod hash;
mod minhash;
mod normalise;
mod preparation;
mod sentences;
mod simhash;
mod weights;

pub use document::Document;
pub use enough::TooFew;
pub use error::{Error, Result};
pub use features::{Features, Space, Splitter};
pub use frequencies::DocumentFrequencies;
pub use minhash::{EMPTY, Lucene, LuceneSketch, LuceneTerm, MinHash, MinHashPreset, estimate, packed};
pub use normalise::{Normalise, Step};
pub use preparation::Preparation;
pub use sentences::{MOST_SENTENCES, sentences};
pub use simhash::{Simhash, SimhashPreset};
pub use weights::{Table, Weights};
