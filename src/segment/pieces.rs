//! Pages on their way from an encoder to who writes them, some megabytes at a time, so that writing begins before
//! encoding ends.

/// Pieces are at least this long, but for the last one of a section.
pub(crate) const PIECE: usize = 4 << 20;

/// Gathers pages to pieces; `E` is why they are not taken any more.
pub(crate) struct Pieces<'a, E> {
    piece: Vec<u8>,
    take: &'a mut dyn FnMut(Vec<u8>) -> Result<(), E>,
}

impl<'a, E> Pieces<'a, E> {
    /// Pieces that `take` takes.
    pub(crate) fn new(take: &'a mut dyn FnMut(Vec<u8>) -> Result<(), E>) -> Self {
        Self { piece: Vec::new(), take }
    }

    /// Adds a page, and empties it.
    pub(super) fn append(&mut self, page: &mut Vec<u8>) -> Result<(), E> {
        if self.piece.is_empty() {
            self.piece.reserve(page.len().max(PIECE + PIECE / 16));
        }
        self.piece.append(page);
        if self.piece.len() >= PIECE { self.send() } else { Ok(()) }
    }

    /// Sends what is left.
    pub(super) fn finish(mut self) -> Result<(), E> {
        if self.piece.is_empty() { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), E> {
        (self.take)(std::mem::take(&mut self.piece))
    }
}
