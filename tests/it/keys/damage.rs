//! Damaged files of a key index.

use super::model::*;
use crate::points::points;
use fpstore::admin::verify;
use fpstore::keys::{KeyQuery, QueryKeys};
use fpstore::{BatchStrategy, ErrorKind, IdKind, KeyFormat, KeyIndex, Maintenance, Options};

#[test]
fn every_flipped_byte_is_noticed() {
    let format = KeyFormat::default().with_sketch(40, 2);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let options = Options::new().with_maintenance(Maintenance::Manual);
    let all = frequent(250, 4, format, IdKind::Text, 3);
    let input = sorted(&path, &options, format, &all);
    drop(KeyIndex::create_loaded(&path, &parameters(format, IdKind::Text), &options, input).unwrap());
    assert!(has_groups(&path));
    let mut model = Model::new(format);
    model.add(&all);
    let names = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = names.filter(|path| !path.ends_with("LOCK")).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        let sound = std::fs::read(&file).unwrap();
        for at in points(0..sound.len()) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&file, &damaged).unwrap();
            let noticed = match verify(&path, &options) {
                Ok(report) => !report.damages.is_empty(),
                Err(error) => matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unsupported),
            };
            assert!(noticed, "byte {at} of {}", file.display());
            // Answers are right, or an error.
            if let Ok(index) = KeyIndex::open_read_only(&path, &options) {
                let record = &all[at % all.len()];
                if let Ok(found) = index.query(&record.keys, &record.sketch, &KeyQuery::new()) {
                    assert_eq!(found, model.query(&record.keys, &record.sketch, &Wanted::all()), "byte {at}");
                }
                let asked = [QueryKeys { keys: &record.keys, sketch: &record.sketch }];
                let merged = index.searcher().query_batch(&asked, &KeyQuery::new(), BatchStrategy::Always);
                if let Ok(found) = merged {
                    assert_eq!(found, [model.query(&record.keys, &record.sketch, &Wanted::all())], "byte {at}");
                }
            }
        }
        std::fs::write(&file, &sound).unwrap();
    }
    assert!(verify(&path, &options).unwrap().damages.is_empty());
}
