//! Inputs of the programs.

use crate::Take;
use fpstore::{Fingerprint, IdKind, IdRef, U256};
use fpstore_tools::input::{Format, IdRule, Ids, Input, InputOptions, Source, feed};
use fpstore_tools::progress::Progress;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Files of this process, in memory if the system supports it.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = folder.join(format!("fpstore-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
});

/// A file of any format is refused with an error that names it, or read, twice with the same result. Ids are legal.
pub fn inputs(data: &[u8]) {
    let mut take = Take(data);
    let (name, options) = (take.u8(), take.u8());
    let content = take.rest();
    let names = [
        "a.hex",
        "a.tsv",
        "a.dec",
        "a.u64",
        "a.u128",
        "a.u256",
        "a.bin",
        "a.ndjson",
        "a.json",
        "a.csv",
        "a.txt",
        "a.hex.gz",
        "a.ndjson.zst",
        "a.csv.gz",
        "a.u64.zst",
        "a.parquet",
    ];
    let path = FOLDER.join(names[usize::from(name & 15)]);
    std::fs::write(&path, content).unwrap();
    let formats = [None, Some(Format::Hex), Some(Format::Dec), Some(Format::Le), Some(Format::Ndjson)];
    let chosen = InputOptions {
        format: if name & 16 == 0 { None } else { formats[usize::from(name >> 5) % formats.len()] },
        fingerprint_column: (options & 1 != 0).then(|| "f".to_owned()),
        id_column: (options & 2 != 0).then(|| "i".to_owned()),
        delimiter: (options & 64 != 0 && name & 16 == 0).then_some(b';'),
        temp_dir: Some(FOLDER.clone()),
        ..InputOptions::default()
    };
    let ids = [Ids::Auto, Ids::Is(IdKind::Number), Ids::Is(IdKind::Text), Ids::Is(IdKind::None)]
        [usize::from(options >> 2 & 3)];
    let source = Source::File(path.clone());
    let read = || match options >> 4 & 3 {
        0 => fed::<u64>(&source, &chosen, ids),
        1 => fed::<u128>(&source, &chosen, ids),
        2 => fed::<U256>(&source, &chosen, ids),
        _ => match Input::open(&source, &chosen, &Progress::hidden()).ok().and_then(|input| input.width()) {
            Some(128) => fed::<u128>(&source, &chosen, ids),
            Some(256) => fed::<U256>(&source, &chosen, ids),
            _ => fed::<u64>(&source, &chosen, ids),
        },
    };
    let first = read();
    assert_eq!(first, read());
    if let Err(error) = first {
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
}

/// The number of records, and a sum over them; or the error.
fn fed<F: Fingerprint>(source: &Source, options: &InputOptions, ids: Ids) -> Result<(u64, u64), String> {
    let (mut count, mut sum, mut rule) = (0, 0u64, IdRule::new(ids));
    let mut push = |fingerprint: F, id: IdRef<'_>| {
        let id = match id {
            IdRef::None => 1,
            IdRef::Number(number) => number,
            IdRef::Text(text) => {
                fpstore::fuzzing::check_text(text).unwrap();
                text.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte) & 0xffff_ffff)
            }
        };
        sum = (0..F::WORDS).fold(sum, |sum, word| sum.rotate_left(7) ^ fingerprint.word(word)).wrapping_add(id);
        count += 1;
        Ok(())
    };
    let mut read = || -> anyhow_free::Result {
        let mut reader = Input::open(source, options, &Progress::hidden())?.reader()?;
        feed(&mut reader, &mut rule, &mut push)?;
        Ok(())
    };
    match read() {
        Ok(()) => Ok((count, sum)),
        Err(error) => Err(error.to_string()),
    }
}

/// Errors of the programs, without a dependency on the crate that defines them.
mod anyhow_free {
    pub(super) type Result = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;
}
