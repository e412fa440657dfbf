//! `fphash verify`: compares the texts of removed documents with those of their keepers, and splits the evidence into
//! confirmed and doubtful rows.
//!
//! The evidence is read once and taken in parts; for each part all documents are read, and the texts that it needs go
//! to a temporary file. Rows are written in the order of the evidence, for any number of threads.

pub(crate) mod args;
mod part;
mod sinks;

use anyhow::{Context, bail};
use fpsketch::{Normalise, Simhash, SimhashPreset};
use fpstore::IdKind;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{Comparison, DocumentOptions, Inputs};
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{EvidenceReader, Source};
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::check_apart;
use fpstore_tools::progress::Progress;

use args::VerifyArgs;
use part::Part;
use sinks::Sinks;

use crate::wanted::{Budget, Collect};

pub(crate) fn run(args: &VerifyArgs, common: Common) -> anyhow::Result<Outcome> {
    let directory = args.tmp_dir.as_deref();
    if let Some(directory) = directory {
        // A typing error is reported at once, not after an hour of reading.
        std::fs::read_dir(directory).with_context(|| format!("--tmp-dir {}", directory.display()))?;
    }
    let evidence = Source::new(args.evidence.as_os_str());
    if evidence == Source::Standard && args.documents.iter().any(|input| input == "-") {
        bail!("standard input can be read only once; --evidence and DOCUMENTS both name it");
    }
    let outputs = [
        ("--output", args.output.as_deref()),
        ("--confirmed", args.confirmed.as_deref()),
        ("--doubtful", args.doubtful.as_deref()),
        ("--rejects", args.rejects.rejects.as_deref()),
    ];
    let read: Vec<_> = args.documents.iter().map(AsRef::as_ref).chain([args.evidence.as_os_str()]).collect();
    check_apart(&outputs, &read)?;
    let options = DocumentOptions { temp_dir: args.tmp_dir.clone(), ..args.options.clone() };
    if options.tokens_column.is_some() {
        bail!("--tokens-column: texts are compared; name the column of the text with --text-column");
    }
    let inputs = Inputs::new(&args.documents, &options)?;
    let simhash = Simhash::new(SimhashPreset::Native);
    let preparation = args.features.change(simhash.preparation().clone(), false);
    let comparison = Comparison::new(&preparation).with_texts(true, args.substring);
    // The comparison normalises the texts.
    let raw = Normalise::default();
    let collect = Collect { inputs: &inputs, normalise: &raw, directory, rejects: &args.rejects };
    let mut sinks = Sinks::new(args, common.json)?;
    let budget = Budget::new(args.memory);
    let mut part = Part::default();
    let mut parts = 0;
    let reader = EvidenceReader::open(&evidence, IdKind::Text, directory, &Progress::hidden())?.of_keys(args.keys);
    let mut finish = |part: Part, sinks: &mut Sinks<'_>| {
        parts += 1;
        if parts == 2 && args.documents.iter().any(|input| input == "-") {
            bail!("the ids of the evidence need more than half of --memory, and standard input is read only once");
        }
        part.finish(&collect, &comparison, budget, common, sinks)
    };
    reader.each::<u64>(|row| {
        if part.add(&row, budget)? {
            return Ok(());
        }
        finish(std::mem::take(&mut part), &mut sinks)?;
        if part.add(&row, budget)? { Ok(()) } else { bail!("--memory: the ids of one row take more") }
    })?;
    if !part.is_empty() || !sinks.is_open() {
        finish(part, &mut sinks)?;
    }
    let (confirmed, doubtful) = sinks.finish()?;
    notice::say(format_args!(
        "{}: {} confirmed, {} doubtful",
        count_of(confirmed + doubtful, "removed document"),
        count(confirmed),
        count(doubtful)
    ));
    Ok(Outcome::Done)
}
