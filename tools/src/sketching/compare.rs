//! Methods of comparing two documents (`fphash compare`): fingerprints of simhash, signatures of MinHash, or sketches of
//! Lucene's filter.

use anyhow::{Context, bail};
use fpsketch::compare::{distance, equal_bits, ratio};
use fpsketch::{EMPTY, Lucene, LuceneTerm, MinHash, Simhash, SimhashPreset, TooFew, estimate, packed};

use super::fingerprint::fingerprint as fingerprint_of;
use super::signatures::{LUCENE, SignatureOptions};
use crate::documents::Location;

/// Usual least share of equal bits of two fingerprints of similar documents.
const FINGERPRINTS: f64 = 0.95;
/// Usual least estimated Jaccard similarity of two signatures.
const SIGNATURES: f64 = 0.8;

/// One of the two sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// A text.
    Document(String),
    /// Hexadecimal digits in lower case, of the expected number.
    Digits(String),
}

/// How sketches are made and compared.
#[derive(Clone, Debug)]
pub enum Method {
    /// Fingerprints.
    Simhash(Simhash),
    /// Signatures.
    MinHash(MinHash),
    /// Sketches of the token filter.
    Lucene(Lucene),
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The two sketches in hexadecimal digits, as `fphash simhash` and `fphash minhash` write them.
    pub hex: [String; 2],
    /// Number of differing bits or places.
    pub distance: usize,
    /// Their similarity, 0 to 1.
    pub similarity: f64,
    /// Standard error of an estimated similarity.
    pub standard_error: Option<f64>,
}

impl Method {
    /// Signatures of MinHash, or sketches of Lucene's filter, as the options say.
    ///
    /// # Errors
    ///
    /// If the preset does not support the options.
    pub fn signatures(options: &SignatureOptions) -> anyhow::Result<Self> {
        Ok(if options.preset == LUCENE {
            Self::Lucene(options.lucene(false)?)
        } else {
            Self::MinHash(options.minhash(false)?)
        })
    }

    /// Hexadecimal digits of a sketch, if it can be given as such.
    #[must_use]
    pub fn digits(&self) -> Option<usize> {
        match self {
            Self::Simhash(simhash) => Some(simhash.width().div_ceil(4) as usize),
            Self::MinHash(minhash) => Some(digits_of_a_place(minhash) * minhash.places()),
            Self::Lucene(_) => None,
        }
    }

    /// Returns the error of a document without features, which this method cannot distinguish from other such
    /// documents.
    #[must_use]
    pub fn few(&self, side: &Side) -> Option<TooFew> {
        let Side::Document(text) = side else { return None };
        let document = text.as_str().into();
        match self {
            Self::Simhash(simhash) => fingerprint_of(simhash, document, &Location::Whole("".into()), 1).err(),
            Self::MinHash(minhash) => minhash.try_signature(document, 1).err(),
            Self::Lucene(lucene) => lucene.try_sketch(document, 1).err(),
        }
    }

    /// Default threshold of the method.
    #[must_use]
    pub fn usual_threshold(&self) -> f64 {
        if let Self::Simhash(_) = self { FINGERPRINTS } else { SIGNATURES }
    }

    /// Compares two sides.
    ///
    /// # Errors
    ///
    /// If digits are no sketch of this method.
    pub fn compare(&self, a: &Side, b: &Side) -> anyhow::Result<Compared> {
        match self {
            Self::Simhash(simhash) => {
                let (a, b) = (fingerprint(simhash, a)?, fingerprint(simhash, b)?);
                Ok(fingerprints(simhash, a, b))
            }
            Self::MinHash(minhash) => {
                signatures(&signature(minhash, a)?, &signature(minhash, b)?, minhash.place_bits())
            }
            Self::Lucene(lucene) => sketches(lucene, a, b),
        }
    }

    /// Whether the compared documents are similar. bkdr's own code requires more equal bits than the threshold, not as
    /// many.
    #[allow(clippy::cast_precision_loss, reason = "at most 128 bits")]
    #[must_use]
    pub fn similar(&self, compared: &Compared, threshold: f64) -> bool {
        match self {
            Self::Simhash(simhash) if simhash.preset() == SimhashPreset::Bkdr => {
                let width = f64::from(simhash.width());
                width - compared.distance as f64 > width * threshold
            }
            _ => compared.similarity >= threshold,
        }
    }
}

/// Returns the fingerprint of a document, or the given one.
fn fingerprint(simhash: &Simhash, side: &Side) -> anyhow::Result<u128> {
    match side {
        Side::Document(text) => Ok(fingerprint_of(simhash, text.as_str().into(), &Location::Whole("".into()), 0)?),
        Side::Digits(digits) => {
            let number = u128::from_str_radix(digits, 16).with_context(|| digits.clone())?;
            if number.checked_shr(simhash.width()).is_some_and(|above| above > 0) {
                bail!("{digits}: a fingerprint of {} bits is not as large as that", simhash.width());
            }
            Ok(number)
        }
    }
}

fn fingerprints(simhash: &Simhash, a: u128, b: u128) -> Compared {
    let width = simhash.width();
    let digits = width.div_ceil(4) as usize;
    let similarity = match simhash.preset() {
        // The similarity of the article behind these presets.
        SimhashPreset::StringHash | SimhashPreset::StringHashJava => ratio(a, b),
        _ => equal_bits(a, b, width),
    };
    let hex = [a, b].map(|fingerprint| format!("{fingerprint:0digits$x}"));
    Compared { hex, distance: distance(a, b) as usize, similarity, standard_error: None }
}

fn digits_of_a_place(minhash: &MinHash) -> usize {
    minhash.place_bits().div_ceil(4) as usize
}

/// Returns the signature of a document, or the given one.
fn signature(minhash: &MinHash, side: &Side) -> anyhow::Result<Vec<u64>> {
    match side {
        Side::Document(text) => Ok(minhash.signature(text.as_str().into())),
        Side::Digits(digits) => {
            let places = digits.as_bytes().chunks(digits_of_a_place(minhash)).map(|place| {
                let place = std::str::from_utf8(place)?;
                Ok(u64::from_str_radix(place, 16)?)
            });
            places.collect()
        }
    }
}

fn signatures(a: &[u64], b: &[u64], bits: u32) -> anyhow::Result<Compared> {
    let Some(similarity) = estimate::matching(a, b) else { bail!("the signatures have no places in common") };
    let hex = [a, b].map(|signature| packed(signature, bits).iter().map(|byte| format!("{byte:02x}")).collect());
    let distance = a.iter().zip(b).filter(|(a, b)| a != b).count();
    let empty = |signature: &[u64]| signature.iter().all(|place| *place == EMPTY);
    // If one set is empty, the estimate is exact.
    let error = if empty(a) || empty(b) { 0.0 } else { estimate::standard_error(similarity, a.len()) };
    Ok(Compared { hex, distance, similarity, standard_error: Some(error) })
}

fn sketches(lucene: &Lucene, a: &Side, b: &Side) -> anyhow::Result<Compared> {
    let (Side::Document(a_text), Side::Document(b_text)) = (a, b) else { bail!("{LUCENE} compares documents only") };
    let (a, b) = (lucene.sketch(a_text.as_str().into()), lucene.sketch(b_text.as_str().into()));
    // Copies that fill empty buckets would count as additional evidence.
    let unrotated = lucene.clone().without_rotation();
    let terms = [&a, &b].map(|sketch| sketch.terms().collect::<Vec<LuceneTerm>>());
    let [of_a, of_b] = &terms;
    let places = of_a.len().max(of_b.len());
    let equal = of_a.iter().zip(of_b).filter(|(a, b)| a == b).count();
    let [a, b] = [a_text, b_text].map(|text| unrotated.sketch(text.as_str().into()));
    // Two empty sketches do not differ.
    let (similarity, values) = a.jaccard(&b).unwrap_or((1.0, 0));
    let hex = terms.map(|terms| terms.iter().flatten().map(|unit| format!("{unit:04x}")).collect());
    let error = if values == 0 { 0.0 } else { estimate::standard_error(similarity, values) };
    Ok(Compared { hex, distance: places - equal, similarity, standard_error: Some(error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpsketch::MinHashPreset;

    fn document(text: &str) -> Side {
        Side::Document(text.to_owned())
    }

    fn digits(text: &str) -> Side {
        Side::Digits(text.to_owned())
    }

    #[test]
    fn bkdr_joins_lines_and_wants_more_than_the_threshold() {
        let bkdr = |width| Method::Simhash(Simhash::new(SimhashPreset::Bkdr).with_width(width).unwrap());
        let text = "教育/v 公平/an 是/vshi 社会/n 公平/a 重要/a 基础/n";
        let broken = document(&text.replace('公', "\r\n公"));
        let compared = bkdr(64).compare(&document(text), &broken).unwrap();
        assert_eq!(compared.hex[0], compared.hex[1]);
        assert_eq!(compared.hex[0], "00000000000a3a87");
        // 7 of 8 bits are 0.875, which does not exceed the threshold.
        let compared = bkdr(8).compare(&digits("ff"), &digits("fe")).unwrap();
        assert!(!bkdr(8).similar(&compared, 0.875) && bkdr(8).similar(&compared, 0.874));
        let native = Method::Simhash(Simhash::new(SimhashPreset::Native));
        let compared = native.compare(&digits("00000000000000ff"), &digits("000000000000000f")).unwrap();
        assert_eq!((compared.distance, compared.similarity), (4, 0.9375));
        assert!(native.similar(&compared, 0.9375));
    }

    #[test]
    fn fingerprints_that_are_too_large() {
        let odd = Method::Simhash(Simhash::new(SimhashPreset::Bkdr).with_width(5).unwrap());
        assert_eq!(odd.digits(), Some(2));
        assert!(odd.compare(&digits("1f"), &digits("00")).is_ok());
        assert!(
            odd.compare(&digits("20"), &digits("00")).unwrap_err().to_string().contains("20: a fingerprint of 5 bits")
        );
    }

    #[test]
    fn signatures_as_digits_and_as_documents() {
        let minhash = Method::MinHash(MinHash::new(MinHashPreset::Native, 16, 1).unwrap());
        let (a, b) = (document("one two three four five six seven"), document("one two three four five six eight"));
        let compared = minhash.compare(&a, &b).unwrap();
        let again = minhash.compare(&digits(&compared.hex[0]), &b).unwrap();
        assert_eq!((again.hex, again.distance), (compared.hex, compared.distance));
        assert!((compared.similarity - (16 - compared.distance) as f64 / 16.0).abs() < 1e-12);
        let empty = minhash.compare(&document(""), &document(" ")).unwrap();
        assert_eq!((empty.distance, empty.similarity, empty.standard_error), (0, 1.0, Some(0.0)));
    }

    #[test]
    fn sketches_of_lucene() {
        let lucene = Method::Lucene(Lucene::default());
        let (a, b) = (document("a b c d e f g"), document("a b c d e f h"));
        let compared = lucene.compare(&a, &b).unwrap();
        assert_eq!(compared.hex[0].len(), 512 * 32);
        // Two of four shingles, and the same number of values; copies that fill buckets do not count.
        assert!((compared.similarity - 0.5).abs() < 1e-12 && (compared.standard_error.unwrap() - 0.25).abs() < 1e-12);
        let none = lucene.compare(&document(""), &document("")).unwrap();
        assert_eq!((none.distance, none.similarity), (0, 1.0));
        let one = lucene.compare(&document(""), &a).unwrap();
        assert_eq!((one.distance, one.similarity), (512, 0.0));
    }
}
