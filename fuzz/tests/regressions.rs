//! Runs every input that once failed, and every seed, through its target:
//! `RUSTFLAGS="--cfg fuzzing" cargo test --manifest-path fuzz/Cargo.toml`.
#![cfg(fuzzing)]

use std::fs;
use std::path::Path;

fn each(target: &str, run: fn(&[u8])) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["regressions", "corpus"] {
        for file in fs::read_dir(root.join(folder).join(target)).into_iter().flatten() {
            let path = file.unwrap().path();
            eprintln!("{}", path.display());
            run(&fs::read(path).unwrap());
        }
    }
}

macro_rules! targets {
    ($($target:ident)*) => { $(
        #[test]
        fn $target() {
            each(stringify!($target), fpstore_fuzz::$target);
        }
    )* };
}

targets!(block page index header_footer manifest codes id_page text_frame segment inputs differential round_trip log keys);
