//! The files that crashes leave.

mod listed;
mod random;

use fpstore::env::{Env, LogFile, Memory};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Names and bytes of all files in a directory `d`, or nothing if that is lost.
type Files = BTreeMap<String, Vec<u8>>;

fn files(env: &Memory) -> Option<Files> {
    let names = env.list(Path::new("d")).ok()?;
    Some(names.into_iter().map(|name| (name.clone(), env.bytes(&path(&name)).unwrap())).collect())
}

fn path(name: &str) -> PathBuf {
    Path::new("d").join(name)
}

/// An empty directory `d` that lasts.
fn directory() -> Memory {
    let env = Memory::default();
    env.create_dir(Path::new("d")).unwrap();
    env.sync_dir(Path::new(".")).unwrap();
    env
}

fn sync_names(env: &Memory) {
    env.sync_dir(Path::new("d")).unwrap();
}

/// Makes a file; neither its name nor its bytes last.
fn write(env: &Memory, name: &str, bytes: &[u8]) -> Box<dyn LogFile> {
    let log = env.create_log(&path(name)).unwrap();
    log.write_at(0, bytes).unwrap();
    log
}

/// Makes a file whose bytes last and whose name does not.
fn write_synced(env: &Memory, name: &str, bytes: &[u8]) -> Box<dyn LogFile> {
    let log = write(env, name, bytes);
    log.sync_data().unwrap();
    log
}
