//! Makes the seed corpora: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`. Makes small stores of every
//! kind in memory, reads the golden files of this format version, and cuts both into inputs of the targets.

use fpstore::env::{Env, Memory};
use fpstore::{Codec, Design, Durability, Fingerprint, Id, IdKind, IdRef, Maintenance, Options, Parameters};
use fpstore::{Record, Records, Store, U256, WriteBatch};
use naive::segment::{Footer, locate_footer, read_footer};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = Seeds { folder: root.join("corpus"), segments: 0 };
    for kind in ["good", "bad"] {
        for folder in fs::read_dir(root.join("../tests/golden").join(kind)).unwrap().flatten() {
            // A bad segment is a file of its own, not a store; the fuzzer handles its faults.
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let bytes = fs::read(file.path()).unwrap();
                if bytes.len() > 12 && bytes[8..12] == (naive::conventions::VERSION as u32).to_le_bytes() {
                    seeds.file(&bytes);
                }
            }
        }
    }
    seeds.key_indexes(&root.join("../tests/golden/keys"));
    for (ids, codec) in [(0, Codec::Adaptive), (1, Codec::Adaptive), (2, Codec::Adaptive), (0, Codec::Xor)] {
        for (spread, count) in [(0, 1), (0, 400), (1, 300), (2, 40)] {
            seeds.store::<u64>(ids, codec, spread, count);
            seeds.store::<u128>(ids, codec, spread, count);
            seeds.store::<U256>(ids, codec, spread, count / 2 + 1);
        }
    }
    seeds.inputs();
    seeds.others();
}

struct Seeds {
    folder: PathBuf,
    segments: u8,
}

impl Seeds {
    fn write(&self, target: &str, parts: &[&[u8]]) {
        let bytes = parts.concat();
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{:016x}", naive::conventions::xxh64(&bytes))), bytes).unwrap();
    }

    /// To a target, and to the differential one with a leading byte that selects the structure.
    fn both(&self, target: &str, byte: u8, own: &[&[u8]], shared: &[&[u8]]) {
        self.write(target, &[own, shared].concat());
        self.write("differential", &[&[&[byte][..]], shared].concat());
    }

    /// The files of key indexes, and the keys of each run behind its records.
    fn key_indexes(&mut self, golden: &Path) {
        for folder in fs::read_dir(golden).unwrap().flatten() {
            for file in fs::read_dir(folder.path()).unwrap().flatten() {
                let keys = fs::read(file.path()).unwrap();
                self.file(&keys);
                let at = locate_footer(&keys).unwrap_or(0);
                let is_keys = read_footer(&keys[at..], at as u64).is_ok_and(|footer| footer.parameters.keys.is_some());
                let number: Option<u64> = file.path().file_stem().and_then(|stem| stem.to_str()?.parse().ok());
                if let (true, Some(number)) = (is_keys, number) {
                    let records = fs::read(folder.path().join(format!("{:08}.segment", number - 1))).unwrap();
                    for mode in [0, 4] {
                        self.write("keys", &[&[mode], &(records.len() as u16).to_le_bytes(), &records, &keys]);
                    }
                }
            }
        }
    }

    fn store<F: Fingerprint>(&mut self, ids: u8, codec: Codec, spread: u8, count: u64) {
        let env = Memory::default();
        let options = Options::new().with_env(Arc::new(env.clone())).with_maintenance(Maintenance::Manual);
        let designs =
            [Design::Tables { parts: 2 }, Design::Choose { chosen: 2, parts: 4 }, Design::Tables { parts: 3 }];
        let kind = [IdKind::Number, IdKind::Text, IdKind::None][usize::from(ids)];
        let parameters = Parameters::new(3)
            .with_width(F::WIDTH)
            .with_ids(kind)
            .with_codec(codec)
            .with_design(designs[usize::from(spread) % 3])
            .with_id_index(kind != IdKind::None && spread == 1)
            .with_block_size(128 << spread);
        let mut state = count;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state ^ state >> 29).wrapping_mul(0xbf58476d1ce4e5b9)
        };
        let mut fingerprints = BTreeSet::new();
        let mut last = F::default();
        for n in 0..count {
            if n % 12 == 0 || spread == 1 {
                last = F::from_words(|_| random());
            } else {
                last = last.flipped(random() as u32 % F::WIDTH);
            }
            fingerprints.insert(last);
        }
        let records = match kind {
            IdKind::None => Records::Numbered(fingerprints.iter().flat_map(|&one| [one, one]).collect()),
            _ => {
                let id = |n: u64| match kind {
                    IdKind::Text => Id::Text(format!("https://example.org/{n}").into()),
                    _ => Id::Number(n * 3),
                };
                let all = fingerprints.iter().zip(0u64..);
                let twice = all.flat_map(|(&one, n)| [Some(n), (n % 5 == 0).then_some(n + 1)].map(|n| (one, n)));
                Records::WithIds(
                    twice.filter_map(|(one, n)| n.map(|n| Record { fingerprint: one, id: id(n) })).collect(),
                )
            }
        };
        let path = Path::new("store");
        let written = Store::<F>::create(path, &parameters, &options).and_then(|store| {
            store.bulk_load(records)?;
            // A run with tombstones, and then a log.
            for round in 0..3u64 {
                for (&one, n) in fingerprints.iter().zip(round..round + 4) {
                    let (text, mut batch) = (format!("https://example.org/{n}"), WriteBatch::new());
                    let id = |number| match kind {
                        IdKind::Number => IdRef::Number(number),
                        IdKind::Text => IdRef::Text(&text),
                        IdKind::None => IdRef::None,
                    };
                    batch.remove_fingerprint(one);
                    for bit in 0..n as u32 {
                        batch.insert(one.flipped(bit), id(n));
                    }
                    store.write(&batch, Durability::SyncData)?;
                }
                if round == 0 {
                    store.flush()?;
                }
            }
            Ok(())
        });
        if let Err(error) = written {
            eprintln!("{parameters:?}: {error}");
            return;
        }
        let names = env.list(path).unwrap();
        for name in names.iter().filter(|name| *name != "LOCK") {
            self.file(&env.bytes(&path.join(name)).unwrap());
        }
    }

    /// A segment, a manifest or a log.
    fn file(&mut self, bytes: &[u8]) {
        if bytes.starts_with(b"fpstore") {
            self.both("manifest", 9, &[], &[&[0], bytes]);
            return;
        }
        if bytes.starts_with(b"fpstrwal") {
            // With little of the zero space after the frames.
            let used = bytes.len() - bytes.iter().rev().take_while(|&&byte| byte == 0).count();
            let bytes = &bytes[..bytes.len().min(used.next_multiple_of(8) + 16)];
            // Unchanged; without the first frames; and with a frame that does not hold.
            for mode in [1, 2, 0x10, 0x20] {
                self.both("log", 12, &[], &[&[mode], bytes]);
            }
            return;
        }
        let at = locate_footer(bytes).unwrap();
        let footer = read_footer(&bytes[at..], at as u64).unwrap();
        self.segments = self.segments.wrapping_add(4);
        if bytes.len() < 20_000 {
            self.write("segment", &[&[self.segments], bytes]);
        }
        self.write("header_footer", &[&[0], &bytes[..16]]);
        self.write("differential", &[&[10, 0, 0, 0], &bytes[..16]]);
        self.both("header_footer", 8, &[&[1]], &[&[0], &bytes[at..]]);
        self.sections(bytes, &footer);
    }

    fn sections(&self, bytes: &[u8], footer: &Footer) {
        let parameters = &footer.parameters;
        let width = [64, 128, 256].iter().position(|&width| width == parameters.width).unwrap() as u8;
        let size = [128, 256, 512, 1024, 4096, 8192, 32768, 65536];
        let size = size.iter().position(|&size| size == parameters.block_size).unwrap_or(4) as u8;
        let byte = width | u8::from(parameters.codec == 0) << 2 | size << 3 | ((parameters.id_kind + 3) % 4) << 6;
        let section = |number: usize| {
            let (start, length) = footer.places[number];
            &bytes[start as usize..(start + length) as usize]
        };
        let two = |length: usize| (length as u16).to_le_bytes();
        for table in 0..footer.blocks.len().min(2) {
            let [data, codes, index] = [0, 1, 2].map(|part| section(3 * table + part));
            let number = table as u8;
            let blocks = two(footer.blocks[table] as usize);
            self.both("index", 3, &[], &[&[byte, number], &blocks, index]);
            if data.len() < 9000 {
                let fingerprints = footer.fingerprints.to_le_bytes();
                let shape = [&[byte, number], &blocks[..], &fingerprints, &[0]].concat();
                let parts = [&shape, &two(codes.len())[..], codes, &two(index.len()), index, data];
                self.both("page", 7, &[&[1]], &parts);
            }
            let rows = number == 0 && parameters.width > 64;
            let mode = if parameters.codec == 0 && !rows { 3 } else { 1 };
            self.both("codes", 1, &[], &[&[mode, number], &codes[..codes.len() - 4]]);
            if mode == 1 && codes.len() > 6 {
                self.both("codes", 1, &[], &[&[0, number], &codes[2..codes.len() - 4]]);
            }
            if rows {
                continue;
            }
            let Ok(entries) = naive::segment::read_index(index, footer.blocks[table], parameters, number) else {
                continue;
            };
            let mut start = 0;
            for entry in entries.iter().take(4) {
                let body = &data[start..start + usize::from(entry.length)];
                start += usize::from(entry.length);
                let shape = [&[255, entry.kind], &entry.count.to_le_bytes()[..], &[0]].concat();
                let keys = [entry.base.to_le_bytes(), entry.key.to_le_bytes()].concat();
                let codes = &codes[..codes.len() - 4];
                // The target adds the four bytes of the checksum.
                self.both("block", 0, &[], &[&shape, &keys, &two(codes.len()), codes, body]);
            }
        }
        let count = footer.blocks.len();
        let [ids, index, dictionary] = [0, 1, 2].map(|part| section(3 * count + part));
        if parameters.id_kind == 2 {
            let parts = [&[0], &two(index.len())[..], index, &two(dictionary.len()), dictionary, ids];
            self.both("text_frame", 6, &[&[2]], &parts);
            let length = ((ids.len() as u64) << 40).to_le_bytes();
            self.both("text_frame", 5, &[&[1]], &[&length, index]);
            return;
        }
        for page in ids.chunks(4096) {
            self.both("id_page", 2, &[], &[&[2], &page[..page.len() - 4]]);
            self.write("differential", &[&[2, 1], &page[..page.len() - 4]]);
        }
        self.both("id_page", 10, &[], &[&[1], &two(ids.len().div_ceil(4096)), index]);
    }

    fn others(&self) {
        for payload in [&b"\x04\0a\nbc\n"[..], b"\x07\0\x02b\nbc\nbd\n", "\x02\0\u{e9}\u{20ac}\n".as_bytes()] {
            self.both("text_frame", 4, &[&[0]], &[payload]);
        }
        for code in 0..9 {
            for kind in [0, 3, 48, 62, 63] {
                let keys = [0u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
                let body: Vec<u8> = (0..60u8).map(|n| n.wrapping_mul(37) ^ code).collect();
                self.both("block", 0, &[], &[&[code, kind, 8, 0, 0], &keys, &body]);
            }
        }
        for n in 0..24u8 {
            let bytes: Vec<u8> = (0..200u8).map(|at| at.wrapping_mul(n | 1).rotate_left(n.into()) ^ n).collect();
            // The first byte is the store's shape: also with an id index, and with batches of writes.
            for more in [0, 36, 72, 108] {
                self.write("round_trip", &[&[n + more], &bytes[1..]]);
            }
        }
    }

    fn inputs(&self) {
        let hex = "#fpstore width=64 hasher=x\n# a\n\n832fe9f6aa2f461a\t17\r\n0000c4d3ba6cde29\t18\n";
        let json = "{\"fingerprint\":\"832fe9f6aa2f461a\",\"id\":17,\"x\":[1,{\"y\":\"\\u00e9\\n\"}]}\n";
        let csv = "id,fingerprint,\"a \"\"b\"\n17,832fe9f6aa2f461a,x\n\"18\",0000c4d3ba6cde29,\"y\n,\"\n";
        for options in [0u8, 4, 8, 12, 16, 32, 48] {
            self.write("inputs", &[&[0, options], hex.as_bytes()]);
            self.write("inputs", &[&[1, options], "832fe9f6aa2f461a\t/a/\u{e9} b\n".as_bytes()]);
            self.write("inputs", &[&[1, options], format!("{:032x}\n{:032x}\t\n", 7, 1).as_bytes()]);
            self.write("inputs", &[&[1, options], format!("{:064x}\t5\n", 7).as_bytes()]);
            self.write("inputs", &[&[2, options], b"9453233124892968474\t1\n18446744073709551616\t2\n"]);
            self.write("inputs", &[&[3 + options / 16 % 3, options], &[7; 64]]);
            self.write("inputs", &[&[7, options], json.as_bytes()]);
            self.write("inputs", &[&[9, options], csv.as_bytes()]);
        }
        self.write("inputs", &[&[7, 3], b"{\"f\":5,\"i\":\"a\"}\n{\"i\":null,\"f\":\"000000000000000A\"}"]);
        self.write("inputs", &[&[9, 3], b"\xef\xbb\xbff,i\n000000000000000a,1\n"]);
        let zst = zstd_frame(json.as_bytes());
        self.write("inputs", &[&[12, 0], &zst]);
        self.write("inputs", &[&[14, 0], &zstd_frame(&[9; 40])]);
        let gz = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x11\0\xee\xff832fe9f6aa2f461a\n\0\0\0\0\0\0\0\0";
        self.write("inputs", &[&[11, 0], gz]);
    }
}

/// A frame of Zstandard with one raw block.
fn zstd_frame(bytes: &[u8]) -> Vec<u8> {
    let head = ((bytes.len() as u32) << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, bytes.len() as u8], &head[..3], bytes].concat()
}
