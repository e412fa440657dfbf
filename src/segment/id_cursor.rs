//! The ids of a segment one after another.

use super::Segment;
use super::id_reader::{Piece, PieceStart};
use super::id_unit::IdScratch;
use crate::error::Result;
use crate::fingerprint::Id;
use std::sync::Arc;
use std::vec::Drain;

/// Walks over the ids of a segment in order, with a piece of a unit in memory, however many ids a fingerprint has.
#[derive(Debug)]
pub(crate) struct IdCursor {
    segment: Arc<Segment>,
    scratch: IdScratch,
    /// The ids of the last piece that was read, and whether each begins a fingerprint.
    piece: Vec<(bool, Id)>,
    at: usize,
    /// How many fingerprints begin before the next one in the unit.
    begun: usize,
    /// The record behind the piece, if the unit has one.
    next_record: Option<usize>,
    /// The unit after it.
    next_unit: u64,
}

impl IdCursor {
    pub(crate) fn new(segment: Arc<Segment>) -> Self {
        let scratch = IdScratch::default();
        Self { segment, scratch, piece: Vec::new(), at: 0, begun: 0, next_record: None, next_unit: 0 }
    }

    /// The first id of the fingerprint with this rank in the primary table, and a cursor after it.
    pub(crate) fn of_rank(segment: &Arc<Segment>, rank: u64) -> Result<(Self, Option<Id>)> {
        let mut cursor = Self::new(Arc::clone(segment));
        cursor.seek(rank)?;
        let first = cursor.take()?.map(|(_, id)| id);
        Ok((cursor, first))
    }

    /// Goes to the first id of the fingerprint with this rank in the primary table. Cheap if it is a little ahead.
    pub(crate) fn seek(&mut self, rank: u64) -> Result<()> {
        let (number, nth) = self.segment.ids().place_of(rank)?;
        if number + 1 != self.next_unit || nth < self.begun || !self.skip_to(nth) {
            self.read(number, PieceStart::Fingerprint(nth))?;
            // The unit agrees with the index, and the piece begins before the fingerprint or at it.
            self.skip_to(nth);
        }
        Ok(())
    }

    /// Skips the ids before the fingerprint that is the `nth` to begin in the unit; false if the piece has only these.
    fn skip_to(&mut self, nth: usize) -> bool {
        while let Some(&(begins, _)) = self.piece.get(self.at) {
            if begins && self.begun == nth {
                return true;
            }
            self.advance();
        }
        false
    }

    /// The next id, and whether it begins a fingerprint; `None` after the last one.
    pub(crate) fn peek(&mut self) -> Result<Option<(bool, &Id)>> {
        while self.at == self.piece.len() {
            match self.next_record {
                Some(record) => self.read(self.next_unit - 1, PieceStart::Record(record, self.begun))?,
                None if self.next_unit < self.segment.ids().unit_count() => {
                    self.read(self.next_unit, PieceStart::Record(0, 0))?;
                }
                None => return Ok(None),
            }
        }
        Ok(self.piece.get(self.at).map(|(begins, id)| (*begins, id)))
    }

    /// Skips the next id.
    pub(crate) fn advance(&mut self) {
        if let Some((begins, _)) = self.piece.get(self.at) {
            self.begun += usize::from(*begins);
            self.at += 1;
        }
    }

    /// As [`IdCursor::peek`]; skips the id.
    pub(crate) fn take(&mut self) -> Result<Option<(bool, Id)>> {
        self.peek()?;
        let taken = self.piece.get_mut(self.at).map(|(begins, id)| (*begins, std::mem::replace(id, Id::Count(0))));
        self.advance();
        Ok(taken)
    }

    /// Takes the remaining ids of the piece, or all of the next one; none after the last one.
    pub(crate) fn take_piece(&mut self) -> Result<Drain<'_, (bool, Id)>> {
        self.peek()?;
        self.begun += self.piece.iter().skip(self.at).filter(|(begins, _)| *begins).count();
        Ok(self.piece.drain(self.at..))
    }

    /// As [`IdCursor::take`], but `None` where the next fingerprint begins.
    pub(crate) fn take_same(&mut self) -> Result<Option<Id>> {
        match self.peek()? {
            Some((false, _)) => Ok(self.take()?.map(|(_, id)| id)),
            _ => Ok(None),
        }
    }

    fn read(&mut self, number: u64, start: PieceStart) -> Result<()> {
        self.at = 0;
        self.piece.clear();
        (self.next_unit, self.next_record) = (number + 1, None);
        let piece = &mut self.piece;
        let read = self.segment.ids().piece(number, start, &mut self.scratch, |begins, id| piece.push((begins, id)));
        match read {
            Ok(Piece { begun, next }) => (self.begun, self.next_record) = (begun, next),
            Err(_) => self.piece.clear(),
        }
        read.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::FileSystem;
    use crate::executor::Executor;
    use crate::extsort::Workspace;
    use crate::fingerprint::{IdKind, Record};
    use crate::format::Parameters;
    use crate::segment::id_unit::Unit;
    use crate::segment::{Building, Making, SegmentFile, chunks, write_segment};

    /// The ids of each fingerprint, by rank.
    type Expected = Vec<Vec<Id>>;

    fn check(segment: &Arc<Segment>, expected: &Expected) {
        for step in [1, 7, 1023, 1025, 3000] {
            let mut cursor = IdCursor::new(Arc::clone(segment));
            // Ahead, and back to the start.
            for rank in (0..expected.len()).step_by(step).chain([0, 1, expected.len() - 1, expected.len() / 2]) {
                cursor.seek(rank as u64).unwrap();
                let mut found: Vec<Id> =
                    cursor.take().unwrap().filter(|(begins, _)| *begins).map(|(_, id)| id).into_iter().collect();
                found.extend(std::iter::from_fn(|| cursor.take_same().unwrap()));
                assert_eq!(found, expected[rank], "rank {rank}, step {step}");
            }
        }
        let (mut cursor, mut all) = (IdCursor::new(Arc::clone(segment)), Vec::new());
        loop {
            let piece = cursor.take_piece().unwrap();
            if piece.len() == 0 {
                break;
            }
            all.extend(piece);
        }
        let begins =
            |ids: &Vec<Id>| ids.iter().enumerate().map(|(number, id)| (number == 0, id.clone())).collect::<Vec<_>>();
        assert_eq!(all, expected.iter().flat_map(begins).collect::<Vec<_>>());
    }

    /// A segment of these records, in a temporary file.
    fn segment(kind: IdKind, records: impl Iterator<Item = (u64, Id)>) -> Arc<Segment> {
        let directory = tempfile::tempdir().unwrap();
        let (executor, memory) = (Arc::new(Executor::new(1)), 1 << 24);
        let workspace =
            Workspace { env: Arc::new(FileSystem), executor, directory: directory.path().to_owned(), memory };
        let parameters = Parameters::new(3).with_ids(kind).with_id_index(false);
        let (env, directory, making) = (&workspace.env, directory.path(), Making::new(&workspace));
        let building = Building { env, directory, number: None, parameters: &parameters, making };
        let records = records.map(|(fingerprint, id)| Ok(Record { fingerprint, id }));
        let built = write_segment::<u64>(building, chunks(records, memory)).unwrap().unwrap();
        Arc::new(Segment::of_file(SegmentFile::new(&built.path, built.unnamed.unwrap())).unwrap())
    }

    #[test]
    fn every_fingerprint_of_units_of_many_pieces_is_found() {
        const COUNT: u64 = 20_000;
        let numbers = |numbers: &[u64]| numbers.iter().copied().map(Id::Number).collect::<Vec<_>>();
        let text = |number: u64| Id::Text(format!("{:x}", number % 16).into());
        let check = |kind, is_divisible, ids: &dyn Fn(u64) -> Vec<Id>| {
            let records = (0..COUNT).flat_map(|one| ids(one).into_iter().map(move |id| (one, id)));
            let segment = segment(kind, records);
            let of_unit = |unit: &Unit<'_>| Ok((unit.is_divisible(), unit.records()));
            let (found, records) = segment.ids().with_unit(0, &mut IdScratch::default(), of_unit).unwrap();
            assert!(found == is_divisible && records > 1024, "{kind}: {records} records, {found}");
            check(&segment, &(0..COUNT).map(ids).collect());
        };
        check(IdKind::None, true, &|one| vec![Id::Count(1 + u64::from(one % 9 == 0))]);
        // A bitmap takes less than groups do, and a piece ends within a fingerprint.
        check(IdKind::Number, true, &|_| numbers(&[0, 1, 60_000]));
        check(IdKind::Number, false, &|_| (0..8).map(|id| Id::Number(id << 20)).collect());
        check(IdKind::Text, true, &|one| if one % 5 == 0 { vec![text(3), text(7)] } else { vec![text(one)] });
    }
}
