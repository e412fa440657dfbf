//! Golden files of key indexes, byte for byte. They are made if there are none, as those of `golden.rs`.

use super::model::*;
use crate::decoder::decode;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::inspect;
use fpstore::{Id, IdKind, KeyFormat, KeyIndex, Maintenance, Options, Parameters};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

struct Golden {
    name: &'static str,
    parameters: Parameters,
    loads: Vec<Vec<KeyRecord>>,
    removed: Vec<Id>,
}

/// Three indexes: one with sketches in several runs, one with ids that are texts, and one run, one with frequent keys.
fn all() -> Vec<Golden> {
    let sketched = KeyFormat::default().with_sketch(48, 2);
    let loads = vec![
        records(120, 6, sketched, IdKind::Number, 1),
        records(40, 6, sketched, IdKind::Number, 2),
        vec![KeyRecord { id: Id::from(5), keys: Vec::new(), sketch: vec![0; 6] }],
    ];
    let removed = loads[0].iter().step_by(7).map(|record| record.id.clone()).collect();
    let plain = KeyFormat::default().with_key_bits(64);
    let texts = vec![records(9, 3, plain, IdKind::Text, 3)];
    vec![
        Golden { name: "sketches", parameters: parameters(sketched, IdKind::Number), loads, removed },
        Golden {
            name: "texts",
            parameters: parameters(plain, IdKind::Text).with_hasher(Some("bands/1")).with_id_index(true),
            loads: texts,
            removed: Vec::new(),
        },
        Golden {
            name: "frequent",
            parameters: parameters(plain, IdKind::Number),
            loads: vec![frequent(300, 4, plain, IdKind::Number, 4)],
            removed: Vec::new(),
        },
    ]
}

fn make(golden: &Golden, path: &Path) -> Model {
    let options = Options::new().with_maintenance(Maintenance::Manual);
    let format = golden.parameters.keys().unwrap();
    let index = KeyIndex::create(path, &golden.parameters, &options).unwrap();
    let mut model = Model::new(format);
    for load in &golden.loads {
        index.load(sorted(path, &options, format, load)).unwrap();
        model.add(load);
    }
    assert_eq!(remove(&index, &golden.removed), golden.removed.len() as u64);
    golden.removed.iter().for_each(|id| _ = model.records.remove(id));
    index.close().unwrap();
    fs::remove_file(path.join("LOCK")).unwrap();
    model
}

fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

#[test]
fn the_writer_makes_the_golden_key_indexes_and_every_reader_reads_them() {
    for golden in all() {
        let kept = root().join("tests/golden/keys").join(golden.name);
        if !kept.exists() {
            assert!(!is_build_server(), "the golden files are missing");
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            make(&golden, &kept);
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let model = make(&golden, &path);
        assert!(files(&path) == files(&kept), "{}: other bytes; look at what has changed", golden.name);
        assert!(golden.name != "frequent" || has_groups(&kept));
        assert!(verify(&kept, &Options::new()).unwrap().damages.is_empty());
        model.check(&KeyIndex::open_read_only(&kept, &Options::new()).unwrap(), 200, golden.name);
        let (options, mut shown) = (Options::new(), BTreeMap::<String, Vec<u8>>::new());
        inspect::explain(&kept, &options, &mut |file, field| {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            shown.entry(name).or_default().extend(field.bytes);
            Ok(())
        })
        .unwrap();
        let mut bytes = files(&kept);
        bytes.retain(|name, _| !name.ends_with(".wal"));
        assert!(shown == bytes, "{}: not every byte is shown", golden.name);
        if let Some(decoded) = decode(&kept) {
            assert_eq!(
                (decoded.code, decoded.records.lines().count()),
                (0, model.records.len()),
                "{}",
                decoded.messages
            );
        }
    }
}
