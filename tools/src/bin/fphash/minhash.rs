//! `fphash minhash`: a signature of each document.

use std::io::Write;

use anyhow::bail;
use fpsketch::packed;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{Document, Location};
use fpstore_tools::exit::Outcome;

use crate::args::{Documents, MinhashArgs};
use crate::lines;
use crate::signatures::LUCENE;

pub(crate) fn run(args: &MinhashArgs, common: Common) -> anyhow::Result<Outcome> {
    if args.options.preset == LUCENE {
        if args.bits != u32::BITS {
            bail!("--bits is for signatures of places; lucene makes terms");
        }
        terms(args, common)?;
    } else {
        signatures(args, common)?;
    }
    Ok(Outcome::Done)
}

/// Writes a line for each document.
fn write(
    args: &MinhashArgs,
    common: Common,
    header: &str,
    make: impl Fn(&Document, &mut Vec<u8>) + Sync,
) -> anyhow::Result<()> {
    let Documents { inputs, options, memory } = &args.documents;
    let header = (!common.json).then_some(header);
    let make = |document: &Document, _: &Location, line: &mut Vec<u8>| make(document, line);
    lines::write(inputs, options, *memory, args.options.made(), common, header, make)
}

fn signatures(args: &MinhashArgs, common: Common) -> anyhow::Result<()> {
    let minhash = args.options.minhash(args.documents.options.tokens_column.is_some())?;
    let bits = args.bits;
    let mask = u32::MAX >> (32 - bits);
    let hasher = match bits {
        32 => minhash.identity(),
        bits => format!("{},bits={bits}", minhash.identity()),
    };
    let header = lines::header(Some(minhash.places() * bits as usize), &hasher);
    write(args, common, &header, |document, line| {
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
    let lucene = args.options.lucene(args.documents.options.tokens_column.is_some())?;
    let header = lines::header(None, &lucene.identity());
    write(args, common, &header, |document, line| {
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
