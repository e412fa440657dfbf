//! MinHash with 128 values: a pair is found if its estimated similarity reaches a threshold, or if it is a candidate of
//! banding; and the errors of the estimates.

use fpsketch::bands::Bands;
use fpsketch::estimate::{b_bit, b_bit_standard_error, matching, standard_error};
use fpsketch::{MinHash, MinHashPreset, Normalise};
use serde::Serialize;

use crate::data::{Data, Found, Points};

const PLACES: usize = 128;
const SEED: u32 = 1;
/// Bits kept of each value; 32 is all of them.
const BITS: [u32; 4] = [8, 4, 2, 1];
/// Seeds over which errors are computed.
const SEEDS: u32 = 8;

/// The error of the estimates of the true pairs.
#[derive(Serialize)]
pub(crate) struct Errors {
    way: &'static str,
    pub(crate) sketch: String,
    pub(crate) bits: u32,
    pub(crate) mean: f64,
    pub(crate) root_mean_square: f64,
    /// The theoretical error.
    pub(crate) theory: f64,
}

/// The native sketch, and both sketches with the features of the definition of right pairs.
fn sketches(seed: u32) -> [(&'static str, MinHash); 3] {
    let new = |preset| MinHash::new(preset, PLACES, seed).unwrap();
    let words = new(MinHashPreset::Native).prepared(|now| now.with_features("words:5".parse().unwrap()));
    [
        ("native", new(MinHashPreset::Native)),
        ("native, words:5", words.prepared(|now| now.with_normalise(Normalise::default()))),
        ("datasketch", new(MinHashPreset::Datasketch)),
    ]
}

fn signatures(data: &Data, minhash: &MinHash) -> Vec<Vec<u64>> {
    data.texts.iter().map(|text| minhash.signature(text.as_str().into())).collect()
}

/// The estimate from `bits` bits of each value.
fn estimate(a: &[u64], b: &[u64], bits: u32) -> f64 {
    let estimate = if bits == 32 { matching(a, b) } else { b_bit(a, b, bits) };
    estimate.unwrap_or_default()
}

pub(crate) fn measure(data: &Data) -> Vec<Points> {
    let thresholds: Vec<f64> = (4..=20).rev().map(|step| f64::from(step) / 20.0).collect();
    let mut all = Vec::new();
    for (name, minhash) in sketches(SEED) {
        let signatures = signatures(data, &minhash);
        for bits in [32].into_iter().chain(BITS) {
            let curve = data.curve(&thresholds, |a, b| estimate(&signatures[a], &signatures[b], bits));
            let points: Vec<(f64, Found)> = thresholds.iter().copied().zip(curve).collect();
            let name = if bits == 32 { name.to_owned() } else { format!("{name}, bits {bits}") };
            all.push(Points::new(data, "minhash", &name, minhash.identity(), points));
        }
        all.extend([0.5, 0.8].map(|threshold| bands(data, name, &minhash, &signatures, threshold)));
    }
    all
}

fn bands(data: &Data, name: &str, minhash: &MinHash, signatures: &[Vec<u64>], threshold: f64) -> Points {
    let bands = Bands::optimal(threshold, PLACES, 0.5, 0.5).unwrap();
    let keys: Vec<Vec<u64>> = signatures.iter().map(|signature| bands.keys(signature).collect()).collect();
    let any = |a: usize, b: usize| f64::from(keys[a].iter().zip(&keys[b]).any(|(a, b)| a == b));
    let curve = data.curve(&[1.0], any);
    let name = format!("{name}, b = {}, r = {}", bands.bands, bands.rows);
    Points::new(data, "bands", &name, minhash.identity(), vec![(threshold, curve[0])])
}

/// Errors over the true pairs and several seeds.
pub(crate) fn errors(data: &Data) -> Vec<Errors> {
    let mut all: Vec<Errors> = Vec::new();
    for seed in SEED..SEED + SEEDS {
        for (name, minhash) in sketches(seed) {
            let signatures = signatures(data, &minhash);
            for bits in [32].into_iter().chain(BITS) {
                add(&mut all, data, name, &signatures, bits);
            }
        }
    }
    let count = f64::from(SEEDS) * data.pairs.len() as f64;
    for errors in &mut all {
        errors.mean /= count;
        errors.root_mean_square = (errors.root_mean_square / count).sqrt();
        errors.theory = (errors.theory / count).sqrt();
    }
    all
}

/// Adds the sums of one seed.
fn add(all: &mut Vec<Errors>, data: &Data, name: &str, signatures: &[Vec<u64>], bits: u32) {
    let place = all.iter().position(|errors| errors.sketch == name && errors.bits == bits).unwrap_or_else(|| {
        let sketch = name.to_owned();
        all.push(Errors { way: "errors", sketch, bits, mean: 0.0, root_mean_square: 0.0, theory: 0.0 });
        all.len() - 1
    });
    for pair in &data.pairs {
        let jaccard = pair.jaccard();
        let off = estimate(&signatures[pair.a], &signatures[pair.b], bits) - jaccard;
        let theory = match bits {
            32 => standard_error(jaccard, PLACES),
            _ => b_bit_standard_error(jaccard, PLACES, bits),
        };
        all[place].mean += off;
        all[place].root_mean_square += off * off;
        all[place].theory += theory * theory;
    }
}
