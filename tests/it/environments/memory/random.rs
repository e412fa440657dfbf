//! Larger cases, crashed with random answers.

use super::*;
use crate::support::Random;

/// Does something to the files whose names are given, if it can be done.
fn act(env: &Memory, random: &mut Random, names: &[&str]) {
    let mut name = || path(names[usize::try_from(random.below(names.len() as u64)).unwrap()]);
    let (one, two) = (name(), name());
    let open = |env: &Memory| env.create_log(&one).unwrap();
    match random.below(6) {
        0 | 1 => {
            let log = open(env);
            let fill = u8::try_from(random.below(250)).unwrap() + 1;
            log.write_at(random.below(1500), &vec![fill; usize::try_from(random.below(1500)).unwrap()]).unwrap();
            log.allocate(random.below(4000)).unwrap();
            if random.below(3) == 0 {
                log.sync_data().unwrap();
            }
        }
        2 => drop(env.rename(&one, &two)),
        3 => drop(env.hard_link(&one, &two)),
        4 => drop(env.remove(&one)),
        _ => drop(env.sync_file(&one)),
    }
}

#[test]
fn whatever_else_happens_what_was_synced_is_there() {
    let (safe, other) = (["a", "b", "c"], ["u", "v", "w"]);
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..300 {
        let (env, mut random) = (directory(), Random(seed));
        (0..20).for_each(|_| act(&env, &mut random, &safe));
        for name in env.list(Path::new("d")).unwrap() {
            env.sync_file(&path(&name)).unwrap();
        }
        sync_names(&env);
        let synced = files(&env).unwrap();
        (0..20).for_each(|_| act(&env, &mut random, &other));
        let before = files(&env).unwrap();
        let copy = env.deep_copy();
        copy.crash();
        assert_eq!(files(&copy).unwrap(), synced, "seed {seed}");
        let copy = env.deep_copy();
        copy.crash_keeping(|| true);
        assert_eq!(files(&copy).unwrap(), before, "seed {seed}");
        assert_eq!(files(&env).unwrap(), before, "seed {seed}");
        env.crash_keeping(|| random.below(2) == 0);
        let left = files(&env).unwrap();
        assert!(synced.iter().all(|(name, bytes)| left.get(name) == Some(bytes)), "seed {seed}");
        kept += left.len() - synced.len();
        lost += before.keys().filter(|name| !left.contains_key(*name)).count();
    }
    assert!(kept > 100 && lost > 100, "{kept} files kept, {lost} lost");
}
