//! Longest sentences: a pair is found if any key is in both, or if all keys are the same.

use fpsketch::sentences;

use crate::data::{Data, Points};

pub(crate) fn measure(data: &Data) -> Vec<Points> {
    let mut all = Vec::new();
    for wanted in [1, 3, 5] {
        let keys: Vec<Vec<u64>> = data.texts.iter().map(|text| sentences(text.as_str().into(), wanted)).collect();
        let any = |a: usize, b: usize| f64::from(keys[a].iter().any(|key| keys[b].contains(key)));
        let same = |a: usize, b: usize| f64::from(!keys[a].is_empty() && keys[a] == keys[b]);
        let points = |name: &str, found| {
            let identity = format!("sentences/{wanted}");
            Points::new(data, "sentences", name, identity, vec![(f64::from(u8::try_from(wanted).unwrap()), found)])
        };
        all.push(points("any", data.curve(&[1.0], any)[0]));
        all.push(points("all", data.curve(&[1.0], same)[0]));
    }
    all
}
