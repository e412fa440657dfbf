//! Numbers as text: fingerprints and ids for programs, counts and sizes for people.
//!
//! Text never depends on the locale. The `push_` functions append to a buffer that is written in one call, which makes
//! an answer of a million lines cheap.

use fpstore::{Fingerprint, Id};
use indicatif::HumanCount;

/// The two hexadecimal digits of every byte.
#[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
const DIGITS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Appends a fingerprint: as many lower-case hexadecimal digits as it is wide, 16 for 64 bits.
pub fn push_hex<F: Fingerprint>(out: &mut Vec<u8>, fingerprint: F) {
    for number in 0..F::WORDS {
        let mut text = [[0_u8; 2]; 8];
        for (digits, byte) in text.iter_mut().zip(fingerprint.word(number).to_be_bytes()) {
            *digits = DIGITS.get(usize::from(byte)).copied().unwrap_or_default();
        }
        out.extend_from_slice(text.as_flattened());
    }
}

/// Appends a number in decimal.
pub fn push_decimal(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Formats a fingerprint: as many lower-case hexadecimal digits as it is wide, 16 for 64 bits.
#[must_use]
pub fn hex<F: Fingerprint>(fingerprint: F) -> String {
    fpstore::AnyFingerprint::from(fingerprint).to_string()
}

/// Formats a fingerprint of `width` bits that is stored in the lower bits of a wide number.
#[must_use]
pub fn wide_hex(fingerprint: fpstore::U256, width: u32) -> String {
    let digits = hex(fingerprint);
    let unused = digits.len().saturating_sub((width / 4) as usize);
    digits.get(unused..).unwrap_or_default().to_owned()
}

/// Appends an id or a count.
pub fn push_id(out: &mut Vec<u8>, id: &Id) {
    match id {
        Id::Number(number) | Id::Count(number) => push_decimal(out, *number),
        Id::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
}

/// Appends an id or a count as a JSON value.
pub fn push_json_id(out: &mut Vec<u8>, id: &Id) {
    match id {
        Id::Number(number) | Id::Count(number) => push_decimal(out, *number),
        Id::Text(text) => push_json_text(out, text),
    }
}

/// Appends a text as a JSON string.
pub fn push_json_text(out: &mut Vec<u8>, text: &str) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(out, text);
}

/// Formats a count for people: digits in groups of three.
#[must_use]
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Formats a count of things for people: `1 record`, `2,000 records`.
#[must_use]
pub fn count_of(number: u64, thing: &str) -> String {
    let ending = match number {
        1 => "",
        _ if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {thing}{ending}", count(number))
}

/// Formats a number of bytes for people: `1.5 MiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = float(number) / 1024.0;
    let mut name = "KiB";
    for unit in UNITS {
        name = unit;
        if value < 1023.95 {
            break;
        }
        if unit != "TiB" {
            value /= 1024.0;
        }
    }
    format!("{value:.1} {name}")
}

/// Converts a count to a float, for ratios and rates. Above 2^53 it loses the last digits, which no report shows.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "reports show a few digits")]
pub fn float(number: u64) -> f64 {
    number as f64
}

/// Returns a similarity with the four digits that its estimate may have.
#[must_use]
pub fn rounded(similarity: f64) -> f64 {
    (similarity * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpstore::U256;

    #[test]
    fn agrees_with_the_standard_formatting() {
        for number in [0, 1, 9, 10, 99, 100, 1 << 32, 12_345_678_901_234_567_890, u64::MAX] {
            let mut text = Vec::new();
            push_decimal(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
            let mut text = Vec::new();
            push_hex(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), hex(number));
            assert_eq!(hex(number), format!("{number:016x}"));
            let wide = u128::from(number) << 60;
            assert_eq!(hex(wide), format!("{wide:032x}"));
            let widest = U256([number, !number, 0, 1]);
            let mut text = Vec::new();
            push_hex(&mut text, widest);
            assert_eq!(String::from_utf8(text).unwrap(), format!("{widest:x}"));
            assert_eq!(hex(widest), format!("{widest:x}"));
        }
    }

    #[test]
    fn counts_and_sizes_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count_of(1, "record"), "1 record");
        assert_eq!(count_of(1000, "record"), "1,000 records");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(1 << 20), "1.0 MiB");
        assert_eq!(bytes((1 << 20) - 1), "1.0 MiB");
        assert_eq!(bytes(5 << 40), "5.0 TiB");
        assert_eq!(bytes(5000 << 40), "5000.0 TiB");
    }
}
