//! The report for people: facts, the grid of bits, and each finding with its remedy.

use std::io::{self, Write};

use crate::number::count;
use crate::report::facts;

use super::bits::FEWEST;
use super::grid::{self, Pen};
use super::report::{Frequent, Report};

/// Columns of a line of text.
const WIDTH: usize = 78;

/// Writes the report for people.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    facts(out, &about(report))?;
    writeln!(out, "\n{}", grid::lines(&report.bits, &report.defects, pen))?;
    match report.sound {
        None => writeln!(out, "Fewer than {FEWEST} records: too few to tell whether the bits are sound."),
        Some(true) => writeln!(out, "Sound: nothing is wrong with these bits."),
        Some(false) => report.findings.iter().enumerate().try_for_each(|(number, finding)| {
            if number > 0 {
                writeln!(out)?;
            }
            paragraph(out, &finding.what, "* ", "  ")?;
            paragraph(out, &finding.advice, "  ", "  ")
        }),
    }
}

fn about(report: &Report) -> Vec<(&'static str, String)> {
    let mut about = vec![("records", format!("{} of {} bits", count(report.records), report.width))];
    let exact = if report.distinct_exact { "" } else { ", approximately (from a sample)" };
    about.push(("distinct", format!("{} values{exact}", count(report.distinct_values))));
    if let Some(Frequent { fingerprint, share, exact }) = &report.most_frequent {
        let of = if *exact { "the records" } else { "a sample of the records" };
        about.push(("most frequent", fingerprint.clone()));
        about.push(("its share", format!("{:.2}% of {of}", share * 100.0)));
    }
    about.push(("all zeros", count(report.zeros)));
    about.push(("all ones", count(report.all_ones)));
    about.push(("information", format!("at most {:.1} bits (entropy of single bits, summed)", report.entropy_bits)));
    if let Some(mean) = report.mean_distance {
        about
            .push(("mean distance", format!("{mean:.2} bits ({:.1} if all bits were even)", report.expected_distance)));
    }
    if let Some(deviation) = report.standard_deviation {
        let expected = report.expected_standard_deviation;
        about.push(("its deviation", format!("{deviation:.2} bits ({expected:.2} if these bits were independent)")));
    }
    about
}

/// Writes a text in lines of at most [`WIDTH`] columns.
fn paragraph(out: &mut dyn Write, text: &str, first: &str, others: &str) -> io::Result<()> {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            others.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    writeln!(out, "{line}")
}

#[cfg(test)]
mod tests {
    use super::super::gather::Gathered;
    use super::*;

    #[test]
    fn lines_are_not_too_long() {
        let mut gathered = Gathered::<fpstore::U256>::new();
        gathered.add(&mut (0..500).map(|i| fpstore::U256([i, i * i, u64::MAX, i % 7])).collect());
        for pen in [Pen::Unicode, Pen::Ascii] {
            let mut text = Vec::new();
            write(&Report::new(&gathered), pen, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert_eq!(text.is_ascii(), pen == Pen::Ascii, "{text}");
            assert!(text.contains("\n 248 - 255  "), "{text}");
        }
    }

    #[test]
    fn words_stay_whole() {
        let mut text = Vec::new();
        paragraph(&mut text, &["word"; 30].join(" "), "* ", "  ").unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().map(|line| line.matches("word").count()).collect::<Vec<_>>(), [15, 15]);
        assert!(text.starts_with("* word word") && text.contains("\n  word"), "{text}");
    }
}
