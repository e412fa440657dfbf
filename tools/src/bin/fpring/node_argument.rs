//! Nodes on the command line: `NODE`, `NODE=WEIGHT`, `NODE=DIR`.

use std::str::FromStr;

use fpring::{Node, Result};

/// A node, with a weight if one was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeArgument {
    pub(crate) node: Node,
    pub(crate) has_weight: bool,
}

impl FromStr for NodeArgument {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, weight) = text.split_once('=').map_or((text, None), |(name, weight)| (name, Some(weight)));
        let named = Node::new(name).map_err(|error| error.to_string())?;
        let Some(weight) = weight else { return Ok(Self { node: named, has_weight: false }) };
        let number = weight.parse().map_err(|_| format!("'{weight}' is no weight; use a number such as 2 or 0.5"))?;
        let node = named.with_weight(number).map_err(|error| error.to_string())?;
        Ok(Self { node, has_weight: true })
    }
}

/// The directory of a node's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathArgument {
    name: String,
    path: String,
}

impl FromStr for PathArgument {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok(Self { name: name.to_owned(), path: path.to_owned() })
            }
            _ => Err("expected NODE=DIR".to_owned()),
        }
    }
}

/// Returns the nodes with their directories.
pub(crate) fn nodes(nodes: &[NodeArgument], paths: &[PathArgument]) -> anyhow::Result<Vec<Node>> {
    for (path, number) in paths.iter().zip(1..) {
        if !nodes.iter().any(|given| given.node.name() == path.name) {
            anyhow::bail!("--path {}={}: the command names no node {0}", path.name, path.path);
        }
        if paths.iter().skip(number).any(|other| other.name == path.name) {
            anyhow::bail!("--path {}: there are two", path.name);
        }
    }
    let placed = |given: &NodeArgument| {
        let path = paths.iter().find(|path| path.name == given.node.name());
        given.node.clone().with_path(path.map(|path| path.path.as_str()))
    };
    Ok(nodes.iter().map(placed).collect::<Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_after_the_sign() {
        let parse = |text: &str| text.parse::<NodeArgument>();
        let a = parse("a=0.5").unwrap();
        assert_eq!((a.node.name(), a.node.weight(), a.has_weight), ("a", 0.5, true));
        assert!(!parse("a").unwrap().has_weight);
        for wrong in ["", "=1", "a=", "a=x", "a=0", "a=-1", "a=inf", "a=nan", "a=1=2", "a b", "a#1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!("a=b=c".parse::<PathArgument>().is_ok_and(|path| path.path == "b=c"));
        assert!("a".parse::<PathArgument>().is_err() && "=a".parse::<PathArgument>().is_err());
    }
}
