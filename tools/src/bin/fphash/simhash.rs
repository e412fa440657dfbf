//! `fphash simhash`: a fingerprint of each document.

use fpstore_tools::common::Common;
use fpstore_tools::documents::Fault;
use fpstore_tools::exit::Outcome;
use fpstore_tools::sketches::{Kind, Sketch};
use fpstore_tools::sketching;

use crate::args::SimhashArgs;
use crate::lines::{self, Job};

/// Approximate bytes of a line.
const LINE: u64 = 256;

pub(crate) fn run(args: &SimhashArgs, common: Common) -> anyhow::Result<Outcome> {
    let simhash = args.options.simhash(args.width, args.documents.reading.options.tokens_column.is_some())?;
    let width = simhash.width();
    let header = lines::header(Some(width), simhash.identity());
    let least = args.leave.least();
    let job = Job::new(&args.documents.inputs, &args.documents.reading, &args.leave, &args.output, LINE, common);
    job.write(Kind::Bits(width as usize), &header, |document, place| {
        let fingerprint = sketching::fingerprint(&simhash, document.content.document(), place, least);
        let fingerprint = fingerprint.map_err(|few| Fault::features(few, least, document.content.bytes()))?;
        Ok(Sketch::Fingerprint(fingerprint, width))
    })?;
    Ok(Outcome::Done)
}
