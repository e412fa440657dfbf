//! A load that is killed or interrupted is all or nothing. `cargo xtask torture` is the long form.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::points::every;
use crate::support::{Place, contents, fpdump, fpload, stdout};

/// More records of 256 bits than fit the memory limit.
const RECORDS: u64 = 1_100_000;

fn raw(from: u64, to: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(usize::try_from(to - from).unwrap() * 32);
    for n in from..to {
        let mut value = n / 3;
        for _ in 0..3 {
            value = (value ^ (value >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&(value ^ (n % 3)).to_le_bytes());
    }
    bytes
}

fn scan(store: &Path) -> String {
    fpdump().arg("verify").arg(store).assert().success();
    stdout(fpdump().arg("scan").arg(store))
}

/// Returns the files of the store that are not segments, manifest or lock.
fn foreign_files(store: &Path) -> Vec<String> {
    let names = contents(store).into_iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned());
    let info = stdout(fpdump().args(["info", "--json"]).arg(store));
    names
        .filter(|name| !["MANIFEST", "LOCK"].contains(&name.as_str()) && !info.contains(&format!("\"{name}\"")))
        .collect()
}

fn end(child: &mut Child, interrupt: bool) {
    if interrupt {
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    } else {
        child.kill().unwrap();
    }
    child.wait().unwrap();
}

#[test]
fn killed_and_interrupted_loads() {
    let place = Place::new();
    let (more, temporary) = (place.file("more.u256", raw(100_000, 100_000 + RECORDS)), place.path("temporary"));
    std::fs::create_dir(&temporary).unwrap();
    let options = ["--memory", "64MiB", "--tmp-dir"];
    let add = |store: &Path, create: bool| {
        let mut load = Command::new(env!("CARGO_BIN_EXE_fpload"));
        if create {
            load.args(["--create", "--plan", "tables-2"]);
        }
        load.args(options).arg(&temporary).arg(store).arg(&more);
        load.stdout(Stdio::null()).stderr(Stdio::null());
        load
    };
    let base = place.path("base");
    let some = place.file("some.u256", raw(0, 100_000));
    fpload().args(["--create", "--plan", "tables-2"]).arg(&base).arg(&some).assert().success();
    let before = scan(&base);

    // The undisturbed results, of this store and of a new one.
    let copy = |to: &Path| {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir(to).unwrap();
        for (path, bytes) in contents(&base) {
            std::fs::write(to.join(path.file_name().unwrap()), bytes).unwrap();
        }
    };
    let store = place.path("store");
    copy(&store);
    let begun = Instant::now();
    assert!(add(&store, false).status().unwrap().success());
    let duration = begun.elapsed();
    let after = scan(&store);
    let new = place.path("new");
    assert!(add(&new, true).status().unwrap().success());
    let created = scan(&new);

    let moments = [
        (1, false, false),
        (3, false, true),
        (4, false, false),
        (6, true, false),
        (7, false, true),
        (8, false, false),
        (9, true, true),
        (10, false, true),
    ];
    // A short run takes one moment.
    for (n, interrupt, create) in every(8, moments) {
        let (before, after) = if create { (None, &created) } else { (Some(&before), &after) };
        if create {
            let _ = std::fs::remove_dir_all(&store);
        } else {
            copy(&store);
        }
        let mut child = add(&store, create).spawn().unwrap();
        thread::sleep(Duration::from_secs_f64(duration.as_secs_f64() * f64::from(n) / 10.0));
        end(&mut child, interrupt);
        let there = store.join("MANIFEST").exists();
        assert!(there || create, "{n}: the store has gone");
        let found = there.then(|| scan(&store));
        let committed = found.as_ref() == Some(after);
        assert!(committed || found.as_ref() == before, "{n}: neither before nor after");
        if !committed {
            assert!(add(&store, create).status().unwrap().success(), "{n}: the next run");
            assert!(scan(&store) == *after, "{n}: after the next run");
        } else {
            fpload().arg("--compact").arg(&store).assert().success();
        }
        assert_eq!(foreign_files(&store), Vec::<String>::new(), "{n}");
        assert!(contents(&temporary).is_empty(), "{n}");
    }
}
