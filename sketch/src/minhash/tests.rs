use super::*;
use proptest::prelude::*;

fn tokens(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| format!("t{number}")).collect()
}

#[test]
fn nothing_and_one_feature() {
    for preset in MinHashPreset::ALL {
        let minhash = MinHash::new(preset, 16, 1).unwrap();
        assert_eq!(minhash.signature("".into()), [EMPTY; 16], "{preset}");
        let one = minhash.signature(tokens(0..1).as_slice().into());
        assert!(one.iter().all(|place| *place != EMPTY), "{preset}");
        assert_eq!(estimate::matching(&one, &minhash.signature(tokens(1..2).as_slice().into())), Some(0.0));
    }
}

/// Returns the bias and the root mean square error of the estimates of a preset, over many pairs of sets with this
/// similarity.
fn error(preset: MinHashPreset, size: u32, common: u32) -> (f64, f64) {
    const SEEDS: u32 = 150;
    const PLACES: usize = 64;
    let jaccard = f64::from(common) / f64::from(2 * size - common);
    let (a, b) = (tokens(0..size), tokens(size - common..2 * size - common));
    let (mut sum, mut squares) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let minhash = MinHash::new(preset, PLACES, seed).unwrap();
        let [a, b] = [&a, &b].map(|tokens| minhash.signature(tokens.as_slice().into()));
        let off = estimate::matching(&a, &b).unwrap() - jaccard;
        sum += off;
        squares += off * off;
    }
    (sum / f64::from(SEEDS), (squares / f64::from(SEEDS)).sqrt() / estimate::standard_error(jaccard, PLACES))
}

/// Fewer features than places, as many, and many more. The bounds are about four standard deviations of such
/// measurements.
#[test]
fn estimates_are_as_good_as_the_theory_says() {
    for (size, common) in [(10, 5), (70, 50), (400, 300)] {
        for preset in [MinHashPreset::Native, MinHashPreset::Datasketch] {
            let (bias, error) = error(preset, size, common);
            assert!(bias.abs() < 0.02, "{preset}: {size} {common}: bias {bias}");
            assert!(error < 1.25, "{preset}: {size} {common}: {error} standard errors");
        }
    }
}

#[test]
fn identities() {
    let minhash = MinHash::new(MinHashPreset::Native, 128, 1).unwrap();
    assert_eq!(minhash.identity(), "minhash/native/1,num-perm=128,seed=1,features=unicode:5,normalise=lower");
    assert!(Lucene::default().identity().starts_with("minhash/lucene/9.5.0,hash-count=1,bucket-count=512,"));
    assert!(MinHash::new(MinHashPreset::Native, 0, 1).is_err());
    assert!(MinHash::new(MinHashPreset::Native, 65_537, 1).is_err());
}

proptest! {
    /// Neither order nor repeats change a signature. For all other presets than native, the signature of a union is the
    /// minimum of both, if neither is empty.
    #[test]
    fn a_set_is_a_set(size in 2_u32..200, places in 1_usize..100, seed: u32) {
        for preset in MinHashPreset::ALL {
            let minhash = MinHash::new(preset, places, seed).unwrap();
            let of = |tokens: &[String]| minhash.signature(tokens.into());
            let some = tokens(0..size);
            let mut other: Vec<String> = some.iter().rev().cloned().collect();
            other.extend(tokens(0..size / 2));
            prop_assert_eq!(of(&some), of(&other));
            if preset != MinHashPreset::Native {
                let half = (size / 2) as usize;
                let least: Vec<u64> = of(&some[..half]).into_iter().zip(of(&some[half..])).map(|(a, b)| a.min(b)).collect();
                prop_assert_eq!(of(&some), least);
            }
        }
    }
}

#[test]
fn enough_features() {
    for preset in MinHashPreset::ALL {
        let minhash = MinHash::new(preset, 16, 1).unwrap();
        assert_eq!(minhash.try_signature("".into(), 1), Err(TooFew { features: 0 }), "{preset}");
        assert_eq!(minhash.try_signature("".into(), 0), Ok(vec![EMPTY; 16]), "{preset}");
        let repeated = [tokens(0..2), tokens(0..2)].concat();
        let repeated = || Document::from(repeated.as_slice());
        assert_eq!(minhash.try_signature(repeated(), 2), Ok(minhash.signature(repeated())), "{preset}");
        assert_eq!(minhash.try_signature(repeated(), 3), Err(TooFew { features: 2 }), "{preset}");
    }
    let lucene = Lucene::default();
    assert_eq!(lucene.try_sketch("four words, no more".into(), 1), Err(TooFew { features: 0 }));
    assert_eq!(
        lucene.try_sketch("one two three four five".into(), 1).map_err(|few| few.to_string()),
        Ok(lucene.sketch("one two three four five".into()))
    );
}
