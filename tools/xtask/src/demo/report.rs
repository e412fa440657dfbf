//! The output of the demonstration.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::pairs::{Document, Pair, path_of};

/// Pairs shown for each distance.
const SHOWN: usize = 5;
/// Most characters of a path; longer paths lose their middle.
const WIDTH: usize = 50;

/// Explains statistics with fewer bits than the bound.
pub(super) const ABOUT_THE_BOUND: &str = "\n\
(The information bound is that of uniformly random fingerprints. Those of real documents come in families and take \
less.)";

/// Returns the full list, tab-separated, closest first.
pub(super) fn list(pairs: &[Pair], documents: &[Document]) -> String {
    let mut text = String::from("distance\tid_a\tid_b\tpath_a\tpath_b\n");
    for &Pair { distance, a, b } in pairs {
        let _ = writeln!(text, "{distance}\t{a}\t{b}\t{}\t{}", path_of(documents, a), path_of(documents, b));
    }
    text
}

/// Returns a table of documents at *different* paths, each pair of paths once, a few for each distance.
pub(super) fn selection(pairs: &[Pair], documents: &[Document]) -> String {
    let closest = closest_by_paths(pairs, documents);
    let prefix = common_prefix(documents);
    let mut text = format!(
        "\nVersions of one page resemble each other, of course. These {} pairs of different paths do as well;\n\
         up to {SHOWN} of each distance{}:\n\n{:>4}  {:<WIDTH$}  near-duplicate\n{:>4}  {:<WIDTH$}  --------------\n",
        closest.len(),
        if prefix.is_empty() { String::new() } else { format!(" (all in {})", prefix.trim_end_matches(':')) },
        "bits",
        "document",
        "----",
        "--------",
    );
    let mut shown = BTreeMap::<u32, usize>::new();
    for Pair { distance, a, b } in closest {
        let count = shown.entry(distance).or_default();
        *count += 1;
        if *count <= SHOWN {
            let [a, b] = [a, b].map(|id| shorten(without(path_of(documents, id), prefix)));
            let _ = writeln!(text, "{distance:>4}  {a:<WIDTH$}  {b}");
        }
    }
    text.trim_end().to_owned()
}

/// Returns the number of pairs, in all and at each distance.
pub(super) fn totals(pairs: &[Pair], documents: usize) -> String {
    let mut text = format!(
        "\n{} documents, {} pairs of near-duplicates; brute force over all {} pairs finds the same ones\n",
        thousands(documents),
        thousands(pairs.len()),
        thousands(documents * documents.saturating_sub(1) / 2),
    );
    let mut counts = BTreeMap::<u32, usize>::new();
    for pair in pairs {
        *counts.entry(pair.distance).or_default() += 1;
    }
    for (distance, count) in counts {
        let _ = write!(text, "\n  distance {distance}: {:>6} pairs", thousands(count));
    }
    text
}

/// Returns the durations of the programs, from start to exit.
pub(super) fn times(documents: usize, hash: Duration, load: Duration, query: Duration) -> String {
    let each = query.as_secs_f64() * 1e6 / documents.max(1) as f64;
    format!(
        "\nhashed  {0} documents in {1:.3} s\nloaded  {0} records in {2:.3} s\nqueried {0} records in {3:.3} s, \
         {each:.1} us \
         each with reading and printing",
        thousands(documents),
        hash.as_secs_f64(),
        load.as_secs_f64(),
        query.as_secs_f64(),
    )
}

/// Returns the closest pair for any two different paths, closest first.
fn closest_by_paths(pairs: &[Pair], documents: &[Document]) -> Vec<Pair> {
    let mut closest = BTreeMap::new();
    for &pair in pairs {
        let (a, b) = (path_of(documents, pair.a), path_of(documents, pair.b));
        if a != b {
            let kept = closest.entry((a.min(b), a.max(b))).or_insert(pair);
            *kept = pair.min(*kept);
        }
    }
    let mut closest: Vec<Pair> = closest.into_values().collect();
    closest.sort_unstable();
    closest
}

/// The repository's name with its colon, where all paths are of one repository.
fn common_prefix(documents: &[Document]) -> &str {
    let first = documents.first().map_or("", |document| document.path.as_str());
    let prefix = first.find(':').and_then(|colon| first.get(..=colon)).unwrap_or_default();
    if documents.iter().all(|document| document.path.starts_with(prefix)) { prefix } else { "" }
}

fn without<'a>(path: &'a str, prefix: &str) -> &'a str {
    path.strip_prefix(prefix).unwrap_or(path)
}

/// The path itself if it fits, else its beginning and end.
fn shorten(path: &str) -> String {
    let length = path.chars().count();
    if length <= WIDTH {
        return path.to_owned();
    }
    let head = WIDTH / 2 - 1;
    let tail = WIDTH - head - 1;
    path.chars().take(head).chain(['…']).chain(path.chars().skip(length - tail)).collect()
}

/// 1234567 as 1,234,567.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(paths: &[&str]) -> Vec<Document> {
        paths.iter().map(|path| Document { fingerprint: 0, path: (*path).to_owned() }).collect()
    }

    #[test]
    fn numbers_and_paths_are_readable() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(shorten("src/a.md"), "src/a.md");
        let short = shorten(&format!("{}{}", "a".repeat(60), "b".repeat(60)));
        assert_eq!((short.chars().count(), &short[..2], &short[short.len() - 2..]), (WIDTH, "aa", "bb"));
    }

    #[test]
    fn shows_two_paths_once_and_at_their_closest() {
        let documents = documents(&["r:a", "r:b", "r:a", "r:a"]);
        let pair = |distance, a, b| Pair { distance, a, b };
        let pairs = [pair(0, 2, 3), pair(1, 1, 2), pair(2, 0, 1), pair(3, 1, 3)];
        assert_eq!(closest_by_paths(&pairs, &documents), [pair(1, 1, 2)]);
        let text = selection(&pairs, &documents);
        assert!(text.contains("(all in r)"), "{text}");
        assert!(text.ends_with(&format!("   1  {:<WIDTH$}  a", "b")), "{text}");
    }

    #[test]
    fn totals_are_counted() {
        let pairs = [Pair { distance: 0, a: 0, b: 1 }, Pair { distance: 2, a: 0, b: 2 }];
        let text = totals(&pairs, 3);
        assert!(text.starts_with("\n3 documents, 2 pairs of near-duplicates; brute force over all 3 pairs"), "{text}");
        assert!(text.ends_with("distance 0:      1 pairs\n  distance 2:      1 pairs"), "{text}");
        assert_eq!(list(&pairs[..1], &documents(&["x", "y"])), "distance\tid_a\tid_b\tpath_a\tpath_b\n0\t0\t1\tx\ty\n");
    }
}
