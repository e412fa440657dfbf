//! A repair killed at any moment leaves the store unchanged or repaired; the next one finishes.

use super::kinds;
use super::sound::{Case, Damage, Size, SoundStore, fixture_of, planned_and_done};
use crate::points::points;
use crate::support::Fixture;
use fpstore::admin::verify;
use fpstore::env::{Env, Failing, Memory};
use fpstore::repair::{RepairReport, repair};
use rayon::prelude::*;
use std::sync::Arc;

/// A store with damage of every kind: a table, ids, tombstones, an id index, the middle of a log.
fn damaged() -> (SoundStore<u64>, Vec<Case>) {
    let sound = SoundStore::<u64>::new(&kinds()[0], Size(120));
    let cases = sound.cases();
    let find = |name: &str, section: &str| {
        let mut cases = cases.iter().filter(|case| matches!(case.damage, Damage::Flip(_)));
        cases.find(|case| case.path.ends_with(name) && case.section == section).unwrap().clone()
    };
    let removals = sound.content.parts.iter().find(|part| part.removals).unwrap();
    let removals = removals.path.file_name().unwrap().to_str().unwrap().to_owned();
    let log = sound.content.frames[4].path.file_name().unwrap().to_str().unwrap().to_owned();
    let chosen = vec![
        find("00000001.segment", "table 1 data"),
        find("00000002.segment", "table 0 index"),
        find(&removals, "ids"),
        find(&log, "frame"),
    ];
    (sound, chosen)
}

/// The same with only a torn tail in a log.
fn torn() -> (SoundStore<u64>, Vec<Case>) {
    let sound = SoundStore::<u64>::new(&kinds()[0], Size(120));
    let last = sound.content.frames.last().unwrap();
    let case = Case { path: last.path.clone(), section: "frame".to_owned(), damage: Damage::Flip(last.offset + 5) };
    (sound, vec![case])
}

fn damage(sound: &SoundStore<u64>, cases: &[Case]) -> Memory {
    let fixture = sound.copy();
    assert!(cases.iter().all(|case| case.damage(&fixture)));
    fixture.env
}

/// Fails each operation of the repair of a damaged store in turn, and all from each on; `like` has its path and
/// options.
pub(crate) fn killed_at_every_operation(
    damaged: &(dyn Fn() -> Memory + Sync),
    like: &Fixture,
    check: &(dyn Fn(&Fixture, &RepairReport, &str) + Sync),
    least: u64,
) {
    let whole = fixture_of(damaged(), like);
    let expected = planned_and_done(&whole, "whole");
    check(&whole, &expected, "whole");
    let failing = Failing::new(Arc::new(damaged()), 0..0);
    repair(&like.path, &like.options.clone().with_env(Arc::new(failing.clone()))).unwrap();
    let operations = failing.operations();
    assert!(operations > least, "{operations}");
    let tried: Vec<(bool, bool)> = points(0..2 * operations)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|number| {
            let (at, for_ever) = (number / 2, number % 2 == 0);
            let label = format!("operation {at} fails{}", if for_ever { " and all after it" } else { "" });
            let memory = damaged();
            let before = fixture_of(memory.deep_copy(), like).files();
            let end = if for_ever { u64::MAX } else { at + 1 };
            let env: Arc<dyn Env> = Arc::new(Failing::new(Arc::new(memory.clone()), at..end));
            let report = repair(&like.path, &like.options.clone().with_env(env));
            // The power fails too: unsynced data is lost.
            memory.crash();
            let fixture = fixture_of(memory, like);
            let manifest = |files: &[(std::path::PathBuf, Vec<u8>)]| {
                files.iter().find(|(path, _)| path.ends_with("MANIFEST")).unwrap().1.clone()
            };
            let after = fixture.files();
            let is_new = manifest(&after) != manifest(&before);
            if is_new {
                let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
                assert!(damages.is_empty(), "{label}: {damages:?}");
            } else {
                for (path, bytes) in before.iter().filter(|(path, _)| !path.ends_with("LOCK")) {
                    let now = after.iter().find(|(now, _)| now == path);
                    assert!(now.is_some_and(|(_, now)| now == bytes), "{label}: {path:?}");
                }
            }
            // The repair refuses an unreadable manifest.
            let report = report.ok().filter(|report| report.refused.is_empty());
            if let Some(report) = &report {
                assert_eq!(report.losses, expected.losses, "{label}: something was lost that could be read");
            }
            let again = repair(&fixture.path, &fixture.options).unwrap_or_else(|error| panic!("{label}: {error}"));
            assert_eq!(
                is_new || report.is_some(),
                again.losses.is_empty() && again.damages.is_empty(),
                "{label}: {again:?}"
            );
            check(&fixture, &expected, &label);
            (report.is_some(), is_new)
        })
        .collect();
    assert!(tried.iter().any(|&(is_done, _)| !is_done) && tried.iter().any(|&(is_done, _)| is_done));
}

#[test]
fn a_repair_that_is_killed_at_any_operation() {
    let (sound, cases) = damaged();
    let check = |fixture: &Fixture, report: &RepairReport, label: &str| sound.check(fixture, &cases, report, label);
    killed_at_every_operation(&|| damage(&sound, &cases), &sound.fixture, &check, 60);
}

#[test]
fn leaving_out_the_end_of_a_log_that_is_killed_at_any_operation() {
    let (sound, cases) = torn();
    let fixture = fixture_of(damage(&sound, &cases), &sound.fixture);
    let report = planned_and_done(&fixture, "torn");
    assert!(report.saves_everything() && report.damages.is_empty() && report.torn.len() == 1);
    sound.check(&fixture, &cases, &report, "torn");
    let failing = Failing::new(Arc::new(damage(&sound, &cases)), 0..0);
    repair(&sound.fixture.path, &sound.fixture.options.clone().with_env(Arc::new(failing.clone()))).unwrap();
    for at in points(0..failing.operations()) {
        let memory = damage(&sound, &cases);
        let env: Arc<dyn Env> = Arc::new(Failing::new(Arc::new(memory.clone()), at..u64::MAX));
        let _ = repair(&sound.fixture.path, &sound.fixture.options.clone().with_env(env));
        memory.crash();
        let fixture = fixture_of(memory, &sound.fixture);
        repair(&fixture.path, &fixture.options).unwrap();
        sound.check(&fixture, &cases, &report, &format!("operation {at}"));
    }
}
