//! The values of `--plan`.

use std::str::FromStr;

use fpstore::Fingerprint;
use fpstore::bulk::SortedRecords;
use fpstore::plan::{self, Cost, Design, Goal, Skew, Workload};

/// How the design is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanChoice {
    /// Shows all designs instead of loading.
    List,
    /// The planner chooses the best design for a goal.
    Auto(Goal),
    /// The user chose the design.
    Named(Design),
}

impl FromStr for PlanChoice {
    type Err = fpstore::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "list" => Self::List,
            "auto" => Self::Auto(Goal::Balanced),
            "auto:space" => Self::Auto(Goal::Space),
            "auto:latency" => Self::Auto(Goal::Latency),
            "auto:disk" => Self::Auto(Goal::Disk),
            name => Self::Named(name.parse()?),
        })
    }
}

impl PlanChoice {
    /// Returns the design for a workload on these records.
    pub(crate) fn design<F: Fingerprint>(
        self,
        records: &SortedRecords<F>,
        workload: &Workload,
    ) -> Result<Design, fpstore::Error> {
        let goal = match self {
            Self::Named(design) => return Ok(design),
            Self::Auto(goal) => goal,
            Self::List => Goal::Balanced,
        };
        records.skew().recommend(goal, workload)
    }
}

/// Returns the cost of each of the listed designs.
pub(crate) fn costs(skew: Option<&Skew>, workload: &Workload) -> Result<Vec<(Design, Cost)>, fpstore::Error> {
    let cost = |design| match skew {
        Some(skew) => skew.predict(design, workload),
        None => plan::predict(design, workload),
    };
    Design::listed(workload.width).into_iter().map(|design| Ok((design, cost(design)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!("list".parse::<PlanChoice>().unwrap(), PlanChoice::List);
        assert_eq!("auto".parse::<PlanChoice>().unwrap(), PlanChoice::Auto(Goal::Balanced));
        assert_eq!("auto:disk".parse::<PlanChoice>().unwrap(), PlanChoice::Auto(Goal::Disk));
        let two = PlanChoice::Named(Design::Tables { parts: 2 });
        assert_eq!("tables-2".parse::<PlanChoice>().unwrap(), two);
        for text in ["", "auto:", "auto:speed", "LIST", "tables", "choose-2"] {
            assert!(text.parse::<PlanChoice>().is_err(), "{text}");
        }
    }
}
