//! A node: its name, its weight, the directory of its store.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Longest name in bytes.
const MAX_NAME: usize = 255;
/// Longest path in bytes.
const MAX_PATH: usize = 4096;
/// Greatest weight.
const MAX_WEIGHT: f64 = 1e6;
/// Characters with a meaning in arguments, output and paths: `NODE#1`, `NODE=WEIGHT`, `NODE,NODE`, folders.
const RESERVED: [char; 5] = ['#', '=', ',', '/', '\\'];

/// A node of a ring.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    name: String,
    weight: f64,
    path: Option<String>,
}

impl Node {
    /// A node of weight 1.
    ///
    /// A name has 1 to 255 bytes, does not begin with `-`, and has no white space, no control characters and none of
    /// `#`, `=`, `,`, `/`, `\`. It is neither `.` nor `..`, because it is the default directory of the node.
    ///
    /// # Errors
    /// `InvalidInput` if it is no such name.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let shown = name.escape_debug();
        let is_bad = |c: char| RESERVED.contains(&c) || c.is_whitespace() || c.is_control();
        if name.is_empty() {
            return Err(Error::invalid("a node has an empty name"));
        }
        if name.len() > MAX_NAME {
            return Err(Error::invalid(format!("a name has {} bytes, {MAX_NAME} is the most", name.len())));
        }
        if let Some(bad) = name.chars().find(|c| is_bad(*c)) {
            let bad = bad.escape_debug();
            return Err(Error::invalid(format!(
                "the name '{shown}' has the character '{bad}', which no name may have"
            )));
        }
        if name.starts_with('-') || name == "." || name == ".." {
            return Err(Error::invalid(format!("'{shown}' cannot be the name of a node")));
        }
        Ok(Self { name, weight: 1.0, path: None })
    }

    /// Sets the weight, above 0 and up to 1,000,000. The node has a share of the keys in proportion to it.
    ///
    /// # Errors
    /// `InvalidInput` if it is no such number.
    pub fn with_weight(mut self, weight: f64) -> Result<Self> {
        if !weight.is_finite() || weight <= 0.0 || weight > MAX_WEIGHT {
            let name = &self.name;
            return Err(Error::invalid(format!(
                "node {name} has the weight {weight}; use a number above 0 and up to {MAX_WEIGHT}"
            )));
        }
        self.weight = weight;
        Ok(self)
    }

    /// Sets the directory of the node's store, relative to the directory of the ring file. Without it, the directory
    /// has the name of the node.
    ///
    /// # Errors
    /// `InvalidInput` if it is empty, has more than 4096 bytes or has a control character.
    pub fn with_path(mut self, path: Option<&str>) -> Result<Self> {
        if let Some(path) = path
            && (path.is_empty() || path.len() > MAX_PATH || path.chars().any(char::is_control))
        {
            let (name, shown) = (&self.name, path.chars().take(80).collect::<String>());
            return Err(Error::invalid(format!(
                "the path '{}' of node {name} is not possible: 1 to {MAX_PATH} bytes without control characters",
                shown.escape_debug()
            )));
        }
        self.path = path.map(str::to_owned);
        Ok(self)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The weight.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The directory of the node's store as the ring file has it, if it does.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The directory of the node's store, for a ring file at this path.
    #[must_use]
    pub fn directory(&self, ring_file: &Path) -> PathBuf {
        let beside = ring_file.parent().unwrap_or(Path::new(""));
        beside.join(self.path.as_deref().unwrap_or(&self.name))
    }

    /// Number of the node's virtual nodes, if a node of weight 1 has `virtual_nodes`: the product with the weight,
    /// rounded half up, and at least 1.
    #[must_use]
    pub fn points(&self, virtual_nodes: u32) -> u64 {
        let exact = f64::from(virtual_nodes) * self.weight;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and below 2^53")]
        let rounded = exact.round() as u64;
        rounded.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["a", "node-1", "10.0.0.1:9000", "köln", "a_b.c", "..."] {
            assert_eq!(Node::new(name).unwrap().name(), name);
        }
        let long = "a".repeat(256);
        for name in
            ["", ".", "..", "-a", "a b", "a\tb", "a\rb", "a\nb", "a\0b", "a#b", "a=b", "a,b", "a/b", "a\\b", &long]
        {
            assert!(Node::new(name).is_err(), "{name:?}");
        }
        let error = Node::new("a\tb").unwrap_err().to_string();
        assert_eq!(error, r"the name 'a\tb' has the character '\t', which no name may have");
        assert!(Node::new("a".repeat(255)).is_ok());
    }

    #[test]
    fn weights_scale_virtual_nodes() {
        let points = |weight| Node::new("a").unwrap().with_weight(weight).unwrap().points(100);
        assert_eq!([1.0, 2.0, 0.5, 0.014, 0.015, 1e-9].map(points), [100, 200, 50, 1, 2, 1]);
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert!(Node::new("a").unwrap().with_weight(weight).is_err(), "{weight}");
        }
    }

    #[test]
    fn directories_are_relative_to_the_file() {
        let node = |path| Node::new("a").unwrap().with_path(path).unwrap();
        assert_eq!(node(None).directory(Path::new("x/ring.json")), Path::new("x/a"));
        assert_eq!(node(Some("y/z")).directory(Path::new("ring.json")), Path::new("y/z"));
        assert_eq!(node(Some("/y")).directory(Path::new("x/ring.json")), Path::new("/y"));
        for path in ["", "a\0", "a\nb", &"a".repeat(4097)] {
            assert!(Node::new("a").unwrap().with_path(Some(path)).is_err(), "{path:?}");
        }
    }
}
