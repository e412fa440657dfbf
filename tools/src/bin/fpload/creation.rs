//! What a new store is made of, and whether an existing one is what the options say.

use anyhow::bail;
use fpstore::plan::{Design, Goal, Workload};
use fpstore::{Parameters, SortedRecords, WIDTH};

use crate::args::{Args, Ids};
use crate::choice::PlanChoice;

/// Number of fingerprints that is planned for where none is told.
pub(crate) const PLANNED_RECORDS: u64 = 100_000_000;

/// Stores grow, and their plan stays: a small beginning is planned for as if it held so many already, with families
/// such as it has now ([`fpstore::plan::Skew::predict`]). Below that some design of more tables is always faster, and
/// costs bytes that a grown store would regret.
const LEAST_PLANNED: u64 = 20_000_000;

/// Distance that a store is made for where none is told.
const MAX_DISTANCE: u32 = 3;

/// What the planner is to know.
pub(crate) fn workload(args: &Args, fingerprints: u64) -> Workload {
    Workload {
        fingerprints,
        width: args.width.unwrap_or(WIDTH),
        distance: args.max_distance.unwrap_or(MAX_DISTANCE),
        block_size: args.block_size.unwrap_or(Parameters::BLOCK_SIZE),
        filter: true,
    }
}

/// The parameters of a new store that begins with these records. Where the planner chooses, it measures them.
pub(crate) fn parameters(args: &Args, records: &SortedRecords) -> anyhow::Result<Parameters> {
    let choice = args.plan.unwrap_or(PlanChoice::Auto(Goal::Balanced));
    let expected = match records.fingerprints() {
        0 => PLANNED_RECORDS,
        n => LEAST_PLANNED.max(n),
    };
    let workload = workload(args, expected);
    let design = choice.design(records, &workload)?;
    let parameters = Parameters::new(workload.distance)
        .with_design(design)
        .with_codec(args.codec.unwrap_or_default())
        .with_block_size(workload.block_size);
    parameters.check()?;
    Ok(parameters)
}

/// Refuses what no store can be made of, before any input is read.
pub(crate) fn check_options(args: &Args) -> anyhow::Result<()> {
    match args.ids {
        Some(Ids::Text) => bail!("text ids are not supported yet; ids are 64-bit numbers (--ids u64)"),
        Some(Ids::None) => bail!("stores without ids are not supported yet; leave out --ids, and records are numbered"),
        Some(Ids::Auto | Ids::U64) | None => {}
    }
    if args.records.is_some() {
        bail!("--records goes with --plan list only; a load counts its records itself");
    }
    if let Some(PlanChoice::Named(design)) = args.plan {
        design.tables(args.width.unwrap_or(WIDTH))?;
    }
    Ok(())
}

/// Refuses options that ask for something else than the store is. Options that say what it is are welcome, so that the
/// command that created it can be repeated without `--create`.
pub(crate) fn check_existing(args: &Args, parameters: &Parameters) -> anyhow::Result<()> {
    let design: Option<Design> = match args.plan {
        Some(PlanChoice::Named(design)) => Some(design),
        _ => None,
    };
    agree("--plan", design, parameters.design())?;
    agree("--max-distance", args.max_distance, parameters.max_distance())?;
    agree("--codec", args.codec, parameters.codec())?;
    agree("--block-size", args.block_size, parameters.block_size())
}

fn agree<T: PartialEq + std::fmt::Display>(option: &str, asked: Option<T>, is: T) -> anyhow::Result<()> {
    match asked {
        Some(asked) if asked != is => {
            bail!("{option} {asked} contradicts the store, which was created with {is}; it cannot be changed")
        }
        _ => Ok(()),
    }
}
