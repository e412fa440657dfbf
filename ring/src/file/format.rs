//! A ring to JSON and back.

use crate::error::{Error, ErrorKind, Result};
use crate::node::Node;
use crate::ring::{Ring, Settings};
use serde::{Deserialize, Serialize};

/// Value of the field `format`.
const FORMAT: &str = "fpstore ring";
/// Value of the field `version`.
const VERSION: u32 = 1;

/// The fields that every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RingFields {
    format: String,
    version: u32,
    hash: String,
    #[serde(rename = "virtual")]
    virtual_nodes: u32,
    replicas: u32,
    nodes: Vec<NodeFields>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct NodeFields {
    name: String,
    weight: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, deserialize_with = "text")]
    path: Option<String>,
}

/// Reads a field that is a text or missing; null is neither.
fn text<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Option<String>, D::Error> {
    String::deserialize(from).map(Some)
}

/// Parses the bytes of a ring file.
///
/// # Errors
/// `Damaged` if they are no ring file or break a rule; `Unsupported` if the version or the hash is unknown.
pub fn parse(bytes: &[u8]) -> Result<Ring> {
    let damaged = |message: String| Error::new(ErrorKind::Damaged, message);
    let head: Head =
        serde_json::from_slice(bytes).map_err(|error| damaged(format!("this is no ring file: {error}")))?;
    if head.format != FORMAT {
        let shown: String = head.format.chars().take(40).collect();
        return Err(damaged(format!("this is no ring file: its format is '{}'", shown.escape_debug())));
    }
    if head.version != VERSION {
        let message = format!("the ring file has version {}; this program reads version {VERSION}", head.version);
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let fields: RingFields =
        serde_json::from_slice(bytes).map_err(|error| damaged(format!("the ring file is damaged: {error}")))?;
    let settings =
        Settings { hash: fields.hash.parse()?, virtual_nodes: fields.virtual_nodes, replicas: fields.replicas };
    let node = |node: NodeFields| Node::new(node.name)?.with_weight(node.weight)?.with_path(node.path.as_deref());
    let nodes: Result<Vec<Node>> = fields.nodes.into_iter().map(node).collect();
    nodes.and_then(|nodes| Ring::new(settings, nodes)).map_err(|error| damaged(error.message().to_owned()))
}

/// Prints a ring as the text of a ring file.
#[must_use]
pub fn print(ring: &Ring) -> String {
    let Settings { hash, virtual_nodes, replicas } = ring.settings();
    let node = |node: &Node| NodeFields {
        name: node.name().to_owned(),
        weight: node.weight(),
        path: node.path().map(str::to_owned),
    };
    let fields = RingFields {
        format: FORMAT.to_owned(),
        version: VERSION,
        hash: hash.name().to_owned(),
        virtual_nodes,
        replicas,
        nodes: ring.nodes().iter().map(node).collect(),
    };
    // Writing these types to memory does not fail.
    let mut text = serde_json::to_string_pretty(&fields).unwrap_or_default();
    text.push('\n');
    text
}
