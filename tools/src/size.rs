//! SIZE arguments: a number of bytes, or of KiB, MiB, GiB.

const UNITS: [(&str, u64); 4] = [("", 1), ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30)];

/// Reads `4096`, `4KiB`, `64 MiB`; for clap's `value_parser`.
///
/// # Errors
///
/// When the text is not of that form or the number of bytes does not fit 64 bits.
pub fn parse(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let unit = unit.trim_start().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    match (number.parse::<u64>(), factor) {
        (Ok(number), Some(factor)) => number.checked_mul(factor).ok_or_else(|| "is too large".to_owned()),
        _ => Err("expected a number of bytes, or a number with KiB, MiB or GiB".to_owned()),
    }
}

/// A SIZE of at least so many bytes: whole KiB, or whole MiB from one on.
#[must_use]
pub fn at_least(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{}KiB", bytes.div_ceil(1 << 10)) } else { format!("{}MiB", bytes.div_ceil(1 << 20)) }
}

/// Least memory that a program can be told to keep within.
const LEAST_MEMORY: u64 = 64 << 20;

/// As [`parse`], for memory that a program is to keep within.
///
/// # Errors
///
/// When it is none, or less than the program needs by itself.
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
    fn at_least_so_many() {
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
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "KiB", "4KB", "4k", "-1", "1.5MiB", "4 KiB x", "99999999999GiB", "99999999999999999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
