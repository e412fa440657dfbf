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
        // One feature: nothing. The lower half of MD5("").
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

/// A table in which all weigh one changes nothing; values of the package simhash 2.1.2 for weights that are no integers.
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
    assert_eq!(given, "simhash/native/1,width=64,features=given,weights=distinct,normalise=none");
    let of = |features: &str| {
        simhash(SimhashPreset::Native).prepared(|now| now.with_features(features.parse().unwrap())).unwrap().identity()
    };
    assert_eq!(of("tokens"), of("words:1"));
    assert_eq!(
        simhash(SimhashPreset::Native).identity(),
        "simhash/native/1,width=64,features=unicode:2,weights=distinct,normalise=lower"
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
    /// The native fingerprint does not depend on the order of features that each count once, nor on repeats.
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
