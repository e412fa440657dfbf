//! The first line `#fpstore width=64 ...` that programs write before fingerprints.
//!
//! It is a remark to whoever does not know it; to us it says what the fingerprints are. Words that this version does
//! not know are passed over, so that a later version may say more.

use super::place::excerpt;

const MARK: &[u8] = b"#fpstore";

/// Refuses a header whose width is not `width`. Any other line is none of our business.
pub(super) fn check(line: &[u8], width: u32) -> Result<(), String> {
    let Some(rest) = line.strip_prefix(MARK) else { return Ok(()) };
    if !rest.first().is_none_or(u8::is_ascii_whitespace) {
        return Ok(());
    }
    for word in rest.split(u8::is_ascii_whitespace) {
        let Some(value) = word.strip_prefix(b"width=") else { continue };
        match std::str::from_utf8(value).ok().and_then(|value| value.parse::<u32>().ok()) {
            Some(found) if found == width => {}
            Some(found) => {
                return Err(format!("the input is of {found}-bit fingerprints, the store of {width}-bit ones"));
            }
            None => return Err(format!("the header's width {} is not a number", excerpt(value))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn widths() {
        for line in [
            b"#fpstore".as_slice(),
            b"#fpstore width=64",
            b"#fpstore hasher=native width=64",
            b"#fpstore\tnew=thing",
            b"#fpstores width=1",
            b"# width=128",
            b"",
        ] {
            assert_eq!(check(line, 64), Ok(()), "{}", line.escape_ascii());
        }
        assert!(check(b"#fpstore width=128 hasher=native", 64).unwrap_err().contains("128-bit"));
        assert!(check(b"#fpstore hasher=x width=", 64).unwrap_err().contains("not a number"));
    }
}
