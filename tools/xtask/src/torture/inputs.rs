//! Makes files of fingerprints in families, the same in every run with the same seed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Uniformly distributed numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to below 1.
    #[allow(clippy::cast_precision_loss, reason = "31 bits")]
    pub(super) fn fraction(&mut self) -> f64 {
        (self.next() >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// Format of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Hexadecimal digits and a numeric id.
    Numbers,
    /// Hexadecimal digits and a text id.
    Texts,
    /// Raw integers.
    Raw,
}

/// Writes records `from..to` of a sequence; each has `words` words.
pub(super) fn write(path: &Path, kind: Kind, words: usize, from: u64, to: u64) -> Result<()> {
    let fail = || format!("cannot write {}", path.display());
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path).with_context(fail)?);
    for n in from..to {
        // Families have four records, which differ in two bits at most.
        let (mut parent, mut own) = (Random::new(n / 4), Random::new(n));
        for word in 0..words {
            let flips = if word == 0 { (1 << (own.next() % 64)) | (1 << (own.next() % 64)) } else { 0 };
            let value = parent.next() ^ flips;
            match kind {
                Kind::Raw => out.write_all(&value.to_le_bytes()),
                _ => write!(out, "{value:016x}"),
            }
            .with_context(fail)?;
        }
        match kind {
            Kind::Numbers => writeln!(out, "\t{}", n * 7 + 1),
            Kind::Texts => writeln!(out, "\thttps://example.org/{}/{n}", n % 1000),
            Kind::Raw => Ok(()),
        }
        .with_context(fail)?;
    }
    out.flush().with_context(fail)
}
