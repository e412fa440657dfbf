//! `fphash minhash`: a signature of each document.

use std::io::Write;

use anyhow::{Context, bail};
use fpsketch::{Lucene, MinHash, packed};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;

use crate::args::{MinhashArgs, SignatureOptions};
use crate::lines;

/// Name of the preset that makes terms instead of signatures.
pub(crate) const LUCENE: &str = "lucene";

pub(crate) fn run(args: &MinhashArgs, common: Common) -> anyhow::Result<Outcome> {
    let asked = args.hash_count.is_some() || args.bucket_count.is_some() || args.hash_set_size.is_some();
    if args.options.preset == LUCENE {
        terms(args, common)?;
    } else if asked || args.with_rotation.is_some() {
        bail!("--hash-count, --bucket-count, --hash-set-size and --with-rotation go with --preset lucene");
    } else {
        signatures(args, common)?;
    }
    Ok(Outcome::Done)
}

impl SignatureOptions {
    /// What they ask for.
    pub(crate) fn minhash(&self) -> anyhow::Result<MinHash> {
        if self.preset == LUCENE {
            bail!("lucene makes terms, not signatures of places; use native, datasketch or datasketch-legacy here");
        }
        let preset = self.preset.parse().context("--preset")?;
        let mut minhash = MinHash::new(preset, self.num_perm, self.seed)?;
        if let Some(features) = self.features.features {
            minhash = minhash.with_features(features);
        }
        if let Some(normalise) = &self.features.normalise {
            minhash = minhash.with_normalise(normalise.clone());
        }
        Ok(minhash)
    }
}

fn signatures(args: &MinhashArgs, common: Common) -> anyhow::Result<()> {
    let minhash = args.options.minhash()?;
    let bits = args.bits;
    let mask = u32::MAX >> (32 - bits);
    let hasher = match bits {
        32 => minhash.identity(),
        bits => format!("{},bits={bits}", minhash.identity()),
    };
    let header = lines::header(Some(minhash.places() * bits as usize), &hasher);
    let header = (!common.json).then_some(header.as_str());
    let documents = &args.documents;
    lines::write(&documents.inputs, &documents.options, documents.memory, common, header, |document, line| {
        let signature = minhash.signature(document.content.document());
        // Writing to memory does not fail.
        let _ = if common.json {
            lines::begin_json(document, line);
            let numbers: Vec<String> = signature.iter().map(|place| (place & mask).to_string()).collect();
            writeln!(line, ",\"signature\":[{}]}}", numbers.join(","))
        } else {
            packed(&signature, bits).iter().for_each(|byte| {
                let _ = write!(line, "{byte:02x}");
            });
            document.id.push_column(line);
            writeln!(line)
        };
    })
}

fn terms(args: &MinhashArgs, common: Common) -> anyhow::Result<()> {
    let lucene = args.lucene()?;
    let header = lines::header(None, &lucene.identity());
    let header = (!common.json).then_some(header.as_str());
    let documents = &args.documents;
    lines::write(&documents.inputs, &documents.options, documents.memory, common, header, |document, line| {
        let sketch = lucene.sketch(document.content.document());
        let terms = sketch.terms().map(|term| term.iter().map(|unit| format!("{unit:04x}")).collect::<String>());
        // Writing to memory does not fail.
        let _ = if common.json {
            lines::begin_json(document, line);
            let terms: Vec<String> = terms.map(|term| format!("\"{term}\"")).collect();
            writeln!(line, ",\"terms_hex\":[{}]}}", terms.join(","))
        } else {
            line.extend(terms.flat_map(String::into_bytes));
            document.id.push_column(line);
            writeln!(line)
        };
    })
}

impl MinhashArgs {
    fn lucene(&self) -> anyhow::Result<Lucene> {
        let buckets = self.bucket_count.unwrap_or(512);
        // As Lucene's own factory has it.
        let rotation = self.with_rotation.unwrap_or(buckets > 1);
        if self.bits != 32 {
            bail!("--bits is for signatures of places; lucene makes terms");
        }
        let mut lucene = Lucene::new(self.hash_count.unwrap_or(1), buckets, self.hash_set_size.unwrap_or(1), rotation)?;
        if let Some(features) = self.options.features.features {
            lucene = lucene.with_features(features);
        }
        if let Some(normalise) = &self.options.features.normalise {
            lucene = lucene.with_normalise(normalise.clone());
        }
        Ok(lucene)
    }
}
