//! Records of every width and kind of id, as the programs should read, store and print them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::support::{Place, Random, contents, fails, fpload, fpquery, stdout};

/// A fingerprint: words, the most significant first; words beyond its width are 0.
pub(crate) type Bits = [u64; 4];

/// An id of a store. Sorts as output does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Id {
    None,
    Number(u64),
    Text(String),
}

pub(crate) type Record = (Bits, Id);

/// Kind of the ids, in the words of `--ids`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    U64,
    Text,
    None,
}

/// A width, the maximum distance of its stores here, and a kind of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    pub(crate) width: u32,
    pub(crate) distance: u32,
    pub(crate) kind: Kind,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::Text => "text",
            Self::None => "none",
        }
    }
}

impl Sort {
    pub(crate) fn new(width: u32, kind: Kind) -> Self {
        let distance = match width {
            64 => 3,
            128 => 6,
            _ => 31,
        };
        Self { width, distance, kind }
    }

    /// Returns every width with every kind.
    pub(crate) fn all() -> Vec<Self> {
        let kinds = [Kind::U64, Kind::Text, Kind::None];
        [64, 128, 256].into_iter().flat_map(|width| kinds.map(|kind| Self::new(width, kind))).collect()
    }

    /// Returns every width.
    pub(crate) fn widths(kind: Kind) -> [Self; 3] {
        [64, 128, 256].map(|width| Self::new(width, kind))
    }

    pub(crate) fn words(self) -> usize {
        self.width as usize / 64
    }

    pub(crate) fn random(self, random: &mut Random) -> Bits {
        let mut bits = [0; 4];
        bits[..self.words()].iter_mut().for_each(|word| *word = random.next());
        bits
    }

    /// Returns the fingerprint with up to `most` random bits flipped.
    pub(crate) fn near(self, random: &mut Random, bits: Bits, most: u64) -> Bits {
        (0..random.below(most + 1)).fold(bits, |mut near, _| {
            let bit = usize::try_from(random.below(self.width.into())).unwrap();
            near[bit / 64] ^= 1 << (bit % 64);
            near
        })
    }

    /// Returns records in families, in no order; some fingerprints occur more than once.
    pub(crate) fn families(self, number: usize, seed: u64) -> Vec<Record> {
        let mut random = Random::new(seed);
        let mut parent = self.random(&mut random);
        let mut records: Vec<Record> = Vec::new();
        for n in 0..number as u64 {
            if random.below(5) == 0 {
                parent = self.random(&mut random);
            }
            let most = u64::from(self.distance) * 2 / 3;
            let bits = match records.last() {
                Some((last, _)) if random.below(6) == 0 => *last,
                _ => self.near(&mut random, parent, most),
            };
            let id = match self.kind {
                Kind::U64 => Id::Number(n * 7 + 1),
                Kind::Text => Id::Text(format!("dir {}/größe \"{n}\", {}", n % 13, "x".repeat(n as usize % 40))),
                Kind::None => Id::None,
            };
            records.push((bits, id));
        }
        records.sort_by_key(|(bits, _)| bits[0].wrapping_mul(0x9e37_79b9_7f4a_7c15));
        records
    }

    pub(crate) fn hex(self, bits: &Bits) -> String {
        bits[..self.words()].iter().fold(String::new(), |mut text, word| {
            write!(text, "{word:016x}").unwrap();
            text
        })
    }

    /// Formats input lines, or the output of `fpdump scan` if the records are sorted.
    pub(crate) fn lines(self, records: &[Record]) -> String {
        records.iter().fold(String::new(), |mut text, (bits, id)| {
            text.push_str(&self.hex(bits));
            match id {
                Id::None => {}
                Id::Number(number) => write!(text, "\t{number}").unwrap(),
                Id::Text(id) => write!(text, "\t{id}").unwrap(),
            }
            text.push('\n');
            text
        })
    }

    /// Returns the output of `fpdump scan` for a store of these records.
    pub(crate) fn scan(self, records: &[Record]) -> String {
        let mut sorted = records.to_vec();
        sorted.sort();
        if self.kind != Kind::None {
            sorted.dedup();
        }
        let ids = if self.kind == Kind::None { " ids=none" } else { "" };
        let header = if self.width == 64 && ids.is_empty() {
            String::new()
        } else {
            format!("#fpstore width={}{ids}\n", self.width)
        };
        header + &self.lines(&sorted)
    }

    /// Returns the options of a creation.
    pub(crate) fn create(self) -> Command {
        let mut load = fpload();
        load.args(["--create", "--width", &self.width.to_string(), "--max-distance", &self.distance.to_string()]);
        load.args(["--ids", self.kind.name()]);
        load
    }

    pub(crate) fn store(self, place: &Place, name: &str, records: &[Record]) -> PathBuf {
        let store = place.path(name);
        self.create().arg(&store).arg("-").write_stdin(self.lines(records)).assert().success();
        store
    }

    /// Returns the matches by comparing all records, in the order of answers: distance, match, fourth column.
    pub(crate) fn brute_force(self, records: &[Record], query: &Bits, k: u32) -> Vec<(u32, Bits, Id)> {
        let distance = |bits: &Bits| bits.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        let mut found: Vec<_> = records
            .iter()
            .map(|(bits, id)| (distance(bits), *bits, id.clone()))
            .filter(|(distance, _, _)| *distance <= k)
            .collect();
        found.sort();
        if self.kind == Kind::None {
            // The count takes the place of the id.
            let runs: Vec<_> = found.chunk_by(|a, b| a == b).collect();
            return runs.into_iter().map(|run| (run[0].0, run[0].1, Id::Number(run.len() as u64))).collect();
        }
        found.dedup();
        found
    }

    /// Formats answers as `fpquery` prints them.
    pub(crate) fn answers(self, query: &Bits, found: &[(u32, Bits, Id)]) -> String {
        found.iter().fold(String::new(), |mut text, (distance, bits, id)| {
            let id = match id {
                Id::None => String::new(),
                Id::Number(number) => number.to_string(),
                Id::Text(text) => text.clone(),
            };
            writeln!(text, "{}\t{}\t{distance}\t{id}", self.hex(query), self.hex(bits)).unwrap();
            text
        })
    }

    /// Returns the answers to some queries.
    pub(crate) fn all_answers(self, records: &[Record], queries: &[Bits], k: u32) -> String {
        queries.iter().map(|query| self.answers(query, &self.brute_force(records, query, k))).collect()
    }

    pub(crate) fn hex_lines(self, queries: &[Bits]) -> String {
        queries.iter().map(|query| self.hex(query) + "\n").collect()
    }

    pub(crate) fn ask(self, store: &Path, options: &[&str], queries: &[Bits]) -> String {
        stdout(fpquery().args(options).arg(store).write_stdin(self.hex_lines(queries)))
    }
}

/// Returns every n-th fingerprint, with a few bits flipped, and some fingerprints without matches.
pub(crate) fn queries(sort: Sort, records: &[Record], step: usize, seed: u64) -> Vec<Bits> {
    let mut random = Random::new(seed);
    let near = records.iter().step_by(step).map(|(bits, _)| *bits).collect::<Vec<_>>();
    let most = u64::from(sort.distance) + 2;
    let mut queries: Vec<Bits> = near.into_iter().map(|bits| sort.near(&mut random, bits, most)).collect();
    queries.extend((0..5).map(|_| sort.random(&mut random)));
    queries
}

/// Like [`fails`], and checks that the store is unchanged.
pub(crate) fn fails_unchanged(store: &Path, command: &mut Command, parts: &[&str]) {
    let before = contents(store);
    fails(command, parts);
    assert!(contents(store) == before, "{command:?} changed the store");
}
