//! Which matches of a query are wanted.

use crate::args::Args;

/// Which matches of a query are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    All,
    Count,
    /// The earliest record of the file.
    First,
    Nearest(usize),
}

impl From<&Args> for What {
    fn from(args: &Args) -> Self {
        match args.nearest {
            Some(n) => Self::Nearest(usize::try_from(n).unwrap_or(usize::MAX)),
            None if args.first || args.only.is_some() => Self::First,
            None if args.count => Self::Count,
            None => Self::All,
        }
    }
}
