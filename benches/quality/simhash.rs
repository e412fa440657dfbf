//! Simhash: a pair is found if its fingerprints differ in at most k bits.

use fpsketch::{Simhash, SimhashPreset, Weights};

use crate::data::{Data, Points};
use crate::ties::{Featured, Rule};
use crate::truth::Truth;

/// Maximum k for fingerprints of 64 bits and of 128.
const FARTHEST: [i32; 2] = [16, 24];
/// Minimum numbers of features of documents.
const LEAST: [usize; 8] = [1, 4, 8, 16, 32, 64, 128, 256];

pub(crate) fn measure(data: &Data) -> Vec<Points> {
    let presets = SimhashPreset::ALL.map(|preset| (preset.to_string(), Simhash::new(preset)));
    let features = ["unicode:1", "unicode:3", "unicode:5", "chars:8"].map(|features| {
        (format!("native, {features}"), native().prepared(|now| now.with_features(features.parse().unwrap())).unwrap())
    });
    let others = [
        ("native, count".to_owned(), native().with_weights(Weights::Count).unwrap()),
        ("native, 128 bits".to_owned(), native().with_width(128).unwrap()),
    ];
    let simhashes = presets.into_iter().chain(features).chain(others);
    let mut all = vec![of_ties(data, "simhash", "native 1", Rule::Zero)];
    all.extend(simhashes.map(|(name, simhash)| points(data, "simhash", &name, &simhash)));
    all.extend(Rule::ALL.map(|rule| of_ties(data, "ties", rule.name(), rule)));
    all.extend(Truth::ALL.map(|truth| points(&data.by(truth), "truth", truth.name(), &native())));
    all.extend(LEAST.map(|least| {
        let kept = data.only(|text| Featured::new(text.to_owned()).features.len() >= least);
        points(&kept, "features", &least.to_string(), &native())
    }));
    all
}

fn native() -> Simhash {
    Simhash::new(SimhashPreset::Native)
}

/// Simhash of the features of `native`, with another rule for ties.
fn of_ties(data: &Data, way: &'static str, name: &str, rule: Rule) -> Points {
    let texts = data.texts.iter().cloned().map(Featured::new);
    let fingerprints: Vec<u128> = texts.map(|text| text.fingerprint(rule).into()).collect();
    of_fingerprints(data, way, name, String::new(), &fingerprints, FARTHEST[0])
}

fn points(data: &Data, way: &'static str, name: &str, simhash: &Simhash) -> Points {
    let of = |text: &String| match simhash.preset() {
        SimhashPreset::Bkdr => simhash.fingerprint(tagged(text).as_str().into()),
        _ => simhash.fingerprint(text.as_str().into()),
    };
    let fingerprints: Vec<u128> = data.texts.iter().map(of).collect();
    let farthest = FARTHEST[usize::from(simhash.width() > 64)];
    of_fingerprints(data, way, name, simhash.identity(), &fingerprints, farthest)
}

fn of_fingerprints(
    data: &Data,
    way: &'static str,
    name: &str,
    identity: String,
    fingerprints: &[u128],
    farthest: i32,
) -> Points {
    let distance = |a: usize, b: usize| -f64::from((fingerprints[a] ^ fingerprints[b]).count_ones());
    let thresholds: Vec<f64> = (0..=farthest).map(|k| -f64::from(k)).collect();
    let curve = data.curve(&thresholds, distance);
    Points::new(data, way, name, identity, (0..=farthest).map(f64::from).zip(curve).collect())
}

/// The text in the form that `bkdr` reads: white-space tokens, each with a tag, between single spaces.
fn tagged(text: &str) -> String {
    text.split_whitespace().map(|token| format!("{token}/x")).collect::<Vec<String>>().join(" ")
}
