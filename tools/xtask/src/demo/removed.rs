//! The documents that `fpdedup documents` removed: checked by brute force, and three of them beside the ones that were
//! kept, with the words that differ.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::pairs::Pair;

/// Distances of the removed documents that are shown.
const SHOWN: [std::ops::RangeInclusive<u32>; 3] = [1..=2, 3..=4, 5..=6];
/// Differences shown of each document, and words of each difference.
const DIFFERENCES: usize = 3;
const WORDS: usize = 10;
/// Most steps of a comparison.
const MOST: usize = 16 << 20;

/// A removed document, its keeper, and their distance.
pub(super) type Removed = (usize, usize, u32);

/// Path and text of a document.
pub(super) struct Page {
    path: String,
    text: String,
}

impl Page {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Parses the evidence.
pub(super) fn parse(evidence: &str) -> Result<Vec<Removed>> {
    let row = |line: &str| -> Result<Removed> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, keeper, _, distance] = cells[..] else { bail!("four columns were expected") };
        Ok((id.parse()?, keeper.parse()?, distance.parse()?))
    };
    evidence.lines().map(|line| row(line).with_context(|| format!("fpdedup wrote `{line}`"))).collect()
}

/// Returns the removed documents by definition: each in turn stays, unless it is removed, and removes all later ones
/// that are near it.
pub(super) fn brute_force(pairs: &[Pair], documents: usize) -> Vec<Removed> {
    let mut later: BTreeMap<usize, Vec<(usize, u32)>> = BTreeMap::new();
    for &Pair { distance, a, b } in pairs {
        later.entry(a.min(b)).or_default().push((a.max(b), distance));
    }
    let mut removed: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
    for document in 0..documents {
        if !removed.contains_key(&document) {
            for &(other, distance) in later.get(&document).into_iter().flatten() {
                removed.entry(other).or_insert((document, distance));
            }
        }
    }
    removed.into_iter().map(|(document, (keeper, distance))| (document, keeper, distance)).collect()
}

/// Parses the documents, one JSON object on each line.
pub(super) fn pages(lines: &str) -> Result<Vec<Page>> {
    let page = |line: &str| -> Result<Page> {
        let object: Value = serde_json::from_str(line)?;
        let field =
            |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned).with_context(|| name.to_owned());
        Ok(Page { path: field("path")?, text: field("text")? })
    };
    lines.lines().map(page).collect()
}

/// Returns the number of removed documents, and some of them beside their keepers.
pub(super) fn selection(removed: &[Removed], pages: &[Page]) -> Result<String> {
    let mut text = format!(
        "\n{} of {} documents were removed, each near the one that stays in its place; brute force removes the same.\n\
         Three of them, with the words that differ:\n",
        removed.len(),
        pages.len()
    );
    let page = |number: usize| pages.get(number);
    let name = |path: &str| path.rsplit_once(':').map_or(path, |(_, path)| path).to_owned();
    for distances in SHOWN {
        let of_distance = removed.iter().filter(|(_, _, distance)| distances.contains(distance));
        let mut pairs = of_distance.filter_map(|&(gone, kept, bits)| Some((page(gone)?, page(kept)?, bits)));
        let first = pairs.clone().next();
        let other = pairs.find(|(gone, kept, _)| gone.path != kept.path);
        let (gone, kept, distance) = other.or(first).context("no page was removed that could be shown")?;
        let bits = if distance == 1 { "1 bit".to_owned() } else { format!("{distance} bits") };
        let _ = writeln!(text, "\n  {bits}\n    kept     {}\n    removed  {}", name(&kept.path), name(&gone.path));
        let differences = differences(&kept.text, &gone.text);
        for (kept, gone) in differences.iter().take(DIFFERENCES) {
            let _ = writeln!(text, "      kept: {}  removed: {}", quoted(kept), quoted(gone));
        }
        if let Some(more) = differences.len().checked_sub(DIFFERENCES).filter(|more| *more > 0) {
            let _ = writeln!(text, "      and {more} more places");
        }
    }
    Ok(text.trim_end().to_owned())
}

/// Some words in quotes.
fn quoted(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        words if words.len() <= WORDS => format!("\"{}\"", words.join(" ")),
        words => {
            let shown: Vec<&str> = words.iter().take(WORDS).copied().collect();
            format!("\"{} ...\" ({} words)", shown.join(" "), words.len())
        }
    }
}

/// Words of the one text and words of the other that stand in their place.
type Difference<'a> = (Vec<&'a str>, Vec<&'a str>);

/// Returns the differences between two texts, word by word: what a longest common subsequence leaves.
fn differences<'a>(a: &'a str, b: &'a str) -> Vec<Difference<'a>> {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split_whitespace().collect(), b.split_whitespace().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = |words: &[&'a str]| words.iter().skip(start).copied().collect::<Vec<&'a str>>();
    let (a, b) = (rest(&a), rest(&b));
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = |words: &[&'a str]| words.iter().take(words.len() - end).copied().collect::<Vec<&'a str>>();
    let (a, b) = (middle(&a), middle(&b));
    if a.len().saturating_mul(b.len()) > MOST {
        return vec![(a, b)];
    }
    // The length of the longest common subsequence of what follows each pair of places.
    let width = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * width];
    let at = |lengths: &[u32], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or(0);
    for (i, word) in a.iter().enumerate().rev() {
        for (j, other) in b.iter().enumerate().rev() {
            let length = if word == other {
                at(&lengths, i + 1, j + 1) + 1
            } else {
                at(&lengths, i + 1, j).max(at(&lengths, i, j + 1))
            };
            lengths.iter_mut().skip(i * width + j).take(1).for_each(|one| *one = length);
        }
    }
    let (mut found, mut now): (Vec<Difference<'a>>, Difference<'a>) = (Vec::new(), (Vec::new(), Vec::new()));
    let (mut i, mut j) = (0, 0);
    loop {
        match (a.get(i), b.get(j)) {
            (Some(word), Some(other)) if word == other => {
                if now != (Vec::new(), Vec::new()) {
                    found.push(std::mem::take(&mut now));
                }
                (i, j) = (i + 1, j + 1);
            }
            (Some(word), None) => {
                now.0.push(word);
                i += 1;
            }
            (Some(word), Some(_)) if at(&lengths, i + 1, j) >= at(&lengths, i, j + 1) => {
                now.0.push(word);
                i += 1;
            }
            (_, Some(other)) => {
                now.1.push(other);
                j += 1;
            }
            (None, None) => break,
        }
    }
    if now != (Vec::new(), Vec::new()) {
        found.push(now);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ() {
        let none: Vec<Difference<'_>> = Vec::new();
        assert_eq!(differences("a b  c", "a b\nc"), none);
        let found = differences("we see the old code and stop here", "we see new code and then stop");
        assert_eq!(found, [(vec!["the", "old"], vec!["new"]), (vec![], vec!["then"]), (vec!["here"], vec![])]);
        assert_eq!(differences("", "x y"), [(vec![], vec!["x", "y"])]);
        assert_eq!(quoted(&["x"; 12]), format!("\"{} ...\" (12 words)", ["x"; 10].join(" ")));
    }

    #[test]
    fn each_is_removed_by_the_first_that_stays() {
        let pair = |a, b, distance| Pair { distance, a, b };
        let removed = brute_force(&[pair(1, 2, 3), pair(3, 2, 1), pair(0, 3, 2), pair(4, 3, 1)], 5);
        assert_eq!(removed, [(2, 1, 3), (3, 0, 2)]);
        assert_eq!(parse("2\t1\t1\t3\n3\t0\t0\t2\n").unwrap(), removed);
        assert!(parse("2\t1\t1\n").is_err());
    }
}
