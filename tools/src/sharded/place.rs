//! The nodes of two rings, each with its directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use fpring::Ring;
use fpstore::Id;

/// A node of one of the rings, or of both.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) directory: PathBuf,
    pub(super) is_old: bool,
    pub(super) is_new: bool,
}

/// The nodes of two rings, and where each ring places records.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) all: Vec<Place>,
    old: Numbered,
    new: Numbered,
}

/// A ring, and the number of each of its nodes among all places.
#[derive(Debug)]
struct Numbered {
    ring: Ring,
    numbers: Vec<usize>,
}

/// Buffers for the places of a record.
#[derive(Debug, Default)]
pub(super) struct Found {
    found: Vec<u32>,
    pub(super) new: Vec<usize>,
}

impl Places {
    /// For two rings whose paths are relative to one ring file.
    pub(super) fn new(ring_file: &Path, old: Ring, new: Ring) -> anyhow::Result<Self> {
        let mut all: Vec<Place> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut numbered = |ring: Ring, is_new: bool| -> anyhow::Result<Numbered> {
            let mut numbers = Vec::new();
            for node in ring.nodes() {
                let directory = node.directory(ring_file);
                let number = *known.entry(node.name().to_owned()).or_insert(all.len());
                match all.get_mut(number) {
                    None => {
                        let name = node.name().to_owned();
                        all.push(Place { name, directory, is_old: !is_new, is_new });
                    }
                    Some(place) if place.directory == directory => place.is_new = is_new,
                    Some(place) => bail!(
                        "node {} has the path {} in one ring and {} in the other; a store is moved with its directory, \
                         and its path changed in both files",
                        place.name,
                        place.directory.display(),
                        directory.display()
                    ),
                }
                numbers.push(number);
            }
            Ok(Numbered { ring, numbers })
        };
        let (old, new) = (numbered(old, false)?, numbered(new, true)?);
        Ok(Self { all, old, new })
    }

    /// Refuses two nodes with one directory, under whatever names it has.
    pub(super) fn check_apart(&self) -> anyhow::Result<()> {
        let mut seen: HashMap<PathBuf, &str> = HashMap::new();
        for place in &self.all {
            let Ok(directory) = fs::canonicalize(&place.directory) else { continue };
            if let Some(other) = seen.insert(directory, &place.name) {
                bail!("nodes {other} and {} have one directory, {}", place.name, place.directory.display());
            }
        }
        Ok(())
    }

    /// Finds the nodes of a record in the new ring. A number is placed by its decimal text.
    pub(super) fn find(&self, id: &Id, places: &mut Found) {
        self.new.find(id, &mut places.found, &mut places.new);
    }

    /// The numbers of the nodes of the old ring, or of the new one.
    pub(super) fn of_ring(&self, is_new: bool) -> Vec<usize> {
        if is_new { self.new.numbers.clone() } else { self.old.numbers.clone() }
    }
}

impl Numbered {
    fn find(&self, id: &Id, found: &mut Vec<u32>, places: &mut Vec<usize>) {
        let position = match id {
            Id::Text(text) => self.ring.position(text.as_bytes()),
            Id::Number(number) | Id::Count(number) => self.ring.position_of_id(*number),
        };
        self.ring.locate_position(position, found);
        places.clear();
        places.extend(found.iter().filter_map(|node| self.numbers.get(*node as usize)));
    }
}
