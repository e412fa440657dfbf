//! `fphash weights`: weights of features by the number of documents that contain them.

use std::io::{self, BufWriter, Write};

use anyhow::bail;
use fpsketch::DocumentFrequencies;
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::documents::{Document, Inputs, Made, Rejects};
use fpstore_tools::exit::Outcome;
use fpstore_tools::output::check_apart;
use fpstore_tools::report;
use fpstore_tools::sketching::{PresetName, SimhashOptions};
use serde::Serialize;

use crate::args::{Documents, Reading, WeightsArgs};
use crate::lines;

#[derive(Serialize)]
struct Weight<'a> {
    schema_version: u32,
    /// `None` for the default weight.
    feature: Option<&'a str>,
    weight: f64,
}

pub(crate) fn run(args: &WeightsArgs, common: Common) -> anyhow::Result<Outcome> {
    let Documents { inputs, reading: Reading { options, memory } } = &args.documents;
    let features = SimhashOptions {
        preset: args.preset.map(PresetName::Simhash),
        features: args.features.clone(),
        ..SimhashOptions::default()
    };
    let simhash = features.simhash(None, options.tokens_column.is_some())?;
    check_apart(&[("--rejects", args.rejects.rejects.as_deref())], inputs)?;
    let inputs = Inputs::new(inputs, options)?;
    let mut frequencies = DocumentFrequencies::default();
    // A third each for the counts, for the table that is computed from them, and for the documents.
    let memory = memory.unwrap_or(lines::MEMORY) / 3;
    let most = usize::try_from(memory).unwrap_or(usize::MAX);
    let mut rejects = Rejects::open(&args.rejects)?;
    let count = |documents: Vec<Made<Result<Document, _>>>| {
        for made in documents {
            let Some((_, document)) = rejects.keep(made)? else { continue };
            frequencies.add(document.content.document(), &simhash)?;
            if frequencies.memory() > most {
                bail!(
                    "{} of these documents are too many for --memory; give more, or take shorter features or a sample \
                     of the documents",
                    simhash.preparation().features()
                );
            }
        }
        Ok(())
    };
    let documents = lines::each_or_fault(&inputs, Some(memory), 0, common, |document, _| Ok(Ok(document)), count)?;
    rejects.finish(documents)?.warn();
    let table = frequencies.table(args.min_documents);
    drop(frequencies);
    let mut out = BufWriter::new(io::stdout().lock());
    if common.json {
        let object = |feature, weight| Weight { schema_version: SCHEMA_VERSION, feature, weight };
        report::json(&mut out, &object(None, table.default_weight()))?;
        for (feature, weight) in table.sorted() {
            report::json(&mut out, &object(Some(feature), weight))?;
        }
    } else {
        out.write_all(table.text().as_bytes())?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}
