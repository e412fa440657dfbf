//! `--memory` for documents from Parquet, and for output in Parquet.
#![cfg(feature = "parquet")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::memory::peak;
use crate::points::every;
use crate::support::{Place, Random, fphash};

const MEMORY: u64 = 64 << 20;

/// Creates documents of `words` words in one row group, with pages of at most `page` bytes. One of three has the text
/// of the document before it and a word more.
fn documents(place: &Place, name: &str, count: u64, words: u64, page: usize) -> PathBuf {
    let mut random = Random::new(3);
    let file = std::fs::File::create(place.path(name)).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(page)
        .set_write_batch_size(64)
        .build();
    let mut writer = None;
    for start in (0..count).step_by(1000) {
        let ids: Vec<u64> = (start..start + 1000).collect();
        let mut text = String::new();
        let texts = ids.iter().map(|id| {
            let more = if id % 3 == 2 { 1 } else { words };
            if more > 1 {
                text.clear();
            }
            (0..more).for_each(|_| write!(text, "{:x} ", random.below(1 << 24)).unwrap());
            text.clone()
        });
        let texts: ArrayRef = Arc::new(texts.map(Some).collect::<StringArray>());
        let ids: ArrayRef = Arc::new(UInt64Array::from(ids));
        let batch = RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap();
        let writer = writer.get_or_insert_with(|| {
            ArrowWriter::try_new(file.try_clone().unwrap(), batch.schema(), Some(properties.clone())).unwrap()
        });
        writer.write(&batch).unwrap();
    }
    writer.unwrap().close().unwrap();
    place.path(name)
}

/// Row groups of about 60 MiB; their pages are small, or take a part of the memory that counts.
#[test]
fn row_groups_are_larger_than_the_memory() {
    let place = Place::new();
    let files = [("small.parquet", 30_000, 300, 1 << 20), ("large.parquet", 4000, 2000, 8 << 20)];
    for (name, count, words, page) in every(2, files) {
        let input = documents(&place, name, count, words, page);
        let hash = |arguments: &[&str]| {
            let mut run = Command::new(env!("CARGO_BIN_EXE_fphash"));
            run.args(arguments).args(["--quiet", "--threads", "8", "--memory", "64MiB", "-o"]);
            let most = peak(run.arg(place.path("out.parquet")).arg(&input));
            assert!(most <= MEMORY, "{name} {arguments:?}: {most} bytes of memory");
        };
        let load = || {
            let mut load = Command::new(env!("CARGO_BIN_EXE_fpload"));
            load.args(["--create", "--text", "--quiet", "--memory", "64MiB"]);
            let most = peak(load.args([&place.path(&format!("{name}.store")), &input]));
            assert!(most <= MEMORY, "{name}: {most} bytes of memory");
        };
        let dedup = || {
            let mut dedup = Command::new(env!("CARGO_BIN_EXE_fpdedup"));
            let [clean, gone] = ["clean.parquet", "gone.parquet"].map(|name| place.path(name));
            dedup.args(["documents", "--quiet", "--threads", "8", "--memory", "64MiB", "--verify", "0.5"]);
            let most = peak(dedup.arg("-o").arg(&clean).arg("--evidence").arg(gone).arg(&input));
            assert!(most <= MEMORY, "{name}: {most} bytes of memory");
            let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(clean).unwrap()).unwrap();
            let kept = reader.metadata().file_metadata().num_rows() as u64;
            // A word more changes seven bits now and then.
            assert!((count - count / 3..count - count / 3 + 50).contains(&kept), "{kept}");
        };
        let works: [&dyn Fn(); 4] =
            [&|| hash(&["simhash"]), &|| hash(&["minhash", "--num-perm", "1024"]), &load, &dedup];
        every(4, works).for_each(|work| work());
    }
}

/// A page that is larger than the memory cannot be read in parts: a warning says so, and the work is done.
#[test]
fn a_page_that_is_larger_than_the_memory() {
    let place = Place::new();
    let input = documents(&place, "page.parquet", 20_000, 300, 1 << 30);
    let run = |arguments: &[&str]| {
        let output = fphash().arg("simhash").args(arguments).arg(&input).assert().success().get_output().clone();
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (tight, roomy) = (run(&["--memory", "64MiB"]), run(&[]));
    assert!(tight.0 == roomy.0 && roomy.1.is_empty(), "{}", roomy.1);
    assert!(tight.1.contains("pages of Parquet are not read in parts") && tight.1.contains("--memory"), "{}", tight.1);
}
