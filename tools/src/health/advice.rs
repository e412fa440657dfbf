//! Likely causes of a defect, and remedies.

use std::cmp::Reverse;

use crate::number::count;
use serde::Serialize;

use super::bits::{Bits, Correlated, Mirrored};

/// From this number on, dead bits at the start mean that the fingerprints are shorter.
const SHORTER: usize = 8;
/// From this number on, dead bits at the end mean that values were rounded.
const ROUNDED: usize = 4;

/// One defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) kind: &'static str,
    pub(super) what: String,
    pub(super) advice: String,
}

/// A value that very many records have.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Zero,
    AllOnes,
    /// Any other value, as digits.
    Other(String),
}

/// Describes defects of bits.
pub(super) fn of_bits(bits: &Bits, width: usize) -> Vec<Finding> {
    let Bits { dead, constant, mirrored, biased, correlated, correlated_pairs } = bits;
    let mut findings = Vec::new();
    let mut add = |any: bool, kind, what: String, advice: String| {
        if any {
            findings.push(Finding { kind, what, advice });
        }
    };
    let named = |bits: &[usize], what: &str| format!("{}: {}", number(bits.len(), what), ranges(bits));
    add(!dead.is_empty(), "dead_bits", named(dead, "dead bit"), of_dead(dead, width));
    add(!constant.is_empty(), "constant_bits", named(constant, "constant bit"), of_constant(constant));
    let what = format!("{}: {}", number(mirrored.len(), "mirrored bit"), mirrors(mirrored));
    add(!mirrored.is_empty(), "mirrored_bits", what, of_mirrored(mirrored));
    let advice = "Features that nearly all documents have decide these bits: headers, footers and licences, markup, \
                  stop words. \
                  Remove them (fphash simhash --normalise markup, --stop-words), or weight features by their rarity \
                  (fphash weights, then --weights). Until then there are more chance matches, and tables of a store \
                  are \
                  skewed.";
    add(!biased.is_empty(), "biased_bits", named(biased, "biased bit"), advice.to_owned());
    let what =
        format!("{}: {}", number(*correlated_pairs, "strongly correlated pair"), pairs(correlated, *correlated_pairs));
    let advice = "These bits are nearly always equal or opposite, so distances count them twice. Either the hash of \
                  the features \
                  mixes badly (sums, BKDR), and another preset helps; or a few features outweigh all others: count \
                  each of them \
                  once (--weights distinct), or take longer ones (--features).";
    add(!correlated.is_empty(), "correlated_bits", what, advice.to_owned());
    findings
}

/// Describes a value that a large share of the records has.
pub(super) fn of_value(value: &Value, share: f64) -> Finding {
    let percent = share * 100.0;
    let (kind, what, advice) = match value {
        Value::Zero => (
            "zeros",
            format!("{percent:.1}% of the records are 0"),
            "Documents without features have this fingerprint, such as empty ones or those shorter than a feature; so \
             all of \
             them look like near-duplicates. Leave them out (fphash simhash --min-features), or take shorter features \
             (--features). Or it represents a missing value.",
        ),
        Value::AllOnes => (
            "all_ones",
            format!("{percent:.1}% of the records are all ones"),
            "With string-hash these are documents without features; otherwise it is mostly a -1 that represents a \
             missing \
             value. Leave them out: all of them look like near-duplicates.",
        ),
        Value::Other(digits) => (
            "frequent_value",
            format!("{percent:.1}% of the records are {digits}"),
            "These documents are the same, or their hashed part is: error pages, redirects, a frame without its \
             content, with 1e0ng texts without any letter. Look at some of them (fpquery --distance 0 STORE HEX), and \
             leave them out or hash what differs.",
        ),
    };
    Finding { kind, what, advice: advice.to_owned() }
}

/// Describes a share of distinct values with fewer ones, or zeros, than `few`.
pub(super) fn of_few(digit: &str, share: f64, few: u32) -> Finding {
    let advice = if digit == "ones" {
        "Texts with few features look like this if even votes become 0: version 1 of native, 1e0ng, seomoz. They look \
         like \
         near-duplicates of each other. Leave them out (fphash simhash --min-features), or hash them again with the \
         current \
         native, which has no such bias. Or these are hashes of images that are nearly plain."
    } else {
        "Texts with few features look like this if even votes become 1: string-hash. They look like near-duplicates of \
         each \
         other. Leave them out (fphash simhash --min-features), or hash them again with native, which has no such bias."
    };
    Finding {
        kind: if digit == "ones" { "few_ones" } else { "few_zeros" },
        what: format!("{:.1}% of the distinct values have only 1 to {} {digit}", share * 100.0, few - 1),
        advice: advice.to_owned(),
    }
}

/// Describes a very small number of distinct values.
pub(super) fn of_few_values(distinct: u64, records: u64) -> Finding {
    let values = if distinct == 1 {
        "is only 1 distinct value".to_owned()
    } else {
        format!("are only {distinct} distinct values")
    };
    Finding {
        kind: "few_values",
        what: format!("there {values} in {} records", count(records)),
        advice: "That is too few to check the bits. Is it the right column (--fingerprint-column), and are these \
                 different documents?"
            .to_owned(),
    }
}

fn of_dead(dead: &[usize], width: usize) -> String {
    let first = dead.iter().zip(0..).take_while(|(bit, place)| *bit == place).count();
    let last = dead.iter().rev().zip((0..width).rev()).take_while(|(bit, place)| *bit == place).count();
    if first == width {
        return "All fingerprints are 0: is it the right column, and do the documents have any text?".to_owned();
    }
    if first >= SHORTER {
        let remedy = match width {
            64 => "Use a hasher of 64 bits, such as fphash simhash --preset native",
            128 if first < 64 => "Use a hasher of 128 bits, such as fphash simhash --width 128",
            _ => "Use a hasher that makes all bits, or a store of a smaller --width",
        };
        return format!(
            "The first {first} bits are never 1: the hasher makes {} bits. The cause may be a hash of 32 bits in a \
             column of 64, or the preset bkdr, which never has more than 32. {remedy}; tables of a store that are \
             sorted by these bits do not narrow a search.",
            width - first
        );
    }
    if last >= ROUNDED {
        return format!(
            "The last {last} bits are never 1: numbers lose them in a conversion to floating point (JSON, \
             spreadsheets), and \
             bytes in the wrong order may look like this. Write fingerprints as hexadecimal digits."
        );
    }
    "A bit that is never 1 is useless. Single bits are lost by a sign, a mask or a cast; whole bytes (8 bits from a \
     multiple \
     of 8 on) by copying too few of them. Look at how fingerprints get from the hasher to the file."
        .to_owned()
}

fn of_constant(constant: &[usize]) -> String {
    let first = constant.iter().zip(0..).take_while(|(bit, place)| *bit == place).count();
    if first >= SHORTER {
        return format!(
            "The first {first} bits are always 1: mostly negative numbers of fewer bits that were extended by their \
             sign. Use \
             unsigned numbers, and a hasher of all bits."
        );
    }
    "A bit that is always 1 is useless. It may be a mark in the value (the version of a UUID), or come from a feature \
     that \
         every document has and that outweighs the others."
        .to_owned()
}

fn of_mirrored(mirrored: &[Mirrored]) -> String {
    let steps: Vec<usize> = mirrored.iter().map(|mirrored| mirrored.bit - mirrored.of).collect();
    let often = |step: &usize| steps.iter().filter(|other| *other == step).count();
    let common = steps.iter().copied().max_by_key(|step| (often(step), Reverse(*step))).unwrap_or(0);
    let same = steps.iter().filter(|step| step.is_multiple_of(common)).count();
    let repeated = if same >= SHORTER && same * 2 > steps.len() {
        format!(
            "Most repeat the bit {common} before them: a hash of {common} bits was written several times to fill the \
             width. "
        )
    } else {
        String::new()
    };
    format!(
        "{repeated}These bits only repeat others, and each difference counts several times, so fewer matches are found \
         within a distance. Use a hasher that makes all bits of one hash, and do not fold or repeat a shorter one."
    )
}

/// Formats `1 dead bit`, `2 dead bits`.
fn number(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Formats `0-31, 40`.
fn ranges(bits: &[usize]) -> String {
    let runs: Vec<String> = bits
        .chunk_by(|a, b| a + 1 == *b)
        .filter_map(|run| match (run.first()?, run.last()?) {
            (first, last) if first == last => Some(first.to_string()),
            (first, last) => Some(format!("{first}-{last}")),
        })
        .collect();
    runs.join(", ")
}

/// Most bits in a line.
const NAMED: usize = 8;

fn mirrors(mirrored: &[Mirrored]) -> String {
    let named = mirrored.iter().take(NAMED).map(|mirrored| {
        let sign = if mirrored.opposite { "not " } else { "" };
        format!("{} = {sign}{}", mirrored.bit, mirrored.of)
    });
    shortened(named.collect(), mirrored.len())
}

fn pairs(correlated: &[Correlated], all: usize) -> String {
    let named = correlated.iter().take(NAMED).map(|pair| format!("{} and {} ({:.2})", pair.a, pair.b, pair.phi));
    shortened(named.collect(), all)
}

fn shortened(named: Vec<String>, all: usize) -> String {
    let more = if named.len() < all { ", ..." } else { "" };
    named.join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(bits: &Bits, width: usize) -> Vec<String> {
        of_bits(bits, width).into_iter().map(|finding| format!("{}. {}", finding.what, finding.advice)).collect()
    }

    #[test]
    fn dead_bits_by_where_they_are() {
        let dead = |bits: Vec<usize>| advice(&Bits { dead: bits, ..Bits::default() }, 64).remove(0);
        assert!(
            dead((0..33).collect())
                .starts_with("33 dead bits: 0-32. The first 33 bits are never 1: the hasher makes 31")
        );
        assert!(dead((53..64).collect()).contains("floating point"));
        assert!(dead(vec![0, 9, 10, 11]).starts_with("4 dead bits: 0, 9-11. A bit that is never 1"));
        assert!(dead((0..64).collect()).contains("All fingerprints are 0"));
        let wide = advice(&Bits { dead: (0..64).collect(), ..Bits::default() }, 128).remove(0);
        assert!(wide.contains("a smaller --width"), "{wide}");
    }

    #[test]
    fn repeated_hashes_are_known() {
        let mirrored = (16..64).map(|bit| Mirrored { bit, of: bit % 16, opposite: false }).collect();
        let said = advice(&Bits { mirrored, ..Bits::default() }, 64).remove(0);
        assert!(
            said.starts_with("48 mirrored bits: 16 = 0, 17 = 1,")
                && said.contains(", .... Most repeat the bit 16 before")
        );
        let mirrored = vec![Mirrored { bit: 5, of: 2, opposite: true }];
        let said = advice(&Bits { mirrored, ..Bits::default() }, 64).remove(0);
        assert!(said.starts_with("1 mirrored bit: 5 = not 2. These bits"), "{said}");
    }

    #[test]
    fn a_finding_for_each_kind() {
        let bits = Bits {
            dead: vec![1],
            constant: vec![2],
            mirrored: vec![Mirrored { bit: 4, of: 3, opposite: false }],
            biased: vec![5, 6],
            correlated: vec![Correlated { a: 7, b: 8, phi: -0.625 }],
            correlated_pairs: 12,
        };
        let kinds: Vec<&str> = of_bits(&bits, 64).iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, ["dead_bits", "constant_bits", "mirrored_bits", "biased_bits", "correlated_bits"]);
        assert_eq!(of_bits(&bits, 64)[4].what, "12 strongly correlated pairs: 7 and 8 (-0.62), ...");
        assert_eq!(of_bits(&Bits::default(), 64), []);
    }
}
