//! Tables in Markdown, and JSON.

use crate::data::{Data, Points, TRUTHS};
use crate::lengths::{DISTANCES, Length};
use crate::minhash::Errors;
use crate::truth::is_unspaced;

/// Distances of the shorter tables.
const KS: [u8; 8] = [0, 3, 5, 6, 7, 8, 9, 10];
/// The least useful precision of a point.
const PRECISE: f64 = 0.95;

pub(crate) fn json(results: &[Points], errors: &[Errors], lengths: &[Length]) {
    results.iter().for_each(|points| println!("{}", serde_json::to_string(points).unwrap()));
    errors.iter().for_each(|errors| println!("{}", serde_json::to_string(errors).unwrap()));
    lengths.iter().for_each(|length| println!("{}", serde_json::to_string(length).unwrap()));
}

/// The results of a corpus.
pub(crate) fn tables(data: &Data, results: &[Points]) {
    let (count, all) = (data.texts.len(), data.all());
    let corpus = data.corpus.name();
    println!(
        "\n# {corpus}\n\n{count} documents, {} in Chinese or Japanese; {} pairs, {} of them right (Jaccard >= 0.5), {} unrelated \
         (< 0.1)",
        data.texts.iter().filter(|text| is_unspaced(text)).count(),
        all.found,
        all.right[0],
        all.unrelated
    );
    let of = |way: &str| {
        results.iter().filter(|points| points.way == way && points.corpus == corpus).collect::<Vec<&Points>>()
    };
    simhash(&of("simhash"));
    println!("\nnative where something else decides ties: precision / recall in percent at k\n");
    curves("tie", &of("ties"), &KS);
    println!("\nnative by other truths\n");
    curves("truth", &of("truth"), &KS);
    println!("\nnative, documents by their least number of features\n");
    curves("features", &of("features"), &KS);
    minhash(&of("minhash"));
    bands(&of("bands"));
    sentences(&of("sentences"));
}

pub(crate) fn errors(errors: &[Errors]) {
    println!("\nEstimates of the true pairs of rust-book, 128 places, 8 seeds\n");
    head(&["MinHash", "bits a place", "mean error", "root mean square", "theory"].map(str::to_owned));
    for Errors { sketch, bits, mean, root_mean_square, theory, .. } in errors {
        println!("| {sketch} | {bits} | {mean:+.4} | {root_mean_square:.4} | {theory:.4} |");
    }
}

/// False pairs of unrelated texts, a table for each distance.
pub(crate) fn lengths(lengths: &[Length]) {
    let rules: Vec<&str> = lengths.chunk_by(|a, b| a.words == b.words).take(1).flatten().map(|one| one.rule).collect();
    for (place, k) in DISTANCES.iter().enumerate() {
        println!("\nUnrelated texts by their number of words: false pairs within {k}, and the texts in such pairs\n");
        head(&["words"].iter().chain(&rules).map(|&column| column.to_owned()).collect::<Vec<String>>());
        for same in lengths.chunk_by(|a, b| a.words == b.words) {
            let cells = same.iter().map(|one| format!("{} ({})", one.found[place], one.texts[place]));
            println!("| {} | {} |", same[0].words, cells.collect::<Vec<String>>().join(" | "));
        }
    }
}

/// Documents, right pairs, and precision and recall at each k.
fn curves(first: &str, all: &[&Points], ks: &[u8]) {
    let columns = ks.iter().map(|k| format!("k = {k}"));
    let before = [first, "documents", "right pairs"].map(str::to_owned);
    head(&before.into_iter().chain(columns).collect::<Vec<String>>());
    for points in all {
        let cells: Vec<String> = ks.iter().map(|k| both(points, f64::from(*k), 0)).collect();
        println!("| {} | {} | {} | {} |", points.sketch, points.documents, points.all.right[0], cells.join(" | "));
    }
}

fn simhash(all: &[&Points]) {
    let (short, wide): (Vec<&Points>, Vec<&Points>) =
        all.iter().partition(|points| points.points.last().is_some_and(|(k, _)| *k < 17.0));
    for (what, all, ks) in [
        ("64 bits", short, (0..=10).chain([12, 14, 16]).collect::<Vec<u8>>()),
        ("128 bits", wide, (0..=24).step_by(2).collect()),
    ] {
        println!("\nSimhash, {what}: precision / recall in percent at k\n");
        let columns = ks.iter().map(|k| format!("k = {k}"));
        head(&["simhash".to_owned()].into_iter().chain(columns).collect::<Vec<String>>());
        for points in &all {
            let cells: Vec<String> = ks.iter().map(|k| both(points, f64::from(*k), 0)).collect();
            println!("| {} | {} |", points.sketch, cells.join(" | "));
        }
    }
    println!("\nUnrelated pairs (Jaccard < 0.1) that are found at k\n");
    let ks: Vec<u8> = (3..=10).chain([12, 14, 16]).collect();
    let columns = ks.iter().map(|k| format!("k = {k}"));
    head(&["simhash".to_owned()].into_iter().chain(columns).collect::<Vec<String>>());
    for points in all {
        let cell = |k: &u8| points.at(f64::from(*k)).map_or(0, |found| found.unrelated).to_string();
        println!("| {} | {} |", points.sketch, ks.iter().map(cell).collect::<Vec<String>>().join(" | "));
    }
    println!("\nBest recall at a precision of at least 95%, and its k\n");
    head(&["simhash", "k", "precision", "recall", "wrong pairs", "unrelated pairs"].map(str::to_owned));
    for points in all {
        let good =
            points.points.iter().rfind(|(_, found)| Points::precision(found, 0).is_some_and(|share| share >= PRECISE));
        match good {
            None => println!("| {} | – | – | – | – | – |", points.sketch),
            Some((k, found)) => {
                let (wrong, unrelated) = (found.found - found.right[0], found.unrelated);
                let (precision, recall) = (Points::precision(found, 0), points.recall(found, 0));
                let (precision, recall) = (percent(precision), percent(recall));
                println!("| {} | {k} | {precision} | {recall} | {wrong} | {unrelated} |", points.sketch);
            }
        }
    }
}

fn minhash(all: &[&Points]) {
    let thresholds = [0.4, 0.5, 0.6, 0.7, 0.8];
    println!(
        "\nMinHash, 128 places: precision / recall in percent by the least estimate, beside a Jaccard similarity >= 0.5\n"
    );
    head(&["MinHash".to_owned()].into_iter().chain(thresholds.map(|at| format!("{at}"))).collect::<Vec<String>>());
    for points in all {
        println!("| {} | {} |", points.sketch, thresholds.map(|at| both(points, at, 0)).join(" | "));
    }
    println!("\nThe same beside a Jaccard similarity of at least the same\n");
    let tenths = TRUTHS.map(|tenths| tenths as f64 / 10.0);
    head(&["MinHash".to_owned()].into_iter().chain(tenths.map(|at| format!("{at}"))).collect::<Vec<String>>());
    for points in all {
        let cells: Vec<String> = tenths.iter().enumerate().map(|(truth, at)| both(points, *at, truth)).collect();
        println!("| {} | {} |", points.sketch, cells.join(" | "));
    }
}

fn bands(all: &[&Points]) {
    println!("\nBanding of 128 places, the best bands and rows for a threshold\n");
    head(&["MinHash", "threshold", "true pairs found", "candidates for each true pair"].map(str::to_owned));
    for points in all {
        let (threshold, found) = points.points[0];
        let truth = TRUTHS.iter().position(|tenths| (*tenths as f64 / 10.0 - threshold).abs() < 1e-9).unwrap_or(0);
        let each = found.found as f64 / points.all.right[truth] as f64;
        println!("| {} | {threshold} | {} | {each:.2} |", points.sketch, percent(points.recall(&found, truth)));
    }
}

fn sentences(all: &[&Points]) {
    println!("\nLongest sentences\n");
    head(&["sentences", "in common", "precision", "recall"].map(str::to_owned));
    for points in all {
        let (wanted, found) = points.points[0];
        let (precision, recall) = (Points::precision(&found, 0), points.recall(&found, 0));
        println!("| {wanted} | {} | {} | {} |", points.sketch, percent(precision), percent(recall));
    }
}

fn head(columns: &[String]) {
    println!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// Precision and recall at a parameter.
fn both(points: &Points, parameter: f64, truth: usize) -> String {
    let Some(found) = points.at(parameter) else { return "–".to_owned() };
    let whole = |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.0}", 100.0 * share));
    format!("{} / {}", whole(Points::precision(found, truth)), whole(points.recall(found, truth)))
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}
