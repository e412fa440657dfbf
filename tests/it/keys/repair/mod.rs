//! Repair of a key index: what is not damaged stays, and every loss is reported exactly.

mod sound;

use crate::live::repair::killed::killed_at_every_operation;
use crate::live::repair::sound::{Case, Damage, fixture_of, planned_and_done};
use crate::points::points;
use crate::support::*;
use fpstore::repair::{RepairReport, SegmentRole};
use rayon::prelude::*;
use sound::{SoundIndex, kinds, view};
use std::path::PathBuf;

#[test]
fn every_part_of_every_segment() {
    for kind in kinds() {
        let sound = SoundIndex::new(kind, 900, 5);
        let cases: Vec<Case> = points(sound.cases()).collect();
        let lost: usize = cases
            .par_iter()
            .map(|case| {
                let label = format!("{kind:?}, {case:?}");
                let fixture = sound.fixture.copy();
                assert!(case.damage(&fixture), "{label}");
                let report = planned_and_done(&fixture, &label);
                sound.check(&fixture, &report, &label);
                sound.check_losses(case, &report, &label);
                usize::from(!report.saves_everything())
            })
            .sum();
        assert!(lost > 0 && lost < cases.len(), "{kind:?}: {lost} of {}", cases.len());
    }
}

#[test]
fn several_parts_at_once() {
    for kind in kinds() {
        let sound = SoundIndex::new(kind, 500, 5);
        let cases = sound.cases();
        points(0..120u64).collect::<Vec<_>>().into_par_iter().for_each(|seed| {
            let mut random = Random(seed);
            let fixture = sound.fixture.copy();
            let chosen: Vec<&Case> = (0..2 + random.below(4))
                .map(|_| &cases[random.below(cases.len() as u64) as usize])
                .filter(|case| matches!(case.damage, Damage::Flip(_)))
                .collect();
            let label = format!("{kind:?}, seed {seed}: {chosen:?}");
            chosen.iter().for_each(|case| _ = case.damage(&fixture));
            let report = planned_and_done(&fixture, &label);
            sound.check(&fixture, &report, &label);
        });
    }
}

#[test]
fn a_repair_that_is_killed_at_any_operation() {
    let sound = SoundIndex::new(kinds()[1], 300, 5);
    let cases = sound.cases();
    let find = |run: usize, role: SegmentRole, section: &str| {
        let path = sound.runs[run].path(role);
        let mut cases = cases.iter().filter(|case| matches!(case.damage, Damage::Flip(_)));
        cases.find(|case| case.path == path && case.section == section).unwrap().clone()
    };
    let chosen = [
        find(0, SegmentRole::Keys, "sketches"),
        find(0, SegmentRole::Keys, "table 0 data"),
        find(1, SegmentRole::Records, "ids"),
        find(2, SegmentRole::Tombstones, "id index"),
    ];
    let damaged = || {
        let fixture = fixture_of(sound.fixture.env.deep_copy(), &sound.fixture);
        assert!(chosen.iter().all(|case| case.damage(&fixture)));
        fixture.env
    };
    let check = |fixture: &Fixture, report: &RepairReport, label: &str| sound.check(fixture, report, label);
    killed_at_every_operation(&damaged, &sound.fixture, &check, 60);
}

#[test]
fn segments_that_do_not_belong_together_stay_as_they_are() {
    let [own, other] = [5, 6].map(|seed| SoundIndex::new(kinds()[0], 900, seed));
    let path = |sound: &SoundIndex| sound.runs[0].path(SegmentRole::Keys);
    // A page of sketches of another index, in the same place there.
    let [(at, mut bytes), (there, others)] = [&own, &other].map(|sound| {
        let sections = view(&sound.fixture, &path(sound)).sections();
        let section = sections.into_iter().find(|section| section.name == "sketches").unwrap();
        (section.offset as usize, sound.fixture.env.bytes(&path(sound)).unwrap())
    });
    bytes[at..at + 4096].copy_from_slice(&others[there..there + 4096]);
    let fixture = own.fixture.copy();
    fixture.env.set_bytes(&path(&own), bytes);
    // Losses of records beside it are not carried out either: the sketches must stay with their records.
    let cases = own.cases();
    let records = own.runs[0].path(SegmentRole::Records);
    let ids = cases.iter().find(|case| case.path == records && case.section == "ids").unwrap();
    for damages in [&[][..], &[ids]] {
        damages.iter().for_each(|case| assert!(case.damage(&fixture)));
        let sound = |fixture: &Fixture| -> Vec<(PathBuf, Vec<u8>)> {
            fixture.files().into_iter().filter(|(path, _)| !path.ends_with("LOCK")).collect()
        };
        let before = sound(&fixture);
        let report = planned_and_done(&fixture, "another's page");
        assert!(report.refused.len() == 1 && report.actions.is_empty() && report.losses.is_empty(), "{report:?}");
        assert!(sound(&fixture) == before && report.kept_aside.is_empty());
    }
}
