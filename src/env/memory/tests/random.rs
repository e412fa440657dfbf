//! Larger cases, crashed with random answers.

use super::*;
use std::collections::BTreeSet;

/// A sequence that looks random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

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

#[test]
fn a_replaced_file_is_the_old_one_or_the_new_one() {
    let (old, new) = ([b'o'; 1300], [b'n'; 2100]);
    let mut seen = BTreeMap::new();
    for seed in 0..200 {
        let (env, mut random) = (directory(), Random(seed));
        drop(write_synced(&env, "a", &old));
        sync_names(&env);
        drop(write_synced(&env, "a.tmp", &new));
        env.rename(&path("a.tmp"), &path("a")).unwrap();
        env.crash_keeping(|| random.below(2) == 0);
        let is_new = env.bytes(&path("a")).unwrap() == new;
        assert!(is_new || env.bytes(&path("a")).unwrap() == old, "seed {seed}");
        let temporary = env.bytes(&path("a.tmp"));
        assert!(temporary.is_none() || temporary.as_deref() == Some(&new) && !is_new, "seed {seed}: half a rename");
        *seen.entry((is_new, temporary.is_some())).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen.values().all(|&times| times > 20), "{seen:?}");
}

#[test]
fn a_torn_tail_is_old_new_or_zeros_sector_by_sector() {
    let mut lengths = BTreeMap::new();
    let mut torn = 0;
    for seed in 0..200 {
        let (env, mut random) = (directory(), Random(seed));
        let synced = 600 + usize::try_from(random.below(1000)).unwrap();
        let log = write_synced(&env, "a", &vec![b'o'; synced]);
        sync_names(&env);
        let from = usize::try_from(random.below(synced as u64)).unwrap();
        log.write_at(from as u64, &vec![b'n'; 3000 - from]).unwrap();
        env.crash_keeping(|| random.below(2) == 0);
        let left = env.bytes(&path("a")).unwrap();
        assert!(left.len() == synced || left.len() == 3000, "seed {seed}");
        assert!(left[..from].iter().all(|&byte| byte == b'o'), "seed {seed}");
        let before = |at: usize| if at < synced { b'o' } else { 0 };
        let mut sectors = BTreeSet::new();
        let mut begin = from;
        while begin < left.len() {
            let end = left.len().min((begin / 512 + 1) * 512);
            let is_new = left[begin..end].iter().all(|&byte| byte == b'n');
            let is_old = (begin..end).all(|at| left[at] == before(at));
            assert!(is_new || is_old, "seed {seed}: {begin}..{end} is mixed");
            sectors.insert(is_new);
            begin = end;
        }
        torn += usize::from(sectors.len() == 2);
        *lengths.entry(left.len() == 3000).or_insert(0) += 1;
    }
    assert!(torn > 50, "{torn} torn writes");
    assert!(lengths.len() == 2 && lengths.values().all(|&times| times > 50), "{lengths:?}");
}
