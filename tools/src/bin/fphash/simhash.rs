//! `fphash simhash`: a fingerprint of each document.

use std::io::Write;

use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::sketching;

use crate::args::SimhashArgs;
use crate::lines;

/// Bytes of a line, about.
const LINE: u64 = 256;

pub(crate) fn run(args: &SimhashArgs, common: Common) -> anyhow::Result<Outcome> {
    let simhash = args.options.simhash(args.width, args.documents.options.tokens_column.is_some())?;
    let width = simhash.width() as usize;
    let digits = width.div_ceil(4);
    let header = lines::header(Some(width), &simhash.identity());
    let documents = &args.documents;
    let header = (!common.json).then_some(header.as_str());
    lines::write(
        &documents.inputs,
        &documents.options,
        documents.memory,
        LINE,
        common,
        header,
        |document, place, line| {
            let fingerprint = sketching::fingerprint(&simhash, document.content.document(), place);
            // Writing to memory does not fail.
            let _ = if common.json {
                lines::begin_json(document, line);
                let bits = if width.is_multiple_of(4) {
                    String::new()
                } else {
                    format!(",\"bits\":\"{fingerprint:0width$b}\"")
                };
                writeln!(line, ",\"fingerprint\":\"{fingerprint:0digits$x}\"{bits}}}")
            } else {
                let _ = write!(line, "{fingerprint:0digits$x}");
                document.id.push_column(line);
                writeln!(line)
            };
        },
    )?;
    Ok(Outcome::Done)
}
