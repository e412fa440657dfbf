//! Fingerprints and signatures of documents, to be stored and searched by `fpstore` or by anything else.
//!
//! A [`Document`] is a text, or a list of ready-made tokens. [`Normalise`] prepares the text, [`Features`] cuts it into
//! features, [`Weights`] says what each counts, and one of these makes a sketch of them:
//!
//! * [`Simhash`]: a fingerprint of up to 128 bits; documents with many features in common differ in few of them
//!   (Charikar, STOC 2002).
//! * [`MinHash`]: a signature of many integers; the share of those that are equal estimates the Jaccard similarity of the
//!   sets of features (Broder, 1997). [`Lucene`] is the token filter of that name.
//! * [`bands`]: keys of a signature, of which similar documents have one in common.
//! * [`sentences`]: keys of the longest sentences.
//!
//! What is named after another system gives exactly that system's values; tests compare them with values which that
//! system made (`tests/vectors`). What is ours is called `native`, is versioned, and changes only with its version.
//! [`Simhash::identity`] and [`MinHash::identity`] say in one word what made a sketch: preset, version, all parameters.
//!
//! A document without features has the sketch of every other such document: [`Simhash::try_fingerprint`] and
//! [`MinHash::try_signature`] refuse documents with fewer features than they are told.
//!
//! [`compare`] has what tells how similar two fingerprints or two short texts are.
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
