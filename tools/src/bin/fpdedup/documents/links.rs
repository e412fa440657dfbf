//! Why each document is removed: its keeper, its cluster, and how near it is to the keeper.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Bytes of an entry: state, keeper, cluster, distance or shared keys, estimated and compared similarity.
const ENTRY: usize = 41;
const BUFFER: usize = 1 << 18;

/// State bytes: kept; kept because its text differs from the keeper's, for now or for good; removed.
const STAYS: u8 = 0;
const DOUBTFUL: u8 = 1;
const DIFFERENT: u8 = 2;
const REMOVED: u8 = 3;

/// Why a document is removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) keeper: u64,
    pub(super) cluster: u64,
    /// Bits in which the fingerprints differ, or keys that both documents have.
    pub(super) near: u64,
    /// Similarity by the sketches, if there are sketches.
    pub(super) estimate: f64,
    /// Similarity of the texts, once they were compared.
    pub(super) similarity: f64,
}

/// The decision on a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Stays,
    Removed(Link),
    /// Its text differs from the keeper's; another document may remove it.
    Doubtful,
    /// It stays, because its text differs from the keeper's.
    Different,
}

/// A file with an entry for each document.
pub(super) struct Links {
    path: PathBuf,
    file: File,
}

impl Links {
    /// Creates the file for documents all of which stay.
    pub(super) fn create(path: PathBuf, documents: u64) -> anyhow::Result<Self> {
        let create = || -> std::io::Result<File> {
            let file = OpenOptions::new().create(true).truncate(true).read(true).write(true).open(&path)?;
            file.set_len(documents * ENTRY as u64)?;
            Ok(file)
        };
        let file = create().with_context(|| path.display().to_string())?;
        Ok(Self { path, file })
    }

    pub(super) fn open(path: PathBuf) -> anyhow::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&path);
        Ok(Self { file: file.with_context(|| path.display().to_string())?, path })
    }

    /// Sets the fates of some documents; sorts them first.
    pub(super) fn set(&mut self, fates: &mut [(u64, Fate)]) -> anyhow::Result<()> {
        fates.sort_unstable_by_key(|(document, _)| *document);
        let mut rest = &*fates;
        let mut bytes = Vec::new();
        while let Some((first, _)) = rest.first().copied() {
            // Neighbours are written at once.
            let run = rest.iter().zip(first..).take_while(|((document, _), place)| document == place).count();
            let (now, later) = rest.split_at_checked(run).unwrap_or((rest, &[]));
            bytes.clear();
            now.iter().for_each(|(_, fate)| bytes.extend_from_slice(&fate.bytes()));
            self.file
                .seek(SeekFrom::Start(first * ENTRY as u64))
                .and_then(|_| self.file.write_all(&bytes))
                .with_context(|| self.path.display().to_string())?;
            rest = later;
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> anyhow::Result<()> {
        self.file.sync_data().with_context(|| self.path.display().to_string())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Copies the file, so that changes of the copy can be repeated.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copy = || -> std::io::Result<()> {
        std::fs::copy(from, to)?;
        File::open(to)?.sync_all()
    };
    copy().with_context(|| to.display().to_string())
}

/// Reads the fates of all documents, in the order of the input.
pub(super) struct Fates {
    path: PathBuf,
    file: BufReader<File>,
}

impl Fates {
    /// Begins with this document.
    pub(super) fn from(path: &Path, document: u64) -> anyhow::Result<Self> {
        let open = || -> std::io::Result<File> {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(document * ENTRY as u64))?;
            Ok(file)
        };
        let file = open().with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), file: BufReader::with_capacity(BUFFER, file) })
    }

    /// Returns the fate of the next document; an error at the end.
    pub(super) fn next(&mut self) -> anyhow::Result<Fate> {
        let mut bytes = [0; ENTRY];
        self.file.read_exact(&mut bytes).with_context(|| self.path.display().to_string())?;
        Ok(Fate::of(&bytes))
    }
}

impl Fate {
    fn bytes(self) -> [u8; ENTRY] {
        let mut bytes = [STAYS; ENTRY];
        match self {
            Self::Stays => {}
            Self::Doubtful => bytes.fill(DOUBTFUL),
            Self::Different => bytes.fill(DIFFERENT),
            Self::Removed(Link { keeper, cluster, near, estimate, similarity }) => {
                let fields = [keeper, cluster, near, estimate.to_bits(), similarity.to_bits()].map(u64::to_le_bytes);
                let all = std::iter::once(&REMOVED).chain(fields.as_flattened());
                bytes.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
            }
        }
        bytes
    }

    fn of(bytes: &[u8; ENTRY]) -> Self {
        let [state, fields @ ..] = bytes;
        let field = |number: usize| {
            let field = fields.as_chunks::<8>().0.get(number);
            u64::from_le_bytes(field.copied().unwrap_or_default())
        };
        match *state {
            STAYS => Self::Stays,
            DOUBTFUL => Self::Doubtful,
            DIFFERENT => Self::Different,
            _ => Self::Removed(Link {
                keeper: field(0),
                cluster: field(1),
                near: field(2),
                estimate: f64::from_bits(field(3)),
                similarity: f64::from_bits(field(4)),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut links = Links::create(dir.path().join("links"), 1000).unwrap();
        let removed = |document: u64| {
            let near = document % 129;
            Fate::Removed(Link { keeper: document / 2, cluster: document / 3, near, estimate: 0.25, similarity: 0.5 })
        };
        let mut fates: Vec<(u64, Fate)> = (0..1000).rev().filter(|n| n % 7 > 2).map(|n| (n, removed(n))).collect();
        links.set(&mut fates).unwrap();
        links.set(&mut [(501, Fate::Different), (500, Fate::Doubtful)]).unwrap();
        let mut read = Fates::from(links.path(), 3).unwrap();
        for document in 3..1000 {
            let expected = match document {
                500 => Fate::Doubtful,
                501 => Fate::Different,
                document if document % 7 > 2 => removed(document),
                _ => Fate::Stays,
            };
            assert_eq!(read.next().unwrap(), expected, "{document}");
        }
        assert!(read.next().is_err());
    }
}
