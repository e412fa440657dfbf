//! SIZE arguments: a number of bytes, KiB, MiB, GiB or TiB.
//!
//! A letter stands for a power of 1024 however it is spelled: `1G`, `1GB` and `1GiB` are the same, as in the memory
//! options of other programs. So a size is never less than the user meant.

const UNITS: [char; 4] = ['k', 'm', 'g', 't'];

/// Parses `4096`, `100k`, `64 MiB` or `1.5GB`, in upper or lower case; for clap's `value_parser`.
///
/// # Errors
///
/// If the text has another form, or the number of bytes does not fit 64 bits.
pub fn parse(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end).unwrap_or((text, ""));
    let form = || format!("expected a number of bytes, or one followed by K, M, G or T ({HELP})");
    let factor = factor(&unit.trim_start().to_ascii_lowercase()).ok_or_else(form)?;
    let (whole, part) = match number.split_once('.') {
        // A number of bytes has no fraction.
        Some((_, part)) if factor == 1 || part.is_empty() || part.len() > MOST_DECIMALS => return Err(form()),
        Some((whole, part)) => (whole, part.parse::<u128>().map_err(|_| form())? * factor / scale(part)),
        None => (number, 0),
    };
    if whole.is_empty() || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(form());
    }
    let bytes = whole.parse::<u128>().ok().and_then(|whole| whole.checked_mul(factor)?.checked_add(part));
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(|| "is too large".to_owned())
}

/// Examples of a SIZE, for messages.
const HELP: &str = "512M, 1G, 1GB, 1.5GiB; powers of 1024";

/// Most decimals: with more, the fraction of a TiB would overflow.
const MOST_DECIMALS: usize = 18;

/// Returns the denominator of these decimals.
fn scale(digits: &str) -> u128 {
    digits.bytes().fold(1, |scale, _| scale * 10)
}

/// Returns the bytes of a unit: a letter, with or without `b` or `ib` after it.
fn factor(unit: &str) -> Option<u128> {
    let mut letters = unit.chars();
    let shift = match letters.next() {
        None | Some('b') if letters.as_str().is_empty() => return Some(1),
        letter => UNITS.iter().zip(1..).find(|(name, _)| Some(**name) == letter)?.1 * 10,
    };
    matches!(letters.as_str(), "" | "b" | "ib").then_some(1 << shift)
}

/// Returns a SIZE of at least `bytes` bytes: whole KiB below one MiB, otherwise whole MiB.
#[must_use]
pub fn at_least(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{}KiB", bytes.div_ceil(1 << 10)) } else { format!("{}MiB", bytes.div_ceil(1 << 20)) }
}

/// Smallest memory limit that a program accepts.
const LEAST_MEMORY: u64 = 64 << 20;

/// Parses a memory limit, in the form of [`parse`].
///
/// # Errors
///
/// If it is not a size, or less than the program itself needs.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    match parse(text)? {
        small if small < LEAST_MEMORY => Err("is too small; 64MiB is the least".to_owned()),
        size => Ok(size),
    }
}

#[cfg(test)]
mod tests {
    use super::{at_least, parse, parse_memory};

    #[test]
    fn memory() {
        assert_eq!(parse_memory("64MiB"), Ok(64 << 20));
        assert!(parse_memory("67108863").is_err_and(|error| error.contains("64MiB is the least")));
        assert!(parse_memory("much").is_err());
    }

    #[test]
    fn at_least_rounds_up() {
        for bytes in [0, 1, 1024, 1025, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 1_875_003_392] {
            let size = parse(&at_least(bytes)).unwrap();
            assert!(size >= bytes && size - bytes < 1 << 20, "{bytes}: {size}");
        }
        assert_eq!([at_least(131_328), at_least(1_875_003_392)], ["129KiB", "1789MiB"]);
    }

    #[test]
    fn units() {
        assert_eq!(parse("0"), Ok(0));
        assert_eq!(parse("512"), Ok(512));
        assert_eq!(parse("4KiB"), Ok(4096));
        assert_eq!(parse("4 kib"), Ok(4096));
        assert_eq!(parse("3MiB"), Ok(3 << 20));
        assert_eq!(parse("2GiB"), Ok(2 << 30));
        for text in ["1G", "1g", "1GB", "1gb", "1GiB", "1 gib", "1024M", "1.0G", "1073741824", "1073741824B"] {
            assert_eq!(parse(text), Ok(1 << 30), "{text}");
        }
        assert_eq!(parse("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse("0.5T"), Ok(1 << 39));
        assert_eq!(parse("100k"), Ok(100 << 10));
        assert_eq!(parse("16777215TiB"), Ok(16_777_215 << 40));
        // A fraction of a byte is cut off.
        assert_eq!(parse("0.999999999999999999K"), Ok(1023));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "KiB", "-1", "4 KiB x", "1.5", "1.5B", ".5M", "1.M", "1.2.3M", "1e3", "4kbit", "4P", "4\u{212a}"]
        {
            let error = parse(text).unwrap_err();
            assert!(error.contains("1.5GiB"), "{text}: {error}");
        }
        for text in ["99999999999GiB", "16777216T", "99999999999999999999999", &"9".repeat(100)] {
            assert_eq!(parse(text), Err("is too large".to_owned()), "{text}");
        }
        assert!(parse(&format!("1.{}K", "0".repeat(19))).is_err());
    }
}
