//! Making and changing ring files.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use fpring::{Ring, Settings, file};
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::number::{count, count_of};
use fpstore_tools::report;
use serde::Serialize;

use crate::args::{Add, Create};
use crate::node_argument::{NodeArgument, nodes};

pub(crate) fn create(common: Common, given: &Create) -> anyhow::Result<()> {
    let settings = Settings { hash: given.hash, virtual_nodes: given.virtual_nodes, replicas: given.replicas };
    let ring = Ring::new(settings, nodes(&given.nodes.nodes, &given.nodes.paths)?)?;
    file::create(&given.nodes.file, &ring)?;
    say(common, &given.nodes.file, &ring)
}

pub(crate) fn add(common: Common, given: &Add) -> anyhow::Result<()> {
    let ring = file::read(&given.file)?;
    let new = nodes(&given.nodes, &given.paths)?;
    if let Some(known) = new.iter().find(|node| ring.node(node.name()).is_some()) {
        let name = known.name();
        bail!("the ring has node {name} already; `fpring weight {} {name}=WEIGHT` changes it", given.file.display());
    }
    let ring = Ring::new(ring.settings(), ring.nodes().iter().cloned().chain(new).collect())?;
    replace(common, &given.file, &ring)
}

pub(crate) fn remove(common: Common, file: &Path, names: &[String]) -> anyhow::Result<()> {
    let mut ring = file::read(file)?;
    for name in names {
        ring = ring.without_node(name)?;
    }
    replace(common, file, &ring)
}

pub(crate) fn weight(common: Common, file: &Path, given: &[NodeArgument]) -> anyhow::Result<()> {
    let mut ring = file::read(file)?;
    for NodeArgument { node, has_weight } in given {
        if !has_weight {
            bail!("{}: which weight? use {0}=WEIGHT", node.name());
        }
        ring = ring.with_weight(node.name(), node.weight())?;
    }
    replace(common, file, &ring)
}

fn replace(common: Common, file: &Path, ring: &Ring) -> anyhow::Result<()> {
    file::replace(file, ring)?;
    say(common, file, ring)
}

/// The present content of the file.
#[derive(Serialize)]
struct Summary<'a> {
    schema_version: u32,
    file: String,
    hash: &'a str,
    #[serde(rename = "virtual")]
    virtual_nodes: u32,
    replicas: u32,
    nodes: Vec<NodeSummary<'a>>,
}

#[derive(Serialize)]
struct NodeSummary<'a> {
    name: &'a str,
    weight: f64,
    virtual_nodes: u64,
}

fn say(common: Common, file: &Path, ring: &Ring) -> anyhow::Result<()> {
    let Settings { hash, virtual_nodes, replicas } = ring.settings();
    let mut out = io::stdout().lock();
    if common.json {
        let nodes = ring.nodes().iter().map(|node| NodeSummary {
            name: node.name(),
            weight: node.weight(),
            virtual_nodes: node.points(virtual_nodes),
        });
        let summary = Summary {
            schema_version: SCHEMA_VERSION,
            file: file.display().to_string(),
            hash: hash.name(),
            virtual_nodes,
            replicas,
            nodes: nodes.collect(),
        };
        report::json(&mut out, &summary)?;
    } else if !common.quiet {
        writeln!(
            out,
            "{}: {}, {}, {}, {hash}",
            file.display(),
            count_of(ring.nodes().len() as u64, "node"),
            count_of(ring.points() as u64, "virtual node"),
            if replicas == 1 { "1 replica".to_owned() } else { format!("{} replicas", count(replicas.into())) },
        )?;
    }
    Ok(out.flush()?)
}
