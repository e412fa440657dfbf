//! Simhash: a pair is found if its fingerprints differ in at most k bits.

use fpsketch::{Simhash, SimhashPreset, Weights};

use crate::data::{Data, Points};

/// Largest k of fingerprints of 64 bits and of 128.
const FARTHEST: [i32; 2] = [16, 24];

pub(crate) fn measure(data: &Data) -> Vec<Points> {
    let presets = SimhashPreset::ALL.map(|preset| (preset.to_string(), Simhash::new(preset)));
    let native = || Simhash::new(SimhashPreset::Native);
    let features = ["unicode:1", "unicode:3", "unicode:5", "chars:8"].map(|features| {
        (format!("native, {features}"), native().prepared(|now| now.with_features(features.parse().unwrap())).unwrap())
    });
    let others = [
        ("native, count".to_owned(), native().with_weights(Weights::Count).unwrap()),
        ("native, 128 bits".to_owned(), native().with_width(128).unwrap()),
    ];
    presets.into_iter().chain(features).chain(others).map(|(name, simhash)| points(data, &name, &simhash)).collect()
}

fn points(data: &Data, name: &str, simhash: &Simhash) -> Points {
    let of = |text: &String| match simhash.preset() {
        SimhashPreset::Bkdr => simhash.fingerprint(tagged(text).as_str().into()),
        _ => simhash.fingerprint(text.as_str().into()),
    };
    let fingerprints: Vec<u128> = data.texts.iter().map(of).collect();
    let distance = |a: usize, b: usize| -f64::from((fingerprints[a] ^ fingerprints[b]).count_ones());
    let farthest = FARTHEST[usize::from(simhash.width() > 64)];
    let thresholds: Vec<f64> = (0..=farthest).map(|k| -f64::from(k)).collect();
    let curve = data.curve(&thresholds, distance);
    Points::new(data, "simhash", name, simhash.identity(), (0..=farthest).map(f64::from).zip(curve).collect())
}

/// The text as `bkdr` reads it: white-space tokens, each with a tag, between single spaces.
fn tagged(text: &str) -> String {
    text.split_whitespace().map(|token| format!("{token}/x")).collect::<Vec<String>>().join(" ")
}
