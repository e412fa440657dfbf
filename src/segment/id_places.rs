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
        self.find_near(rank, &mut 0)
    }

    /// As [`UnitIndex::find`]. Searches little if the fingerprint is at or soon after the one that was found before
    /// with the same `step`.
    pub(super) fn find_near(&self, rank: u64, step: &mut usize) -> Option<(u64, usize)> {
        let begins = |step: usize| self.marks.get(step).is_some_and(|mark| mark.rank <= rank);
        let holds = |step: usize| begins(step) && !begins(step.saturating_add(1));
        if !holds(*step) {
            *step = match step.saturating_add(1) {
                next if holds(next) => next,
                _ => self.marks.partition_point(|mark| mark.rank <= rank).checked_sub(1)?,
            };
        }
        let step = *step;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_as_counting_from_the_front_does() {
        // Units in which several fingerprints begin, one, or none: the ids of one continue there.
        let begun: Vec<u16> = (0..1000_usize).map(|number| [3, 0, 1, 0, 0, 7, 40][number * number / 40 % 7]).collect();
        let index = UnitIndex::new(begun.iter().map(|&begun| UnitEntry { length: 9, begun }).collect());
        let places: Vec<(u64, usize)> =
            (0..).zip(&begun).flat_map(|(unit, &begun)| (0..usize::from(begun)).map(move |nth| (unit, nth))).collect();
        assert_eq!(index.fingerprints, places.len() as u64);
        let (mut near, mut random) = (usize::MAX / 2, 5_u64);
        for step in 0..20_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let rank = if step % 3 == 0 { random >> 33 } else { step } % (places.len() as u64 + 5);
            let expected = places.get(rank as usize).copied();
            assert_eq!((index.find(rank), index.find_near(rank, &mut near)), (expected, expected), "{rank}");
        }
        assert_eq!(UnitIndex::new(Vec::new()).find_near(0, &mut near), None);
    }
}
