//! The ids of documents, in the order of the input, for random access.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use anyhow::{Context, bail};
use fpstore::Id;
use fpstore_tools::documents::DocumentId;

use super::spool::Appender;
use super::work::{IdsAre, Work};

/// The ids as texts, and where each ends.
const IDS: &str = "ids";
const ENDS: &str = "id-ends";

/// Ids that are being written.
pub(super) struct NewIds {
    texts: Appender,
    ends: Appender,
    end: u64,
    text: Vec<u8>,
}

impl NewIds {
    pub(super) fn open(work: &Work) -> anyhow::Result<Self> {
        let (texts, ends) = (work.state.id_bytes, work.state.documents * 8);
        Ok(Self {
            texts: Appender::open(work.path(IDS), texts)?,
            ends: Appender::open(work.path(ENDS), ends)?,
            end: texts,
            text: Vec::new(),
        })
    }

    /// Appends an id; returns the bytes of all.
    pub(super) fn push(&mut self, id: &DocumentId) -> anyhow::Result<u64> {
        self.text.clear();
        match id {
            DocumentId::None => {}
            DocumentId::Number(number) => self.text.extend_from_slice(number.to_string().as_bytes()),
            DocumentId::Text(text) => self.text.extend_from_slice(text.as_bytes()),
        }
        self.texts.append(&self.text)?;
        self.end += self.text.len() as u64;
        self.ends.append(&self.end.to_le_bytes())?;
        Ok(self.end)
    }

    pub(super) fn sync(&mut self) -> anyhow::Result<()> {
        self.texts.sync()?;
        self.ends.sync()
    }
}

/// The ids of all documents; the number of a document that has none.
pub(super) struct AllIds {
    kind: IdsAre,
    files: Option<(File, File)>,
}

impl AllIds {
    pub(super) fn open(work: &Work) -> anyhow::Result<Self> {
        let kind = work.state.ids;
        let open = |name: &str| {
            let path = work.path(name);
            File::open(&path).with_context(|| path.display().to_string())
        };
        let files = match kind {
            IdsAre::Unknown | IdsAre::None => None,
            IdsAre::Numbers | IdsAre::Texts => Some((open(IDS)?, open(ENDS)?)),
        };
        Ok(Self { kind, files })
    }

    /// Returns the id of a document.
    pub(super) fn get(&mut self, document: u64) -> anyhow::Result<Id> {
        let Some((texts, ends)) = &mut self.files else { return Ok(Id::Number(document)) };
        let mut read = || -> std::io::Result<Vec<u8>> {
            let mut end = [[0; 8]; 2];
            let (from, skip) = if document == 0 { (0, 1) } else { ((document - 1) * 8, 0) };
            ends.seek(SeekFrom::Start(from))?;
            ends.read_exact(end.get_mut(skip..).unwrap_or_default().as_flattened_mut())?;
            let [start, end] = end.map(u64::from_le_bytes);
            texts.seek(SeekFrom::Start(start))?;
            let mut text = Vec::new();
            texts.take(end.saturating_sub(start)).read_to_end(&mut text)?;
            Ok(text)
        };
        let text = String::from_utf8(read().context("the intermediate file of ids")?)?;
        Ok(match self.kind {
            IdsAre::Texts => Id::from(text.as_str()),
            _ => match text.parse() {
                Ok(number) => Id::Number(number),
                Err(_) => bail!("the intermediate file of ids is damaged"),
            },
        })
    }
}
