//! The parameters, in the footer of a segment and in the manifest (`manifests` uses the same cases).

use super::When::{self, Open, Unsupported};
use super::parts::{PARAMETERS, Parts};
use super::{accepted, base, refused, sample};
use fpstore::Parameters;

/// The broken rule, the parameters, the time of detection, and the beginning of the message.
type Broken = (String, Vec<u8>, When, &'static str);

/// Changes of parameters of distance 3, two tables, codec adaptive, numeric ids: the offset, the new bytes, and the
/// rest.
const CHANGES: [(usize, &[u8], When, &str); 28] = [
    (2, &[65], Open, "maximum distance 65 exceeds the width of 64 bits"),
    (2, &[3, 1], Open, "maximum distance 259 exceeds the width of 64 bits"),
    (2, &[255, 255], Open, "maximum distance 65535 exceeds"),
    (4, &[3], Unsupported, "unknown design 3 (2, 0)"),
    (4, &[0, 0], Open, ""),
    (4, &[0, 65], Open, ""),
    (4, &[0, 2, 1], Unsupported, "unknown design 0 (2, 1)"),
    (4, &[1, 0, 5], Open, ""),
    (4, &[1, 6, 5], Open, ""),
    (4, &[1, 2, 65], Open, ""),
    (4, &[1, 5, 12], Open, ""),
    (4, &[2, 1, 4], Open, ""),
    (4, &[2, 4, 0], Open, ""),
    (4, &[2, 4, 49], Open, ""),
    (4, &[2, 33, 8], Open, ""),
    (7, &[2], Unsupported, "unknown codec 2"),
    (7, &[255], Unsupported, "unknown codec 255"),
    (8, &[0], Unsupported, "unknown kind 0 of ids"),
    (8, &[4], Unsupported, "unknown kind 4 of ids"),
    (8, &[255], Unsupported, "unknown kind 255 of ids"),
    (9, &[4], Unsupported, "unknown kind 4 of id index"),
    (9, &[0x80], Unsupported, "unknown kind 128 of id index"),
    (9, &[255], Unsupported, "unknown kind 255 of id index"),
    (8, &[3, 1], Open, "there can be no id index where there are no ids"),
    (10, &[64, 0, 0, 0], Open, "block size 64 is not possible"),
    (10, &[1, 2, 0, 0], Open, "block size 513 is not possible"),
    (10, &[0, 0, 2, 0], Open, "block size 131072 is not possible"),
    (10, &[0, 0, 0, 0], Open, "block size 0 is not possible"),
];

/// These parameters, broken in each way.
pub(super) fn parameters(sound: &[u8]) -> Vec<Broken> {
    let broken = |(at, value, when, message): (usize, &[u8], When, &'static str)| {
        let mut bytes = sound.to_vec();
        bytes[at..at + value.len()].copy_from_slice(value);
        (format!("parameters {at} {value:?}"), bytes, when, message)
    };
    CHANGES.into_iter().map(broken).collect()
}

/// The default parameters with these bytes as the hasher, and a stated length.
fn hashed(told: usize, bytes: &[u8]) -> Vec<u8> {
    let mut parameters = base().parameters[..PARAMETERS].to_vec();
    parameters[14..16].copy_from_slice(&u16::try_from(told).unwrap().to_le_bytes());
    parameters.extend(bytes);
    parameters
}

/// Parameters with an invalid hasher.
pub(super) fn hashers() -> Vec<Broken> {
    const NAME: &str = "the name of the hasher is not possible";
    const TEXT: &str = "the hasher's name is no text";
    const SHORT: &str = "the file ends within 'hasher'";
    let long = "x".repeat(1025);
    let names: [&str; 17] = [
        " ",
        "a b",
        " a",
        "a ",
        "a\tb",
        "a\n",
        "a\r\n",
        "a\0",
        "\u{7f}",
        "a\u{85}b",
        "a\u{a0}b",
        "\u{9f}",
        "\u{2003}",
        "a\u{2028}",
        "a\u{3000}b",
        "\u{1b}[1m",
        &long,
    ];
    let texts: [&[u8]; 8] =
        [b"\xff", b"a\xc3", b"\xc3(", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"simhash\xe2\x82"];
    let of_name = names.map(|name| (format!("hasher {name:.9?}"), hashed(name.len(), name.as_bytes()), Open, NAME));
    let of_text = texts.map(|text| (format!("hasher {text:?}"), hashed(text.len(), text), Open, TEXT));
    let told = |told: usize| (format!("{told} bytes of hasher told"), hashed(told, b"simhash"), Open, "");
    let beyond = (String::from("more than the file has"), hashed(65_535, b"simhash"), Open, SHORT);
    of_name.into_iter().chain(of_text).chain([0, 1, 6, 8, 15, 40].map(told)).chain([beyond]).collect()
}

#[test]
fn what_no_store_has() {
    let cases = parameters(&base().parameters).into_iter().chain(hashers());
    for (label, parameters, when, message) in cases {
        let mut parts = base();
        parts.parameters = parameters;
        refused(&label, &parts.bytes(), when, message);
    }
}

/// A later release may know other widths (conventions.md, Versions).
#[test]
fn widths_that_are_not_known_yet() {
    for width in [0u16, 1, 32, 63, 65, 96, 192, 255, 257, 512, 16_384, 65_535] {
        let mut parts = base();
        parts.patch(0, width.to_le_bytes());
        refused(&format!("width {width}"), &parts.bytes(), Unsupported, "");
    }
}

/// Other existing widths, with tables in none of their forms.
#[test]
fn widths_of_other_tables() {
    for width in [128u16, 256] {
        let mut parts = base();
        parts.patch(0, width.to_le_bytes());
        refused(&format!("width {width}"), &parts.bytes(), Open, "");
    }
}

#[test]
fn names_of_hashers() {
    for name in ["x", "simhash/2:words,3-shingles", "\u{fc}ber\u{2192}hash", &"x".repeat(1024), &"\u{20ac}".repeat(341)]
    {
        let mut parts = base();
        parts.parameters = hashed(name.len(), name.as_bytes());
        accepted(&format!("hasher {name:.9}"), &parts.bytes(), &sample());
        let parameters = Parameters::new(3).with_block_size(128).with_hasher(Some(name));
        assert!(Parts::of(&parameters, &sample()).bytes() == parts.bytes(), "{name:.9}");
    }
}

/// A segment does not determine whether there is an id index beside it, because that is another segment.
#[test]
fn id_indexes() {
    let mut parts = base();
    parts.parameters[9] = 1;
    accepted("id index", &parts.bytes(), &sample());
}
