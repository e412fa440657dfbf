//! `fphash presets`: all presets.

use std::io;

use fpsketch::{Lucene, MinHash, MinHashPreset, Simhash, SimhashPreset};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::exit::Outcome;
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

#[derive(Serialize)]
struct Preset {
    schema_version: u32,
    command: &'static str,
    preset: &'static str,
    about: &'static str,
    /// The hasher that a store records for the default parameters.
    hasher: String,
}

pub(crate) fn run(json: bool) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    let presets = presets()?;
    if json {
        for preset in &presets {
            report::json(&mut out, preset)?;
        }
        return Ok(Outcome::Done);
    }
    let mut columns = Columns::new(&["command", "preset", "what it is", "hasher"]);
    for Preset { command, preset, about, hasher, .. } in presets {
        columns.row([command.to_owned(), preset.to_owned(), about.to_owned(), hasher]);
    }
    columns.write(&mut out)?;
    Ok(Outcome::Done)
}

fn presets() -> anyhow::Result<Vec<Preset>> {
    let preset =
        |command, preset, about, hasher| Preset { schema_version: SCHEMA_VERSION, command, preset, about, hasher };
    let mut presets: Vec<Preset> = SimhashPreset::ALL
        .into_iter()
        .map(|simhash| preset("simhash", simhash.name(), simhash.about(), Simhash::new(simhash).identity()))
        .collect();
    for minhash in MinHashPreset::ALL {
        presets.push(preset(
            "minhash",
            minhash.name(),
            minhash.about(),
            MinHash::new(minhash, minhash.usual_bands().map_or(128, |(bands, rows)| bands * rows), 1)?.identity(),
        ));
    }
    let about = "the token filter min_hash of Lucene and Elasticsearch";
    presets.push(preset("minhash", "lucene", about, Lucene::default().identity()));
    Ok(presets)
}
