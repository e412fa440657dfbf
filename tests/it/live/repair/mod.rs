//! Repair: for any damage, it saves everything that can be saved, and reports every loss exactly.

mod content;
mod doubtful;
pub(crate) mod killed;
pub(crate) mod sound;

use crate::points::{is_long, points};
use crate::support::*;
use fpstore::repair::{Lost, RepairAction, SegmentRole};
use fpstore::{Design, Fingerprint, IdKind, Parameters, U256};
use rayon::prelude::*;
use sound::{Case, Damage, Size, SoundStore, planned_and_done};

/// Every kind of ids, with an id index if possible.
fn kinds() -> Vec<Parameters> {
    let kind = |ids| Parameters::new(3).with_ids(ids).with_block_size(256);
    vec![kind(IdKind::Number).with_id_index(true), kind(IdKind::Text).with_id_index(true), kind(IdKind::None)]
}

/// Damages every part of every file in turn.
fn every_part<F: Fingerprint>(parameters: &Parameters, size: usize) {
    let sound = SoundStore::<F>::new(parameters, Size(size));
    let cases: Vec<Case> = points(sound.cases()).collect();
    let lost: usize = cases
        .par_iter()
        .map(|case| {
            let label = format!("{} bits, {}, {case:?}", F::WIDTH, parameters.ids());
            let fixture = sound.copy();
            assert!(case.damage(&fixture), "{label}");
            let report = planned_and_done(&fixture, &label);
            sound.check(&fixture, std::slice::from_ref(case), &report, &label);
            check_losses::<F>(&sound, case, &report, &label);
            usize::from(!report.saves_everything())
        })
        .sum();
    assert!(lost > 0 && lost < cases.len() / 2 + cases.len() / 3, "{lost} of {}", cases.len());
}

/// Checks that everything that must be saved is saved.
fn check_losses<F: Fingerprint>(
    sound: &SoundStore<F>,
    case: &Case,
    report: &fpstore::repair::RepairReport,
    label: &str,
) {
    assert!(report.refused.is_empty(), "{label}: {report:?}");
    let part = sound.content.parts.iter().find(|part| part.path == case.path);
    let has_several_tables = part.is_some_and(|part| !part.removals);
    let in_table = case.section.starts_with("table");
    let saved = match case.section.as_str() {
        "header" | "trailer" | "log header" => true,
        // The pages also give their numbers of fingerprints.
        "id index" => true,
        section if in_table && has_several_tables => F::WIDTH == 64 || !section.starts_with("table 0 data"),
        // Rows do not need the search structures and codes of the tables of wide fingerprints.
        section if in_table => F::WIDTH > 64 && !section.starts_with("table 0 data"),
        _ => part.is_none() && case.path.extension().is_some_and(|ending| ending == "segment"),
    };
    assert!(!saved || report.losses.is_empty(), "{label}: {:?}", report.losses);
    let torn_away = matches!(case.damage, Damage::Cut(_) | Damage::Remove) && part.is_none();
    assert!(report.damages.len() + report.torn.len() > 0 || torn_away, "{label}: not noticed");
    if let (Damage::Remove, Some(part)) = (&case.damage, part) {
        let [loss] = &report.losses[..] else { panic!("{label}: {:?}", report.losses) };
        assert!(
            matches!(loss.what, Lost::Segment { .. })
                && loss.path == part.path
                && (loss.role == Some(SegmentRole::Tombstones)) == part.removals
        );
        assert!(report.kept_aside.is_empty(), "{label}: there is nothing to keep");
    }
}

#[test]
fn every_part_of_a_store_of_64_bits() {
    for parameters in kinds() {
        every_part::<u64>(&parameters, if is_long() { 1500 } else { 700 });
    }
    every_part::<u64>(&Parameters::new(3).with_design(Design::Tables { parts: 4 }), 700);
}

#[test]
fn every_part_of_stores_of_wide_fingerprints() {
    for parameters in kinds() {
        // Rows of both take more than two pages.
        let (shorter, wider) = if is_long() { (900, 500) } else { (600, 300) };
        every_part::<u128>(&parameters, shorter);
        every_part::<U256>(&parameters.with_design(Design::Tables { parts: 4 }), wider);
    }
}

#[test]
fn several_parts_at_once() {
    let mut in_part = Vec::new();
    for parameters in kinds() {
        let (short, wide) = if is_long() { (1500, 900) } else { (700, 600) };
        let counts = [several_parts::<u64>(&parameters, short), several_parts::<u128>(&parameters, wide)];
        if parameters.ids() != IdKind::None {
            in_part.extend(counts);
        }
    }
    // Few of the points of a short run lose something in part: it counts those of all stores together.
    let (least, total) = (in_part.iter().min().unwrap(), in_part.iter().sum::<usize>());
    assert!(total >= in_part.len() && (*least > 0 || !is_long()), "lost in part: {in_part:?}");
}

/// Returns how many losses left a part of something.
fn several_parts<F: Fingerprint>(parameters: &Parameters, size: usize) -> usize {
    let sound = SoundStore::<F>::new(parameters, Size(size));
    let cases = sound.cases();
    points(0..250u64)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|seed| {
            let mut random = Random(seed);
            let fixture = sound.copy();
            // Most often in one file, where parts must substitute for each other.
            let path = cases[random.below(cases.len() as u64) as usize].path.clone();
            let own: Vec<&Case> = cases.iter().filter(|case| case.path == path).collect();
            let from = |random: &mut Random| match random.below(4) {
                0 => cases[random.below(cases.len() as u64) as usize].clone(),
                _ => own[random.below(own.len() as u64) as usize].clone(),
            };
            let chosen: Vec<Case> = (0..2 + random.below(4)).map(|_| from(&mut random)).collect();
            let label = format!("{} bits, {}, seed {seed}: {chosen:?}", F::WIDTH, parameters.ids());
            let chosen: Vec<Case> = chosen.into_iter().filter(|case| case.damage(&fixture)).collect();
            let report = planned_and_done(&fixture, &label);
            assert!(report.refused.is_empty(), "{label}: {:?}", report.refused);
            sound.check(&fixture, &chosen, &report, &label);
            report
                .losses
                .iter()
                .filter(|loss| matches!(loss.what, Lost::Fingerprints { .. } | Lost::Ids { .. }))
                .count()
        })
        .sum()
}

#[test]
fn a_sound_store_is_left_alone() {
    let sound = SoundStore::<u64>::new(&kinds()[0], Size(300));
    let fixture = sound.copy();
    let report = planned_and_done(&fixture, "sound");
    assert!(report.is_sound() && report.saves_everything(), "{report:?}");
    assert!(fixture.files() == sound.fixture.files(), "nothing was written");
    assert!(report.files > 10 && report.bytes > 0);
    sound.check(&fixture, &[], &report, "sound");
}

#[test]
fn the_actions_name_what_was_done() {
    let sound = SoundStore::<u64>::new(&kinds()[0], Size(1500));
    let fixture = sound.copy();
    let case = |section: &str| {
        let cases = sound.cases();
        cases.into_iter().find(|case| case.section == section && case.path.ends_with("00000001.segment")).unwrap()
    };
    assert!(case("table 1 data").damage(&fixture));
    let report = planned_and_done(&fixture, "one table");
    let [RepairAction::Rewrite { from, to, records, fingerprints, .. }] = &report.actions[..] else {
        panic!("{:?}", report.actions)
    };
    assert!(records.0 == records.1 && fingerprints.0 == fingerprints.1 && records.0 == 1500);
    assert!(fixture.env.bytes(from).is_none() && fixture.env.bytes(to).is_some());
    assert!(report.kept_aside.is_empty() && report.losses.is_empty());
}
