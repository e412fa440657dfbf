//! Table designs, and the radii that make them complete.

use super::permutation::{BitGroup, Permutation};
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

const MAX_WIDTH: u32 = 256;
const MAX_TABLES: usize = 256;

/// A layout of tables. The fingerprint's bits are cut into parts of nearly equal length, the longer ones first.
///
/// The programs name designs `tables-M`, `choose-C-of-M` and `nested-OxI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Design {
    /// One table for each part, which leads its key. Four parts with k = 3 are the paper's first example.
    Tables {
        /// Number of parts and tables.
        parts: u8,
    },
    /// One table for each choice of `chosen` of `parts` parts, which lead its key together (10 tables for 2 of 5, 20
    /// for 3 of 6 in the paper).
    Choose {
        /// Number of parts that lead a key.
        chosen: u8,
        /// Number of parts.
        parts: u8,
    },
    /// One table for each pair of an outer part and an inner part of the remaining bits, which lead its key together
    /// (4 x 4 = 16 tables in the paper).
    Nested {
        /// Number of outer parts.
        outer: u8,
        /// Number of inner parts that the bits outside an outer part are cut into.
        inner: u8,
    },
}

/// One table of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLayout {
    /// Makes the table's key of a fingerprint.
    pub permutation: Permutation,
    /// Number of leading key bits that a probe may use as its prefix.
    pub leading: u32,
}

impl Design {
    /// The designs for fingerprints of 64 bits that `fpload --plan list` shows and the planner chooses from.
    pub const LISTED: [Self; 7] = [
        Self::Tables { parts: 1 },
        Self::Tables { parts: 2 },
        Self::Tables { parts: 3 },
        Self::Tables { parts: 4 },
        Self::Choose { chosen: 2, parts: 5 },
        Self::Nested { outer: 4, inner: 4 },
        Self::Choose { chosen: 3, parts: 6 },
    ];

    /// The listed designs for fingerprints of `width` bits. Wide ones have narrow tables, so designs may have many.
    #[must_use]
    pub fn listed(width: u32) -> Vec<Self> {
        const PARTS: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20];
        match width {
            0..=64 => Self::LISTED.to_vec(),
            _ => PARTS.into_iter().map(|parts| Self::Tables { parts }).collect(),
        }
    }

    /// The tables for fingerprints of `width` bits (1 to 256). The first one's key is the fingerprint itself.
    ///
    /// # Errors
    /// `InvalidInput` if the design does not fit the width or has more than 256 tables.
    pub fn tables(self, width: u32) -> Result<Vec<TableLayout>> {
        self.check(width)?;
        let whole = [BitGroup { first: 0, length: width }];
        Ok(match self {
            Self::Tables { parts } => {
                let parts = cut(&whole, u32::from(parts));
                (0..parts.len()).map(|lead| layout(width, &[lead], &parts)).collect()
            }
            Self::Choose { chosen, parts } => {
                let parts = cut(&whole, u32::from(parts));
                choices(parts.len(), usize::from(chosen)).iter().map(|lead| layout(width, lead, &parts)).collect()
            }
            Self::Nested { outer, inner } => {
                let outer = cut(&whole, u32::from(outer));
                let mut tables = Vec::new();
                for lead in 0..outer.len() {
                    let rest: Vec<BitGroup> = without(&outer, &[lead]).flatten().copied().collect();
                    let parts: Vec<Vec<BitGroup>> =
                        outer.get(lead).cloned().into_iter().chain(cut(&rest, u32::from(inner))).collect();
                    tables.extend((1..parts.len()).map(|second| layout(width, &[0, second], &parts)));
                }
                tables
            }
        })
    }

    /// The radius within which each table has to be probed to find every fingerprint within distance `k`, in the order
    /// of [`Design::tables`]; `None` if the table need not be probed. Empty for a design of more than 256 tables, which
    /// no store can have.
    ///
    /// With m parts and k = m * a + b errors, 0 <= b < m: if the first b + 1 parts had more than a errors each and the
    /// others more than a - 1, there would be at least (b + 1) * (a + 1) + (m - b - 1) * a = k + 1 of them. So probing
    /// the first b + 1 parts within a and the others within a - 1 is complete.
    ///
    /// Where c parts lead together, the c parts with the fewest errors have the most of them when all parts have a or
    /// a + 1: c * a, and one more for each that exceeds the m - b parts that have a.
    ///
    /// Where an outer part has at most r errors, the other k - r are spread over the inner parts, one of which has at
    /// most their mean; moving an error from the inner parts to the outer one never makes the sum smaller.
    #[must_use]
    pub fn radii(self, k: u32) -> Vec<Option<u32>> {
        if self.table_count() > MAX_TABLES {
            return Vec::new();
        }
        let k = k.min(MAX_WIDTH);
        match self {
            Self::Tables { parts } => {
                let parts = u32::from(parts);
                (0..parts).map(|part| part_radius(part, parts, k)).collect()
            }
            Self::Choose { chosen, parts } => {
                let (c, m) = (u32::from(chosen), u32::from(parts));
                let (a, b) = (k / m.max(1), k % m.max(1));
                vec![Some(c * a + c.saturating_sub(m - b)); self.table_count()]
            }
            Self::Nested { outer, inner } => {
                let (outer, inner) = (u32::from(outer), u32::from(inner));
                let radius = |part| part_radius(part, outer, k).map(|r| r + (k - r) / inner);
                (0..outer).flat_map(|part| (0..inner).map(move |_| radius(part))).collect()
            }
        }
    }

    /// Number of tables.
    #[must_use]
    pub fn table_count(self) -> usize {
        match self {
            Self::Tables { parts } => usize::from(parts),
            Self::Choose { chosen, parts } => binomial(u32::from(parts), u32::from(chosen)),
            Self::Nested { outer, inner } => usize::from(outer) * usize::from(inner),
        }
    }

    fn check(self, width: u32) -> Result<()> {
        let fits = (1..=MAX_WIDTH).contains(&width)
            && match self {
                Self::Tables { parts } => (1..=width).contains(&u32::from(parts)),
                Self::Choose { chosen, parts } => (1..=parts).contains(&chosen) && u32::from(parts) <= width,
                Self::Nested { outer, inner } => {
                    // The bits outside the longest outer part are at least one an inner part.
                    let (outer, inner) = (u32::from(outer), u32::from(inner));
                    (2..=width).contains(&outer) && inner >= 1 && width - width.div_ceil(outer) >= inner
                }
            };
        if !fits || self.table_count() > MAX_TABLES {
            return Err(Error::invalid(format!("design {self} does not fit {width}-bit fingerprints"))
                .with_remedy("choose a design with fewer parts"));
        }
        Ok(())
    }
}

/// The radius of one of `parts` parts; see [`Design::radii`].
fn part_radius(part: u32, parts: u32, k: u32) -> Option<u32> {
    let (a, b) = (k / parts, k % parts);
    if part <= b { Some(a) } else { a.checked_sub(1) }
}

/// Cuts groups of bits into `parts` lists whose lengths differ by at most one bit, the longer ones first.
fn cut(groups: &[BitGroup], parts: u32) -> Vec<Vec<BitGroup>> {
    let total: u32 = groups.iter().map(|group| group.length).sum();
    let mut source = groups.iter().copied();
    let mut current = source.next();
    (0..parts)
        .map(|part| {
            let mut wanted = total / parts + u32::from(part < total % parts);
            let mut taken = Vec::new();
            while let Some(group) = current.as_mut().filter(|_| wanted > 0) {
                let length = group.length.min(wanted);
                taken.push(BitGroup { first: group.first, length });
                wanted -= length;
                *group = BitGroup { first: group.first + length, length: group.length - length };
                if group.length == 0 {
                    current = source.next();
                }
            }
            taken
        })
        .collect()
}

/// The table whose key begins with the parts `lead`, followed by the others in the fingerprint's order.
fn layout(width: u32, lead: &[usize], parts: &[Vec<BitGroup>]) -> TableLayout {
    let leading: Vec<BitGroup> = lead.iter().filter_map(|&part| parts.get(part)).flatten().copied().collect();
    let mut rest: Vec<BitGroup> = without(parts, lead).flatten().copied().collect();
    rest.sort_by_key(|group| group.first);
    let length = leading.iter().map(|group| group.length).sum();
    TableLayout { permutation: Permutation::new(width, &[leading, rest].concat()), leading: length }
}

fn without<'a>(parts: &'a [Vec<BitGroup>], lead: &[usize]) -> impl Iterator<Item = &'a Vec<BitGroup>> {
    parts.iter().enumerate().filter(|(part, _)| !lead.contains(part)).map(|(_, groups)| groups)
}

/// All choices of `chosen` of the numbers below `count`, in lexicographic order.
fn choices(count: usize, chosen: usize) -> Vec<Vec<usize>> {
    if chosen == 0 {
        return vec![Vec::new()];
    }
    (chosen - 1..count)
        .flat_map(|last| {
            choices(last, chosen - 1).into_iter().map(move |mut choice| {
                choice.push(last);
                choice
            })
        })
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Number of choices of `k` of `n`; saturates.
fn binomial(n: u32, k: u32) -> usize {
    if k > n {
        return 0;
    }
    // With the smaller k no product exceeds the result.
    let k = k.min(n - k);
    let product =
        (0..k).try_fold(1u128, |product, i| Some(product.checked_mul(u128::from(n - i))? / u128::from(i + 1)));
    product.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX)
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::Tables { parts } => format!("tables-{parts}"),
            Self::Choose { chosen, parts } => format!("choose-{chosen}-of-{parts}"),
            Self::Nested { outer, inner } => format!("nested-{outer}x{inner}"),
        })
    }
}

impl FromStr for Design {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let pair = |text: &str, between: &str| {
            let (a, b) = text.split_once(between)?;
            Some((a.parse().ok()?, b.parse().ok()?))
        };
        let design = if let Some(parts) = name.strip_prefix("tables-") {
            parts.parse().ok().map(|parts| Self::Tables { parts })
        } else if let Some(rest) = name.strip_prefix("choose-") {
            pair(rest, "-of-").map(|(chosen, parts)| Self::Choose { chosen, parts })
        } else {
            name.strip_prefix("nested-")
                .and_then(|rest| pair(rest, "x"))
                .map(|(outer, inner)| Self::Nested { outer, inner })
        };
        design.ok_or_else(|| {
            Error::invalid(format!("there is no plan '{name}'"))
                .with_remedy("use tables-M, choose-C-of-M or nested-OxI")
        })
    }
}

#[cfg(test)]
#[path = "design_tests.rs"]
mod tests;
