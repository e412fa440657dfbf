//! Checks that no output would overwrite an input.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::input::sources::named;

/// Rejects output files that are inputs, are existing files in an input directory, or are named twice. Outputs come
/// with the names of their options; a store is an input like any directory, and inputs may be patterns.
///
/// # Errors
///
/// If an output is rejected; the message names the option. If a pattern matches nothing.
pub fn check_apart(outputs: &[(&str, Option<&Path>)], inputs: &[impl AsRef<OsStr>]) -> anyhow::Result<()> {
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?))).collect();
    if outputs.is_empty() {
        return Ok(());
    }
    let inputs = named(inputs)?;
    let read: Vec<PathBuf> = inputs.iter().filter_map(|input| place(input.path()?)).collect();
    let mut written: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in outputs {
        // A file that cannot be located cannot be created either; creating it reports why.
        let Some(place) = place(path) else { continue };
        let shown = path.display();
        if read.contains(&place) {
            bail!("{option} {shown}: this is an input, whose place it would take; name another file");
        }
        if let Some(directory) = read.iter().find(|input| place.exists() && place.starts_with(input)) {
            bail!("{option} {shown}: this file is one of the input {}; name one elsewhere", directory.display());
        }
        if let Some((other, _)) = written.iter().find(|(_, other)| *other == place) {
            bail!("{option} {shown}: this is the file of {other}, too; name two files");
        }
        written.push((option, place));
    }
    Ok(())
}

/// Returns the canonical path of a file, which need not exist.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = fs::canonicalize(path) {
        return Some(place);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(directory).ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let (a, docs, new) = (dir.path().join("a"), dir.path().join("docs"), dir.path().join("new"));
        let below = docs.join("b");
        fs::create_dir(&docs).unwrap();
        [&a, &below].into_iter().for_each(|path| fs::write(path, "x").unwrap());
        let dotted = docs.join("../a");
        let check = |outputs: &[(&str, &Path)]| {
            let outputs: Vec<_> = outputs.iter().map(|(option, path)| (*option, Some(*path))).collect();
            check_apart(&outputs, &[a.as_os_str(), docs.as_os_str()]).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[("-o", &new), ("--rejects", &docs.join("new"))]), Ok(()));
        assert!(
            check(&[("-o", &a)])
                .unwrap_err()
                .ends_with("this is an input, whose place it would take; name another file")
        );
        assert!(check(&[("-o", &dotted)]).is_err() && check(&[("-o", &docs)]).is_err());
        assert!(check(&[("-o", &below)]).unwrap_err().contains("this file is one of the input"));
        assert!(check(&[("-o", &new), ("--rejects", &new)]).unwrap_err().contains("this is the file of -o, too"));
    }
}
