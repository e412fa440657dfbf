//! Where the units of ids lie and which fingerprints begin in them: 4 bytes a unit, and 16 bytes each 16 units.

use crate::format::text_index::UnitEntry;

const STEP: usize = 16;

#[derive(Debug)]
pub(super) struct UnitIndex {
    units: Vec<UnitEntry>,
    /// The place of every 16th unit.
    marks: Vec<UnitPlace>,
    /// Number of fingerprints that begin in all units.
    pub(super) fingerprints: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnitPlace {
    pub(super) offset: u64,
    pub(super) rank: u64,
}

impl UnitPlace {
    fn after(self, unit: UnitEntry) -> Self {
        let Self { offset, rank } = self;
        Self { offset: offset.saturating_add(unit.length.into()), rank: rank.saturating_add(unit.begun.into()) }
    }
}

impl UnitIndex {
    pub(super) fn new(mut units: Vec<UnitEntry>) -> Self {
        let (mut marks, mut place) = (Vec::with_capacity(units.len().div_ceil(STEP)), UnitPlace::default());
        for (number, &unit) in units.iter().enumerate() {
            if number % STEP == 0 {
                marks.push(place);
            }
            place = place.after(unit);
        }
        units.shrink_to_fit();
        Self { units, marks, fingerprints: place.rank }
    }

    pub(super) fn len(&self) -> u64 {
        self.units.len() as u64
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        (self.units.capacity() * size_of::<UnitEntry>() + self.marks.capacity() * size_of::<UnitPlace>()) as u64
    }

    /// Length and number of begun fingerprints of a unit; zeros if there is no such unit.
    pub(super) fn unit(&self, number: u64) -> UnitEntry {
        let unit = usize::try_from(number).ok().and_then(|number| self.units.get(number));
        unit.copied().unwrap_or(UnitEntry { length: 0, begun: 0 })
    }

    pub(super) fn place(&self, number: u64) -> UnitPlace {
        let number = usize::try_from(number).unwrap_or(usize::MAX).min(self.units.len());
        let step = (number / STEP).min(self.marks.len().saturating_sub(1));
        let before = self.units.get(step * STEP..number).unwrap_or_default();
        let mark = self.marks.get(step).copied().unwrap_or_default();
        before.iter().fold(mark, |place, &unit| place.after(unit))
    }

    /// The unit in which the fingerprint with this rank begins, and how many fingerprints begin before it there.
    pub(super) fn find(&self, rank: u64) -> Option<(u64, usize)> {
        let step = self.marks.partition_point(|mark| mark.rank <= rank).checked_sub(1)?;
        let mut left = rank.checked_sub(self.marks.get(step)?.rank)?;
        for (number, unit) in (step * STEP..).zip(self.units.get(step * STEP..)?) {
            match left.checked_sub(unit.begun.into()) {
                Some(less) => left = less,
                None => return Some((number as u64, usize::try_from(left).ok()?)),
            }
        }
        None
    }
}
