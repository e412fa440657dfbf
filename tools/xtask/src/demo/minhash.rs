//! MinHash beside simhash: clusters of pages by the bands and sketches of a key index, by fingerprints, and by
//! comparing the words of all pages.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::clusters::Labels;

/// Words of a feature, as `--features words:5`.
const WORDS: usize = 5;

/// Pairs of documents that share at least this part of their features (Jaccard similarity), in hundredths.
pub(super) const SIMILARITY: usize = 70;

/// Returns the pairs of documents whose similarity is large enough, by comparing the features of all.
pub(super) fn similar<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<(usize, usize)> {
    let mut documents_of: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut sizes = Vec::new();
    for (number, text) in texts.enumerate() {
        let features = features(text);
        sizes.push(features.len());
        features.into_iter().for_each(|feature| documents_of.entry(feature).or_default().push(number));
    }
    let mut shared: Vec<HashMap<usize, usize>> = vec![HashMap::new(); sizes.len()];
    for documents in documents_of.values() {
        for (at, &a) in documents.iter().enumerate() {
            let Some(of_a) = shared.get_mut(a) else { continue };
            documents.iter().skip(at + 1).for_each(|&b| *of_a.entry(b).or_default() += 1);
        }
    }
    let size = |document: usize| sizes.get(document).copied().unwrap_or(0);
    let mut pairs = Vec::new();
    for (a, of_a) in shared.into_iter().enumerate() {
        let near = |&(b, both): &(usize, usize)| both * 100 >= SIMILARITY * (size(a) + size(b) - both);
        pairs.extend(of_a.into_iter().filter(near).map(|(b, _)| (a, b)));
    }
    pairs
}

/// Returns hashes of the distinct features of a text.
fn features(text: &str) -> HashSet<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(WORDS).map(hashed).collect()
}

fn hashed(words: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

/// Returns a table of three clusterings: how many clusters each has, and how many of the pairs of documents that are
/// together by the last one.
pub(super) fn table(found: [(&str, &Labels); 3]) -> String {
    let mut text = format!(
        "\nClusters of several documents, by the three ways; recall and precision are of pairs in one cluster, beside the\n\
         comparison of all pages ({WORDS} words in a row are a feature, similar pages share {SIMILARITY} % of them):\n\n\
         {:<34}{:>10}{:>12}{:>9}{:>11}\n",
        "by", "clusters", "documents", "recall", "precision"
    );
    let exact = together(found[2].1);
    for (name, labels) in found {
        let members = members(labels);
        let pairs = together(labels);
        let [recall, precision] =
            [exact.len(), pairs.len()].map(|all| percent(pairs.intersection(&exact).count(), all));
        let documents: usize = members.values().map(Vec::len).sum();
        text += &format!("{name:<34}{:>10}{documents:>12}{recall:>9}{precision:>11}\n", members.len());
    }
    text.trim_end().to_owned()
}

fn percent(part: usize, all: usize) -> String {
    let tenths = (part * 1000 + all / 2) / all.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Returns the members of each cluster of several documents.
fn members(labels: &Labels) -> BTreeMap<usize, Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    labels.iter().enumerate().for_each(|(id, &label)| members.entry(label).or_default().push(id));
    members.retain(|_, ids| ids.len() > 1);
    members
}

/// Returns the pairs of documents in one cluster.
fn together(labels: &Labels) -> BTreeSet<(usize, usize)> {
    let mut pairs = BTreeSet::new();
    for ids in members(labels).values() {
        for (at, &a) in ids.iter().enumerate() {
            pairs.extend(ids.iter().skip(at + 1).map(|&b| (a, b)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_texts_share_most_features() {
        let words = |from: u32| (from..from + 104).map(|word| word.to_string()).collect::<Vec<_>>().join(" ");
        // 100 features each; 85 and 80 of them are shared with the first: 0.74 and 0.67.
        let texts = [words(0), words(15), words(20), "a b c d".to_owned(), words(0)];
        let mut pairs = similar(texts.iter().map(String::as_str));
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 1), (0, 4), (1, 2), (1, 4)]);
    }

    #[test]
    fn pairs_of_clusters() {
        let labels = vec![0, 0, 2, 0, 2, 5];
        assert_eq!(together(&labels), [(0, 1), (0, 3), (1, 3), (2, 4)].into());
        let text = table([("one", &labels), ("all", &vec![0; 6]), ("exact", &labels)]);
        let rows: Vec<Vec<&str>> = text.lines().skip(5).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["one", "2", "5", "100.0", "%", "100.0", "%"]);
        assert_eq!(rows[1], ["all", "1", "6", "100.0", "%", "26.7", "%"]);
    }
}
