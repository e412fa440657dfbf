//! Consecutive records of the file.

use fpstore::{Id, IdRef};

/// Fingerprints that are looked up together: many times the cache lines of a table's filter that they need, so that
/// most lines are fetched only once.
pub(super) const CHUNK: usize = 1 << 18;

/// Limits of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkSize {
    /// Number of records.
    pub(super) records: usize,
    /// Bytes of texts.
    pub(super) texts: usize,
    bytes: u64,
}

impl ChunkSize {
    /// Number of chunks at a time: one is read, one waits, one is searched.
    const ALIVE: u64 = 3;

    /// Returns a size with which all chunks together take at most a fifth of the memory.
    pub(super) fn within<F>(memory: u64) -> Self {
        let part = usize::try_from(memory / 16).unwrap_or(usize::MAX);
        // An id takes 8 bytes, or the end of its text.
        let record = size_of::<F>() + size_of::<u64>();
        let (records, texts) = (CHUNK.min(part / 2 / record).max(1), (16 << 20).min(part / 2));
        Self { records, texts, bytes: (records * record + texts) as u64 }
    }

    /// Returns the bytes of all chunks that exist at the same time.
    pub(super) fn bytes_of_all(self) -> u64 {
        Self::ALIVE * self.bytes
    }
}

/// Consecutive records.
#[derive(Debug)]
pub(super) struct Chunk<F> {
    fingerprints: Vec<F>,
    ids: Ids,
}

/// The ids of the records.
#[derive(Debug)]
enum Ids {
    /// No ids: the number of the first record.
    From(u64),
    Numbers(Vec<u64>),
    /// The concatenated texts, and the end of each.
    Texts(String, Vec<usize>),
}

impl<F: Copy> Chunk<F> {
    /// Returns an empty chunk that begins with the first record.
    pub(super) fn first() -> Self {
        Self { fingerprints: Vec::new(), ids: Ids::From(0) }
    }

    /// Returns an empty chunk that follows this one.
    pub(super) fn next(&self) -> Self {
        let ids = match &self.ids {
            Ids::From(first) => Ids::From(first + self.fingerprints.len() as u64),
            Ids::Numbers(_) => Ids::Numbers(Vec::with_capacity(self.len())),
            Ids::Texts(texts, _) => Ids::Texts(String::with_capacity(texts.len()), Vec::with_capacity(self.len())),
        };
        Self { fingerprints: Vec::with_capacity(self.len()), ids }
    }

    /// Adds a record. All records have ids of one kind.
    #[inline]
    pub(super) fn push(&mut self, fingerprint: F, id: IdRef<'_>) {
        self.fingerprints.push(fingerprint);
        match (&mut self.ids, id) {
            (_, IdRef::None) => {}
            (Ids::Numbers(numbers), IdRef::Number(number)) => numbers.push(number),
            (Ids::Texts(texts, ends), IdRef::Text(text)) => {
                texts.push_str(text);
                ends.push(texts.len());
            }
            (ids, IdRef::Number(number)) => *ids = Ids::Numbers(vec![number]),
            (ids, IdRef::Text(text)) => *ids = Ids::Texts(text.to_owned(), vec![text.len()]),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Bytes of the ids that are texts.
    pub(super) fn text_bytes(&self) -> usize {
        if let Ids::Texts(texts, _) = &self.ids { texts.len() } else { 0 }
    }

    pub(super) fn fingerprints(&self) -> &[F] {
        &self.fingerprints
    }

    /// Whether the records have ids of their own.
    pub(super) fn has_ids(&self) -> bool {
        !matches!(self.ids, Ids::From(_))
    }

    /// Returns the fingerprint and the id of a record.
    pub(super) fn get(&self, at: usize) -> Option<(F, Id)> {
        let id = match &self.ids {
            Ids::From(first) => Id::Number(first + at as u64),
            Ids::Numbers(numbers) => Id::Number(*numbers.get(at)?),
            Ids::Texts(texts, ends) => {
                let begin = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                Id::from(texts.get(begin..*ends.get(at)?)?)
            }
        };
        Some((*self.fingerprints.get(at)?, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_kind() {
        let mut chunk = Chunk::<u64>::first();
        chunk.push(5, IdRef::None);
        chunk.push(6, IdRef::None);
        let mut next = chunk.next();
        next.push(7, IdRef::None);
        assert_eq!((chunk.get(1), next.get(0)), (Some((6, Id::Number(1))), Some((7, Id::Number(2)))));
        assert!(!chunk.has_ids() && chunk.get(2).is_none());
        let mut chunk = Chunk::<u64>::first();
        chunk.push(5, IdRef::Text("a"));
        chunk.push(6, IdRef::Text("bc"));
        assert_eq!((chunk.get(0), chunk.get(1)), (Some((5, Id::from("a"))), Some((6, Id::from("bc")))));
        let mut chunk = Chunk::<u64>::first();
        chunk.push(5, IdRef::Number(9));
        assert_eq!((chunk.get(0), chunk.has_ids(), chunk.next().has_ids()), (Some((5, Id::Number(9))), true, true));
    }
}
