//! Reads an argument of `fphash compare`: a document, or a fingerprint.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::bail;
use fpstore_tools::documents::{self, Content, DocumentFormat, DocumentOptions, Inputs};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::Side;

/// Reads an argument: an existing file, standard input, or this number of hexadecimal digits.
pub(super) fn read(argument: &OsStr, digits: Option<usize>) -> anyhow::Result<Side> {
    let path = Path::new(argument);
    if argument == "-" || path.exists() {
        if path.is_dir() {
            bail!("{} is a directory; name two files, or - for standard input", path.display());
        }
        return document(argument).map(Side::Document);
    }
    let shown = path.display();
    let Some(digits) = digits else { bail!("{shown}: there is no such file; name one with a document") };
    let text = argument.to_str().unwrap_or_default();
    let found = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if found.is_empty() || !found.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        bail!(
            "{shown}: there is no such file, and it is no fingerprint either, which would be {digits} hexadecimal \
             digits; name a file with a document"
        );
    }
    if found.len() != digits {
        bail!(
            "{shown}: a fingerprint has {digits} hexadecimal digits here, this has {}; say --width or --num-perm \
             if \
             it was made with another one",
            found.len()
        );
    }
    Ok(Side::Digits(found.to_ascii_lowercase()))
}

/// Reads all of a file, or of standard input.
fn document(argument: &OsStr) -> anyhow::Result<String> {
    let options = DocumentOptions { format: Some(DocumentFormat::File), ..DocumentOptions::default() };
    let inputs = Inputs::new(&[argument.to_owned()], &options)?;
    let mut text = String::new();
    let take = |contents: Vec<Content>| {
        for content in contents {
            if let Content::Text(content) = content {
                text = content;
            }
        }
        Ok(())
    };
    documents::each(&inputs, u64::MAX, 0, &Progress::hidden(), |document, _| Ok(document.content), take)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_before_digits() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("00ff");
        std::fs::write(&file, "\u{feff}a text\n").unwrap();
        let read = |argument: &str, digits| super::read(argument.as_ref(), digits).map_err(|error| error.to_string());
        assert_eq!(super::read(file.as_ref(), Some(4)).unwrap(), Side::Document("a text\n".to_owned()));
        assert_eq!(read("00FF", Some(4)), Ok(Side::Digits("00ff".to_owned())));
        assert_eq!(read("0x00ff", Some(4)), Ok(Side::Digits("00ff".to_owned())));
        assert!(
            read("0ff", Some(4)).unwrap_err().contains("0ff: a fingerprint has 4 hexadecimal digits here, this has 3")
        );
        for argument in ["no.txt", "", "0x"] {
            assert!(read(argument, Some(4)).unwrap_err().contains("no such file, and it is no fingerprint"));
        }
        assert!(read("00ff", None).unwrap_err().contains("name one with a document"));
        assert!(super::read(dir.path().as_ref(), Some(4)).unwrap_err().to_string().contains("is a directory"));
    }
}
