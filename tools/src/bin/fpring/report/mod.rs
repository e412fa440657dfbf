//! `fpring report`: how well the nodes of a file would share keys, by rings and by other placements.

mod measure;
mod object;
mod people;
mod picture;
mod placement;
mod views;

use std::io::{self, BufWriter, Write};

use anyhow::Context;
use fpring::file;
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::progress::Progress;
use fpstore_tools::{notice, report, svg};

use crate::args::Report as Given;
use measure::{Question, measure};
use object::Report;

pub(crate) fn run(common: Common, given: &Given) -> anyhow::Result<()> {
    let ring = file::read(&given.file)?;
    let picture = given.picture.as_deref().map(svg::open).transpose()?;
    let settings = ring.settings();
    let question =
        Question { hash: settings.hash, nodes: ring.nodes(), keys: given.keys, views: given.views, seed: given.seed };
    let progress = if common.shows_progress() { Progress::spinner("placing keys") } else { Progress::hidden() };
    let mut rows = Vec::new();
    for placement in placement::all() {
        match measure(&question, placement) {
            Ok(row) => rows.push(row),
            // So many nodes cannot have so many virtual nodes.
            Err(error) => notice::warn(format_args!("left out: {placement:?}: {error}")),
        }
    }
    progress.finish();
    let report = Report {
        schema_version: SCHEMA_VERSION,
        file: given.file.display().to_string(),
        hash: settings.hash.name(),
        virtual_nodes: settings.virtual_nodes,
        replicas: settings.replicas,
        nodes: ring.nodes().len(),
        keys: given.keys,
        views: given.views,
        seed: given.seed,
        rows,
    };
    if let Some(mut file) = picture {
        file.write_all(picture::draw(&report).as_bytes()).with_context(|| file.name())?;
        file.finish()?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if common.json {
        report::json(&mut out, &report)?
    } else {
        people::write(&report, common.quiet, &mut out)?
    }
    Ok(out.flush()?)
}
