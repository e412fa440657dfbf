//! Shared data and reference implementations of the tests.

use fpstore::env::{Env, Memory};
use fpstore::{
    Codec, Design, Fingerprint, IdKind, Maintenance, Match, Options, Parameters, ReadMode, Record, Records, Result,
    Store, distance,
};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const DESIGNS: [Design; 7] = Design::LISTED;
pub(crate) const MODES: [ReadMode; 2] = [ReadMode::Mmap, ReadMode::Pread];

/// splitmix64: the same numbers on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// The value with `flips` different random bits flipped.
    pub(crate) fn flip(&mut self, value: u64, flips: u32) -> u64 {
        let mut mask = 0u64;
        while mask.count_ones() < flips {
            mask |= 1 << self.below(64);
        }
        value ^ mask
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|folder| folder.join("format-spec").is_dir()).unwrap()
}

pub(crate) fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

/// 85,364 simhash values of real documents; see tests/data/README.md.
pub(crate) fn real() -> Vec<u64> {
    let bytes = std::fs::read(data("real_simhash64.u64")).unwrap();
    bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

pub(crate) fn uniform(count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    (0..count).map(|_| random.next()).collect()
}

/// Families of fingerprints: one of 56 bits, and others that differ from it in a few of the lower 40 bits.
pub(crate) fn families(count: usize, members: usize, seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    let mut family = || {
        let first = random.next() >> 8;
        let others = (1..members).map(|_| (0..1 + random.below(5)).fold(first, |own, _| own ^ (1 << random.below(40))));
        [first].into_iter().chain(others).collect::<Vec<u64>>()
    };
    (0..count).flat_map(|_| family()).collect()
}

/// Wide fingerprints of random words.
pub(crate) fn wide<F: Fingerprint>(count: usize, seed: u64) -> Vec<F> {
    let mut random = Random(seed);
    (0..count).map(|_| F::from_words(|_| random.next())).collect()
}

/// Numbers the fingerprints from 0.
pub(crate) fn numbered<F: Fingerprint>(fingerprints: &[F]) -> Vec<Record<F>> {
    fingerprints.iter().zip(0..).map(|(&fingerprint, id)| Record::new(fingerprint, id)).collect()
}

/// A store in memory.
pub(crate) struct Fixture {
    pub(crate) env: Memory,
    pub(crate) options: Options,
    pub(crate) path: PathBuf,
}

impl Fixture {
    pub(crate) fn new(mode: ReadMode) -> Self {
        let env = Memory::default();
        let shared: Arc<dyn Env> = Arc::new(env.clone());
        Self {
            env,
            options: Options::new().with_env(shared).with_read_mode(mode).with_maintenance(Maintenance::Manual),
            path: PathBuf::from("store"),
        }
    }

    /// The same files in a separate environment.
    pub(crate) fn copy(&self) -> Self {
        let env = self.env.deep_copy();
        let shared: Arc<dyn Env> = Arc::new(env.clone());
        Self { env, options: self.options.clone().with_env(shared), path: self.path.clone() }
    }

    /// Flips a bit of a byte of the first segment's file.
    pub(crate) fn damage(&self, at: usize) {
        let segment = self.path.join("00000001.segment");
        let mut bytes = self.env.bytes(&segment).unwrap();
        bytes[at] ^= 1;
        self.env.set_bytes(&segment, bytes);
    }

    /// Loads the records in `segments` loads of about equal size.
    pub(crate) fn load(&self, parameters: &Parameters, records: &[Record], segments: usize) -> Store {
        self.load_wide(parameters, records, segments)
    }

    /// The same with fingerprints of any width. Without ids, ignores the ids of the records.
    pub(crate) fn load_wide<F: Fingerprint>(
        &self,
        parameters: &Parameters,
        records: &[Record<F>],
        segments: usize,
    ) -> Store<F> {
        let store = Store::create(&self.path, parameters, &self.options).unwrap();
        for part in records.chunks(records.len().div_ceil(segments.max(1)).max(1)) {
            let load = match parameters.ids() {
                IdKind::None => Records::Numbered(part.iter().map(|record| record.fingerprint).collect()),
                _ => Records::WithIds(part.to_vec()),
            };
            store.bulk_load(load).unwrap();
        }
        store
    }

    /// Names and bytes of the store's files.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut names = self.env.list(&self.path).unwrap();
        names.sort();
        names
            .into_iter()
            .map(|name| self.path.join(name))
            .map(|path| (path.clone(), self.env.bytes(&path).unwrap()))
            .collect()
    }
}

pub(crate) fn store_of(parameters: &Parameters, records: &[Record], segments: usize, mode: ReadMode) -> Store {
    Fixture::new(mode).load(parameters, records, segments)
}

/// The expected answer, from a comparison with every record.
pub(crate) fn expected<F: Fingerprint>(records: &[Record<F>], query: F, k: u32) -> Vec<Match<F>> {
    let near = |record: &Record<F>| {
        let distance = distance(record.fingerprint, query);
        // Most records are not near, and copying ids takes longer than comparing.
        let found = || Match { distance, fingerprint: record.fingerprint, id: record.id.clone() };
        (distance <= k).then(found)
    };
    let mut matches: Vec<Match<F>> = records.iter().filter_map(near).collect();
    matches.sort_unstable();
    matches.dedup();
    matches
}

/// Compares the store's answers at every distance in `ks` with brute force, in parallel.
pub(crate) fn compare(
    store: &Store,
    records: &[Record],
    queries: &[u64],
    ks: std::ops::RangeInclusive<u32>,
    label: &str,
) {
    let farthest = *ks.end();
    queries.par_chunks(16).for_each(|queries| {
        let mut searcher = store.searcher();
        for &query in queries {
            let all = expected(records, query, farthest);
            for k in ks.clone() {
                // Ordered by distance: matches within k come first.
                let expected = &all[..all.partition_point(|found| found.distance <= k)];
                assert_eq!(searcher.query(query, k).unwrap(), expected, "{label}: {query:016x} within {k}");
                let any = searcher.contains_near(query, k).unwrap();
                assert_eq!(any.is_some(), !expected.is_empty(), "{label}: {query:016x} within {k}");
                assert!(any.is_none_or(|any| expected.contains(&any)));
            }
        }
    });
}

/// The parameters of every combination of design and codec.
pub(crate) fn combinations() -> impl Iterator<Item = Parameters> {
    DESIGNS.into_iter().flat_map(|design| {
        Codec::ALL.into_iter().map(move |codec| Parameters::new(3).with_design(design).with_codec(codec))
    })
}

/// Whether the environment forbids skipping a test.
pub(crate) fn is_build_server() -> bool {
    std::env::var_os("CI").is_some_and(|value| !["", "0", "false"].iter().any(|off| value == *off))
}

/// The result of `visit`, and all values that it passes on, some at a time.
pub(crate) fn gathered<T, R>(
    visit: impl FnOnce(&Add<T>, &mut dyn FnMut(Vec<T>) -> Result<ControlFlow<()>>) -> Result<R>,
) -> (Vec<T>, R) {
    let mut all = Vec::new();
    let add = |some: &mut Vec<T>, one| {
        some.push(one);
        if some.len() < 50 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut sink = |mut some: Vec<T>| {
        all.append(&mut some);
        Ok(ControlFlow::Continue(()))
    };
    let result = visit(&add, &mut sink).unwrap();
    (all, result)
}

/// Adds a value, and breaks when there are enough.
type Add<T> = dyn Fn(&mut Vec<T>, T) -> ControlFlow<()> + Sync;
