//! `fphash minhash`: a signature of each document.

use anyhow::bail;
use fpstore_tools::common::Common;
use fpstore_tools::documents::Fault;
use fpstore_tools::exit::Outcome;
use fpstore_tools::sketches::{Kind, Sketch};
use fpstore_tools::sketching::LUCENE;

use crate::args::MinhashArgs;
use crate::lines::{self, Job};

pub(crate) fn run(args: &MinhashArgs, common: Common) -> anyhow::Result<Outcome> {
    let job = Job::new(
        &args.documents.inputs,
        &args.documents.reading,
        &args.leave,
        &args.output,
        args.options.made(),
        common,
    );
    let given = args.documents.reading.options.tokens_column.is_some();
    let (bits, least) = (args.bits, args.leave.least());
    if args.options.preset == LUCENE {
        if bits.is_some() {
            bail!("--bits is for signatures of places; lucene makes terms");
        }
        let lucene = args.options.lucene(given)?;
        let header = lines::header(None, lucene.identity());
        job.write(Kind::Terms, &header, |document, _| {
            let sketch = lucene.try_sketch(document.content.document(), least);
            let sketch = sketch.map_err(|few| Fault::features(few, least, document.content.bytes()))?;
            Ok(Sketch::Terms(sketch.terms().collect()))
        })?;
        return Ok(Outcome::Done);
    }
    let minhash = args.options.minhash(given)?;
    let all = minhash.place_bits();
    let bits = bits.unwrap_or(all);
    if bits > all {
        bail!("--bits {bits}: a place has {all} bits");
    }
    let hasher = if bits == all { minhash.identity() } else { format!("{},bits={bits}", minhash.identity()) };
    let width = minhash.places() * bits as usize;
    job.write(Kind::Bits(width), &lines::header(Some(u32::try_from(width)?), hasher), |document, _| {
        let signature = minhash.try_signature(document.content.document(), least);
        let signature = signature.map_err(|few| Fault::features(few, least, document.content.bytes()))?;
        Ok(Sketch::Signature(signature, bits))
    })?;
    Ok(Outcome::Done)
}
