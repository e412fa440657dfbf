use super::*;
use proptest::prelude::*;

fn simhash(preset: SimhashPreset) -> Simhash {
    Simhash::new(preset)
}

#[test]
fn nothing_at_all() {
    for (preset, expected) in [
        (SimhashPreset::Native, 0),
        (SimhashPreset::Seomoz, 0),
        (SimhashPreset::Bkdr, 0),
        (SimhashPreset::StringHash, u64::MAX.into()),
        (SimhashPreset::StringHashJava, u64::MAX.into()),
        // One feature, the empty one: the lower half of MD5("").
        (SimhashPreset::E0ng, 0xe980_0998_ecf8_427e),
    ] {
        assert_eq!(simhash(preset).fingerprint("".into()), expected, "{preset}");
    }
    let none: &[String] = &[];
    assert_eq!(simhash(SimhashPreset::E0ng).fingerprint(none.into()), 0);
}

#[test]
fn one_feature_is_its_hash() {
    let tokens = [String::from("solitary")];
    let native = simhash(SimhashPreset::Native);
    assert_eq!(native.fingerprint("Solitary".into()), hash::of_text("solitary").into());
    assert_eq!(native.fingerprint(tokens.as_slice().into()), hash::of_text("solitary").into());
    let wide = native.with_width(128).unwrap().fingerprint("solitary".into());
    assert_eq!(wide & u128::from(u64::MAX), hash::of_text("solitary").into());
    assert_ne!(wide >> 64, 0);
}

/// These values change only with the version of `native`.
#[test]
fn values_of_version_2() {
    let texts = ["the quick brown", "the quick brown fox jumps over the lazy dog again and again", "指纹相近的文档"];
    let wide = simhash(SimhashPreset::Native).with_width(128).unwrap();
    let found = texts.map(|text| format!("{:032x}", wide.fingerprint(text.into())));
    let expected =
        ["d83649e59be88ab4268cca8ab54d9d66", "e4f325ed7aa3828c1fbaaa821205f261", "b7f3630d9f2e9e5f8dadb24816accbc6"];
    assert_eq!(found, expected);
    let narrow = texts.map(|text| format!("{:016x}", simhash(SimhashPreset::Native).fingerprint(text.into())));
    assert_eq!(narrow.as_slice(), found.each_ref().map(|wide| &wide[16..]));
}

/// A tie becomes 1 as often as 0, whatever the weights and the half of the fingerprint, and always the same for the
/// same features.
#[test]
fn ties_lean_nowhere() {
    let mut table = crate::Table::new(2.5);
    table.set("stop", 0.0);
    let tokens = simhash(SimhashPreset::Native).with_width(128).unwrap();
    let tokens = tokens.prepared(|now| now.with_features(Features::Tokens)).unwrap();
    for weights in [Weights::Distinct, Weights::Count, Weights::Table(table.into())] {
        let simhash = tokens.clone().with_weights(weights.clone()).unwrap();
        for even in [2, 4, 6] {
            let mut ones = [0; 128];
            for text in 0..1000 {
                let mut words: Vec<String> = (0..even).map(|word| format!("w{}", text * even + word)).collect();
                let fingerprint = simhash.fingerprint(words.join(" ").as_str().into());
                ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += fingerprint >> bit & 1);
                words.reverse();
                assert_eq!(simhash.fingerprint(words.join(" ").as_str().into()), fingerprint);
                if matches!(weights, Weights::Table(_)) {
                    assert_eq!(simhash.fingerprint(format!("stop {}", words.join(" ")).as_str().into()), fingerprint);
                }
            }
            // Five standard deviations.
            assert!(ones.iter().all(|ones| ones.abs_diff(500) < 80), "{weights:?}, {even}: {ones:?}");
        }
    }
}

/// Half of all bits are ties, and unrelated texts still differ in half of all bits.
#[test]
fn unrelated_short_texts_are_far() {
    let native = simhash(SimhashPreset::Native);
    let text = |number: u32| format!("a{number} b{number} c{number}");
    let fingerprints: Vec<u128> = (0..2000).map(|number| native.fingerprint(text(number).as_str().into())).collect();
    let pairs = || (0..2000).flat_map(|a| (0..a).map(move |b| (a, b)));
    let distances: Vec<u32> = pairs().map(|(a, b)| (fingerprints[a] ^ fingerprints[b]).count_ones()).collect();
    let mean = f64::from(distances.iter().sum::<u32>()) / 1_999_000.0;
    assert!((mean - 32.0).abs() < 0.1, "{mean}");
    assert_eq!(distances.iter().filter(|distance| **distance <= 6).count(), 0);
}

#[test]
fn weights_of_a_table() {
    let mut table = crate::Table::new(1.0);
    table.set("b", 0.0);
    let with = simhash(SimhashPreset::Native).prepared(|now| now.with_features(Features::Tokens)).unwrap();
    let with = with.with_weights(Weights::Table(table.clone().into())).unwrap();
    assert_eq!(with.fingerprint("a b".into()), hash::of_text("a").into());
    table.set("b", 5.0);
    let with = with.with_weights(Weights::Table(table.into())).unwrap();
    assert_eq!(with.fingerprint("a b".into()), hash::of_text("b").into());
    assert!(with.identity().contains("weights=table:"));
}

/// A table in which every feature weighs one changes nothing. Values of the package simhash 2.1.2 for weights that are
/// not integers.
#[test]
fn tables_beside_no_table() {
    let text = "a b c d e f";
    let native = simhash(SimhashPreset::Native);
    let ones = native.clone().with_weights(Weights::Table(crate::Table::new(1.0).into())).unwrap();
    let counted = native.with_weights(Weights::Count).unwrap();
    assert_eq!(ones.fingerprint(text.into()), counted.fingerprint(text.into()));

    let mut tenths = crate::Table::new(1.0);
    [("a", 0.1), ("b", 0.2), ("c", 0.3)].into_iter().for_each(|(feature, weight)| tenths.set(feature, weight));
    let tokens = ["a", "b", "c"].map(str::to_owned);
    let e0ng = simhash(SimhashPreset::E0ng).with_weights(Weights::Table(tenths.clone().into())).unwrap();
    assert_eq!(e0ng.fingerprint(tokens.as_slice().into()), 0x1144_9030_4003_5723);
    tenths.set("d", -1.0);
    assert!(simhash(SimhashPreset::E0ng).with_weights(Weights::Table(tenths.into())).is_err());
}

#[test]
fn identities() {
    let given = simhash(SimhashPreset::Native).prepared(Preparation::with_given_tokens).unwrap().identity();
    assert_eq!(given, "simhash/native/2,width=64,features=given,weights=distinct,normalise=none");
    let of = |features: &str| {
        simhash(SimhashPreset::Native).prepared(|now| now.with_features(features.parse().unwrap())).unwrap().identity()
    };
    assert_eq!(of("tokens"), of("words:1"));
    assert_eq!(
        simhash(SimhashPreset::Native).identity(),
        "simhash/native/2,width=64,features=unicode:2,weights=distinct,normalise=lower"
    );
    assert_eq!(
        simhash(SimhashPreset::Bkdr).with_width(31).unwrap().identity(),
        "simhash/bkdr/1,width=31,normalise=none"
    );
    assert_eq!(
        simhash(SimhashPreset::E0ng).identity(),
        "simhash/1e0ng/2.1.2,width=64,features=chars:4,weights=count,normalise=none"
    );
}

#[test]
fn what_is_refused() {
    for (preset, width) in [
        (SimhashPreset::Native, 32),
        (SimhashPreset::E0ng, 12),
        (SimhashPreset::E0ng, 136),
        (SimhashPreset::Seomoz, 128),
        (SimhashPreset::Bkdr, 65),
        (SimhashPreset::StringHash, 0),
    ] {
        let error = simhash(preset).with_width(width).unwrap_err().to_string();
        assert!(error.contains(&format!("{width} bits")), "{error}");
    }
    assert!(simhash(SimhashPreset::Bkdr).prepared(|now| now.with_features(Features::Tokens)).is_err());
    assert!(simhash(SimhashPreset::Bkdr).with_weights(Weights::Count).is_err());
    assert!("sim".parse::<SimhashPreset>().unwrap_err().to_string().contains("string-hash-java"));
}

proptest! {
    /// The native fingerprint depends neither on the order of features that each count once, nor on repeats.
    #[test]
    fn a_set_is_a_set(words in prop::collection::vec("[a-z]{1,6}", 1..30), again in 0_usize..30) {
        let native = simhash(SimhashPreset::Native).prepared(|now| now.with_features(Features::Tokens)).unwrap();
        let mut other = words.clone();
        other.reverse();
        other.push(words[again % words.len()].clone());
        prop_assert_eq!(native.fingerprint(words.join(" ").as_str().into()), native.fingerprint(other.join("\n").as_str().into()));
    }

    /// Any text, any preset: no panic, and no bits above the width.
    #[test]
    fn any_text(text in "\\PC{0,60}", preset in 0_usize..6, width in 1_u32..=128) {
        let simhash = simhash(SimhashPreset::ALL[preset]);
        let simhash = simhash.clone().with_width(width).unwrap_or(simhash);
        let fingerprint = simhash.fingerprint(text.as_str().into());
        prop_assert_eq!(fingerprint & !(u128::MAX >> (128 - simhash.width())), 0);
    }
}

/// Every preset counts distinct features; empty ones and those of weight zero do not count.
#[test]
fn enough_features() {
    let few =
        |simhash: &Simhash, text: &str, least| simhash.try_fingerprint(text.into(), least).map_err(|few| few.features);
    for preset in SimhashPreset::ALL {
        let simhash = simhash(preset);
        assert_eq!(few(&simhash, "", 1), Err(0), "{preset}");
        assert_eq!(few(&simhash, "", 0), Ok(simhash.fingerprint("".into())), "{preset}");
        let text = "one/n two/n three/n four/n five/n six/n";
        assert_eq!(few(&simhash, text, 3), Ok(simhash.fingerprint(text.into())), "{preset}");
        assert!(few(&simhash, text, 1000).is_err_and(|features| features >= 3), "{preset}");
        let repeated = "same/n same/n same/n same/n same/n same/n same/n same/n ";
        assert!(few(&simhash, repeated, 1).is_ok() && few(&simhash, repeated, 50).is_err(), "{preset}");
    }
    assert_eq!(few(&simhash(SimhashPreset::E0ng), " !? ", 1), Err(0), "no letters");
    assert_eq!(few(&simhash(SimhashPreset::Seomoz), "three words only", 1), Err(0));
    assert_eq!(few(&simhash(SimhashPreset::Native), "a b a b a b", 3), Err(2));
    assert_eq!(few(&simhash(SimhashPreset::Bkdr), "no tags", 1), Err(0));
    let none = [String::new()];
    assert!(simhash(SimhashPreset::Native).try_fingerprint(none.as_slice().into(), 1).is_err());
    let mut table = crate::Table::new(1.0);
    table.set("the", 0.0);
    for preset in [SimhashPreset::Native, SimhashPreset::StringHash] {
        let tokens = simhash(preset).prepared(|now| now.with_features(Features::Tokens)).unwrap();
        let stopped = tokens.with_weights(Weights::Table(table.clone().into())).unwrap();
        assert_eq!(few(&stopped, "the the", 1), Err(0), "{preset}");
        assert_eq!(few(&stopped, "the end", 2), Err(1), "{preset}");
    }
}
