//! `fphash weights`: weights of features by the number of documents that they occur in.

use std::io::{self, Write};

use anyhow::bail;
use fpsketch::{DocumentFrequencies, Features, Normalise, Space, Splitter, Step};
use fpstore_tools::common::Common;
use fpstore_tools::documents::Inputs;
use fpstore_tools::exit::Outcome;

use crate::args::{Documents, WeightsArgs};
use crate::lines;

pub(crate) fn run(args: &WeightsArgs, common: Common) -> anyhow::Result<Outcome> {
    let features = args.features.features.unwrap_or(Features::Unicode(2));
    let splitter = Splitter { features, space: Space::Unicode };
    let normalise = args.features.normalise.clone().unwrap_or_else(|| Normalise::new(&[Step::Lower]));
    let mut frequencies = DocumentFrequencies::default();
    let Documents { inputs, options, memory } = &args.documents;
    // Half of the memory is for the features.
    let inputs = Inputs::new(inputs, options)?;
    let memory = memory.unwrap_or(lines::MEMORY) / 2;
    let most = usize::try_from(memory).unwrap_or(usize::MAX);
    lines::each(&inputs, Some(memory), common, Ok, |documents| {
        for document in documents {
            frequencies.add(document.content.document(), &splitter, &normalise);
            if frequencies.memory() > most {
                bail!(
                    "{features} of these documents are too many for --memory; give more, or take shorter features \
                     or a sample of the documents"
                );
            }
        }
        Ok(())
    })?;
    io::stdout().lock().write_all(frequencies.table(args.min_documents).text().as_bytes())?;
    Ok(Outcome::Done)
}
