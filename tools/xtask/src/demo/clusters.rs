//! Clusters of documents: the output of `fpdedup clusters`, the result of brute force, and their summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::{Context, Result, bail};

use super::pairs::{Document, Pair, path_of};

/// Clusters shown.
const SHOWN: usize = 5;
/// Paths shown of each cluster.
const PATHS: usize = 4;

/// The cluster of every document.
pub(super) type Labels = Vec<usize>;

/// Parses the output of `fpdedup clusters`, with one line for each document.
pub(super) fn parse(lines: &str, documents: usize) -> Result<Labels> {
    let mut labels = vec![None; documents];
    for line in lines.lines() {
        let wrong = || format!("fpdedup printed `{line}`");
        let (id, label) = line.split_once('\t').with_context(wrong)?;
        let (id, label): (usize, usize) = (id.parse().with_context(wrong)?, label.parse().with_context(wrong)?);
        let Some(slot) = labels.get_mut(id) else { bail!("there is no document {id}") };
        if slot.replace(label).is_some() {
            bail!("document {id} has two labels");
        }
    }
    labels
        .into_iter()
        .enumerate()
        .map(|(id, label)| label.with_context(|| format!("document {id} has no label")))
        .collect()
}

/// Returns the least document of each cluster, from pairs found by brute force.
pub(super) fn brute_force(pairs: &[Pair], documents: usize) -> Labels {
    let pairs: Vec<(usize, usize)> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    joined(&pairs, documents)
}

/// Returns the least document of each cluster of documents that are joined by pairs.
pub(super) fn joined(pairs: &[(usize, usize)], documents: usize) -> Labels {
    let mut labels: Labels = (0..documents).collect();
    loop {
        let before = labels.clone();
        for &(a, b) in pairs {
            let of = |one: usize| labels.get(one).copied().unwrap_or(one);
            let least = of(a).min(of(b));
            for one in [a, b] {
                labels.iter_mut().skip(one).take(1).for_each(|label| *label = least);
            }
        }
        if labels == before {
            return labels;
        }
    }
}

/// Returns the tab-separated list of all clusters of several documents.
pub(super) fn list(labels: &Labels, documents: &[Document]) -> String {
    let mut text = String::from("cluster\tid\tpath\n");
    for (label, members) in clusters(labels).into_iter().filter(|(_, members)| members.len() > 1) {
        for member in members {
            let _ = writeln!(text, "{label}\t{member}\t{}", path_of(documents, member));
        }
    }
    text
}

/// Returns the number of clusters, and those with the most paths.
pub(super) fn selection(labels: &Labels, documents: &[Document]) -> String {
    let clusters = clusters(labels);
    let several = clusters.values().filter(|members| members.len() > 1).count();
    let mut text = format!(
        "\n{} documents are {} clusters, {several} of them of several documents; brute force finds the same.\n\
         Those that join the most paths:\n",
        documents.len(),
        clusters.len()
    );
    let paths = |members: &[usize]| members.iter().map(|&one| path_of(documents, one)).collect::<BTreeSet<&str>>();
    let mut by_paths: Vec<(usize, &Vec<usize>)> =
        clusters.values().map(|members| (paths(members).len(), members)).collect();
    by_paths.sort_by_key(|&(count, members)| (std::cmp::Reverse(count), members.first().copied()));
    for (count, members) in by_paths.into_iter().filter(|&(count, _)| count > 1).take(SHOWN) {
        let _ = writeln!(text, "\n  {} documents, {count} paths", members.len());
        for path in paths(members).into_iter().take(PATHS) {
            let _ = writeln!(text, "    {path}");
        }
        if count > PATHS {
            let _ = writeln!(text, "    and {} more", count - PATHS);
        }
    }
    text.trim_end().to_owned()
}

/// Returns the members of each cluster.
fn clusters(labels: &Labels) -> BTreeMap<usize, Vec<usize>> {
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    labels.iter().enumerate().for_each(|(id, &label)| clusters.entry(label).or_default().push(id));
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_chains() {
        let pair = |a, b| Pair { distance: 1, a, b };
        assert_eq!(brute_force(&[pair(4, 5), pair(1, 4), pair(2, 3)], 6), [0, 1, 2, 2, 1, 1]);
    }

    #[test]
    fn every_document_has_one_label() {
        assert_eq!(parse("0\t0\n2\t0\n1\t1\n", 3).unwrap(), [0, 1, 0]);
        for wrong in ["0\t0\n", "0\t0\n0\t0\n1\t1\n", "0\t0\n1\tx\n", "0 0\n1\t1\n", "0\t0\n7\t0\n"] {
            assert!(parse(wrong, 2).is_err(), "{wrong:?}");
        }
    }
}
