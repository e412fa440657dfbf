//! Default thresholds of similarity.

use anyhow::bail;
use fpsketch::compare::Measure;

/// Similarity of two texts.
const TEXTS: f64 = 0.8;

/// Returns the requested threshold of a similarity, or `usual`.
pub(super) fn of_similarity(asked: Option<f64>, usual: f64) -> anyhow::Result<f64> {
    match asked {
        Some(asked) if !(0.0..=1.0).contains(&asked) => {
            bail!("--threshold {asked}: a similarity is from 0 to 1")
        }
        _ => Ok(asked.unwrap_or(usual)),
    }
}

/// Returns the threshold of a measure. Distances have no default.
pub(super) fn of_measure(asked: Option<f64>, measure: Measure) -> anyhow::Result<f64> {
    match (measure, asked) {
        (Measure::Euclidean(_), None) => {
            bail!("{measure} is a distance, which has no usual threshold; say --threshold, 0 for equal texts only")
        }
        (Measure::Euclidean(_), Some(asked)) if asked >= 0.0 && asked.is_finite() => Ok(asked),
        (Measure::Euclidean(_), Some(asked)) => bail!("--threshold {asked}: a distance is 0 or more"),
        _ => of_similarity(asked, TEXTS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_possible() {
        let euclidean = "euclidean".parse().unwrap();
        assert!((of_similarity(None, 0.5).unwrap() - 0.5).abs() < 1e-12);
        assert!(of_similarity(Some(1.1), 0.5).is_err() && of_similarity(Some(f64::NAN), 0.5).is_err());
        assert!((of_measure(None, Measure::Edit).unwrap() - TEXTS).abs() < 1e-12);
        assert!((of_measure(Some(7.5), euclidean).unwrap() - 7.5).abs() < 1e-12);
        assert!(of_measure(None, euclidean).unwrap_err().to_string().contains("--threshold"));
        assert!(of_measure(Some(-1.0), euclidean).is_err() && of_measure(Some(f64::INFINITY), euclidean).is_err());
    }
}
