//! Small cases, crashed with all combinations of answers; every outcome is listed.

use super::*;
use std::collections::BTreeSet;

/// Crashes a copy. The bits of `answers`, from the lowest on, are the answers; returns how many were used.
fn crashed(env: &Memory, answers: u64) -> (Memory, u32) {
    let copy = env.deep_copy();
    let mut asked = 0;
    copy.crash_keeping(|| {
        asked += 1;
        answers >> (asked - 1) & 1 == 1
    });
    (copy, asked)
}

/// The states that crashes may leave, as text, by trying all answers for `units` units. All `true` keeps everything,
/// all `false` is a plain crash.
fn outcomes(env: &Memory, units: u32) -> BTreeSet<String> {
    let copy = env.deep_copy();
    copy.crash();
    assert_eq!(files(&crashed(env, 0).0), files(&copy));
    assert_eq!(files(&crashed(env, u64::MAX).0), files(env));
    assert_eq!(crashed(env, u64::MAX).1, units);
    let all = (0..1 << units).map(|answers| {
        let (copy, asked) = crashed(env, answers);
        assert!(asked <= units);
        let left = files(&copy);
        copy.crash();
        assert_eq!(files(&copy), left, "what a crash leaves is synced");
        left
    });
    all.map(|files| files.map_or_else(|| "lost".to_owned(), |files| text(&files))).collect()
}

/// Names and bytes, consecutive equal bytes once.
fn text(files: &Files) -> String {
    let file = |(name, bytes): (&String, &Vec<u8>)| {
        let mut bytes = bytes.clone();
        bytes.dedup();
        format!("{name}={}", String::from_utf8_lossy(&bytes).replace('\0', "."))
    };
    files.iter().map(file).collect::<Vec<_>>().join(" ")
}

fn set<const N: usize>(states: [&str; N]) -> BTreeSet<String> {
    states.into_iter().map(str::to_owned).collect()
}

#[test]
fn what_is_synced_lasts() {
    let env = Memory::default();
    env.create_dir(Path::new("d")).unwrap();
    let log = write_synced(&env, "a", b"x");
    env.create(&path("b")).unwrap().sync().unwrap();
    sync_names(&env);
    assert_eq!(outcomes(&env, 1), set(["lost", "a=x b="]));
    env.sync_dir(Path::new(".")).unwrap();
    assert_eq!(outcomes(&env, 0), set(["a=x b="]));
    log.allocate(3).unwrap();
    assert_eq!(outcomes(&env, 1), set(["a=x b=", "a=x. b="]));
    log.sync_all().unwrap();
    let mut file = env.create(&path("b")).unwrap();
    io::Write::write_all(&mut file, b"y").unwrap();
    assert_eq!(outcomes(&env, 2), set(["a=x. b=", "a=x. b=.", "a=x. b=y"]));
    let copy = env.deep_copy();
    file.sync().unwrap();
    assert_eq!(outcomes(&env, 0), set(["a=x. b=y"]));
    copy.sync_file(&path("b")).unwrap();
    assert_eq!(outcomes(&copy, 0), set(["a=x. b=y"]));
}

#[test]
fn names_survive_one_by_one() {
    let env = directory();
    drop(write_synced(&env, "a", b"x"));
    assert_eq!(outcomes(&env, 1), set(["", "a=x"]));
    sync_names(&env);
    env.remove(&path("a")).unwrap();
    assert_eq!(outcomes(&env, 1), set(["", "a=x"]));
    drop(write_synced(&env, "a", b"y"));
    assert_eq!(outcomes(&env, 2), set(["", "a=x", "a=y"]));
    sync_names(&env);
    env.hard_link(&path("a"), &path("b")).unwrap();
    env.remove(&path("a")).unwrap();
    assert_eq!(outcomes(&env, 2), set(["", "a=y", "b=y", "a=y b=y"]));
}

#[test]
fn a_rename_is_one_unit() {
    let env = directory();
    drop(write_synced(&env, "t", b"x"));
    env.rename(&path("t"), &path("a")).unwrap();
    assert_eq!(outcomes(&env, 2), set(["", "t=x", "a=x"]));
    // Syncs other names.
    env.sync_dir(Path::new(".")).unwrap();
    assert_eq!(outcomes(&env, 2), set(["", "t=x", "a=x"]));
    sync_names(&env);
    drop(write_synced(&env, "t", b"y"));
    env.rename(&path("t"), &path("a")).unwrap();
    assert_eq!(outcomes(&env, 2), set(["a=x", "a=x t=y", "a=y"]));
}

#[test]
fn a_rename_to_another_directory_lasts_with_either() {
    for synced in ["d", "e"] {
        let env = directory();
        env.create_dir(Path::new("e")).unwrap();
        env.sync_dir(Path::new(".")).unwrap();
        drop(write_synced(&env, "a", b"x"));
        drop(write_synced(&env, "b", b"z"));
        env.rename(&path("a"), Path::new("e/a")).unwrap();
        assert_eq!(outcomes(&env, 3), set(["", "a=x", "b=z", "a=x b=z"]));
        env.sync_dir(Path::new(synced)).unwrap();
        // The creation of the old name must not come after the rename; that of the other file is as open as before.
        let expected = if synced == "d" { set(["b=z"]) } else { set(["", "b=z"]) };
        assert_eq!(outcomes(&env, u32::from(synced == "e")), expected);
        env.crash();
        assert_eq!(env.bytes(Path::new("e/a")).unwrap(), b"x");
    }
}

#[test]
fn what_is_in_a_lost_directory_is_lost() {
    let env = directory();
    let deep = Path::new("d/e/f");
    env.create_dir(deep).unwrap();
    env.create(&deep.join("x")).unwrap().sync().unwrap();
    env.sync_dir(deep).unwrap();
    env.sync_dir(Path::new("d/e")).unwrap();
    let copy = env.deep_copy();
    copy.crash();
    assert!(copy.list(deep).is_err() && copy.bytes(&deep.join("x")).is_none());
    copy.create_dir(deep).unwrap();
    assert!(copy.list(deep).unwrap().is_empty());
    sync_names(&env);
    env.crash();
    assert_eq!(env.list(deep).unwrap(), ["x"]);
    env.remove(&deep.join("x")).unwrap();
    env.remove_dir(deep).unwrap();
    assert!(env.list(deep).is_err());
    // The directory's removal alone survives, or none of it.
    let (copy, _) = crashed(&env, 0b10);
    assert!(copy.list(deep).is_err());
    env.crash();
    assert_eq!(env.list(deep).unwrap(), ["x"]);
}

#[test]
fn a_write_is_torn_at_sector_borders() {
    let env = directory();
    let log = write_synced(&env, "a", &[b'o'; 2000]);
    sync_names(&env);
    log.write_at(300, &[b'n'; 1000]).unwrap();
    // Three sectors: up to 512, up to 1024, up to 1300.
    assert_eq!(outcomes(&env, 3), set(["a=o", "a=ono", "a=onono"]));
    for answers in 0..8 {
        let bytes = crashed(&env, answers).0.bytes(&path("a")).unwrap();
        let mut expected = [b'o'; 2000];
        for (sector, place) in [300..512, 512..1024, 1024..1300].into_iter().enumerate() {
            if answers >> sector & 1 == 1 {
                expected[place].fill(b'n');
            }
        }
        assert_eq!(bytes, expected, "answers {answers:b}");
    }
    // A later write of the same sector survives without the earlier one, or the other way round.
    let log = write_synced(&env, "b", b"....");
    sync_names(&env);
    env.sync_file(&path("a")).unwrap();
    log.write_at(0, b"12").unwrap();
    log.write_at(1, b"34").unwrap();
    let left = outcomes(&env, 2);
    assert_eq!(left, set(["a=ono b=.", "a=ono b=12.", "a=ono b=.34.", "a=ono b=134."]));
}

#[test]
fn lengths_survive_apart_from_bytes() {
    let env = directory();
    let log = write_synced(&env, "a", b"ab");
    sync_names(&env);
    log.write_at(2, b"cd").unwrap();
    assert_eq!(outcomes(&env, 2), set(["a=ab", "a=ab.", "a=abcd"]));
    log.allocate(6).unwrap();
    // The later length takes the bytes in, whether the earlier one survived or not.
    let left: BTreeSet<_> = (0..8).map(|answers| crashed(&env, answers).0.bytes(&path("a")).unwrap()).collect();
    let expected: [&[u8]; 5] = [b"ab", b"ab\0\0", b"abcd", b"ab\0\0\0\0", b"abcd\0\0"];
    assert_eq!(left, expected.map(<[u8]>::to_vec).into());
    // Answers: the length 4, the bytes, the length 6.
    let left = |answers| crashed(&env, answers).0.bytes(&path("a")).unwrap();
    assert_eq!((left(0b010), left(0b110)), (b"ab".to_vec(), b"abcd\0\0".to_vec()));
}

#[test]
fn a_file_that_is_emptied_may_come_back() {
    let env = directory();
    drop(write_synced(&env, "a", b"old"));
    sync_names(&env);
    drop(env.create_log(&path("a")).unwrap());
    assert_eq!(outcomes(&env, 1), set(["a=old", "a="]));
    env.sync_file(&path("a")).unwrap();
    env.set_bytes(&path("a"), b"n".to_vec());
    env.set_bytes(&path("a"), b"new".to_vec());
    assert_eq!(outcomes(&env, 2), set(["a=", "a=.", "a=new"]));
    env.crash();
    assert_eq!(env.bytes(&path("a")).unwrap(), b"");
}

#[test]
fn names_of_one_file_have_the_same_bytes_after_a_crash() {
    let env = directory();
    let log = write_synced(&env, "a", b"x");
    env.hard_link(&path("a"), &path("b")).unwrap();
    sync_names(&env);
    log.write_at(0, b"y").unwrap();
    assert_eq!(outcomes(&env, 1), set(["a=x b=x", "a=y b=y"]));
    let (copy, _) = crashed(&env, 1);
    drop(write(&copy, "a", b"z"));
    assert_eq!(text(&files(&copy).unwrap()), "a=z b=z");
    assert_eq!(text(&files(&env).unwrap()), "a=y b=y");
}

#[test]
fn a_copy_is_independent() {
    let env = directory();
    let log = write(&env, "a", b"x");
    let lock = env.lock(&path("lock")).unwrap();
    let copy = env.deep_copy();
    drop(copy.lock(&path("lock")).unwrap());
    assert!(env.lock(&path("lock")).is_err());
    log.write_at(0, b"y").unwrap();
    drop(write(&copy, "b", b"z"));
    env.sync_file(&path("a")).unwrap();
    sync_names(&env);
    assert_eq!(text(&files(&env).unwrap()), "a=y lock=");
    assert_eq!(text(&files(&copy).unwrap()), "a=x b=z lock=");
    copy.crash();
    assert_eq!(text(&files(&copy).unwrap()), "");
    env.crash();
    assert_eq!(text(&files(&env).unwrap()), "a=y lock=");
    drop(lock);
}

#[test]
fn what_was_open_before_a_crash_changes_nothing_after_it() {
    let env = directory();
    let log = write_synced(&env, "a", b"x");
    sync_names(&env);
    let lock = env.lock(&path("lock")).unwrap();
    env.crash();
    assert!(log.write_at(0, b"y").is_err() && log.allocate(2).is_err() && log.sync_all().is_err());
    assert_eq!(env.bytes(&path("a")).unwrap(), b"x");
    let again = env.lock(&path("lock")).unwrap();
    drop(lock);
    assert_eq!(env.lock(&path("lock")).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(again);
    drop(env.lock(&path("lock")).unwrap());
}
