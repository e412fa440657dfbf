//! What a new store is made of, and whether an existing one is what the options say.

use anyhow::{Context as _, bail};
use fpstore::plan::{Design, Goal, Workload};
use fpstore::{Fingerprint, IdKind, Parameters, SortedRecords};
use fpstore_tools::input;

use crate::args::{Args, Ids};
use crate::choice::PlanChoice;
use crate::hasher::Hasher;

/// Number of fingerprints that is planned for where none is told.
pub(crate) const PLANNED_RECORDS: u64 = 100_000_000;

/// Stores grow, and their plan stays: a small beginning is planned for as if it held so many already, with families
/// such as it has now ([`fpstore::plan::Skew::predict`]). Below that some design of more tables is always faster, and
/// costs bytes that a grown store would regret.
const LEAST_PLANNED: u64 = 20_000_000;

/// Distance that a store is made for where none is told.
const MAX_DISTANCE: u32 = 3;

/// What the planner is to know.
pub(crate) fn workload(args: &Args, width: u32, fingerprints: u64) -> Workload {
    Workload {
        fingerprints,
        width,
        distance: args.max_distance.unwrap_or(MAX_DISTANCE),
        block_size: args.block_size.unwrap_or(Parameters::BLOCK_SIZE),
        filter: true,
    }
}

/// The parameters of a new store that begins with these records. Where the planner chooses, it measures them.
pub(crate) fn parameters<F: Fingerprint>(
    args: &Args,
    records: &SortedRecords<F>,
    ids: IdKind,
    hasher: Option<&str>,
) -> anyhow::Result<Parameters> {
    let choice = args.plan.unwrap_or(PlanChoice::Auto(Goal::Balanced));
    let expected = match records.given() {
        0 => PLANNED_RECORDS,
        _ => LEAST_PLANNED.max(records.fingerprints()),
    };
    let workload = workload(args, F::WIDTH, expected);
    let design = choice.design(records, &workload)?;
    let parameters = Parameters::new(workload.distance)
        .with_width(F::WIDTH)
        .with_design(design)
        .with_codec(args.codec.unwrap_or_default())
        .with_block_size(workload.block_size)
        .with_ids(ids)
        .with_id_index(args.id_index)
        .with_hasher(hasher);
    parameters.check()?;
    Ok(parameters)
}

/// What the options want the ids to be.
pub(crate) fn wanted_ids(args: &Args) -> input::Ids {
    match args.ids {
        None | Some(Ids::Auto) => input::Ids::Auto,
        Some(Ids::U64) => input::Ids::Is(IdKind::Number),
        Some(Ids::Text) => input::Ids::Is(IdKind::Text),
        Some(Ids::None) => input::Ids::Is(IdKind::None),
    }
}

/// Refuses a distance that no two fingerprints have.
pub(crate) fn check_distance(args: &Args, width: u32) -> anyhow::Result<()> {
    match args.max_distance {
        Some(distance) if distance > width => {
            bail!("--max-distance {distance}: fingerprints of {width} bits differ in no more")
        }
        _ => Ok(()),
    }
}

/// Refuses what no store can be made of, before any input is read.
pub(crate) fn check_options(args: &Args, width: u32) -> anyhow::Result<()> {
    if args.records.is_some() {
        bail!("--records goes with --plan list only; a load counts its records itself");
    }
    check_distance(args, width)?;
    Parameters::new(0).with_hasher(args.hasher.as_deref()).check().context("--hasher")?;
    if let Some(PlanChoice::Named(design)) = args.plan {
        design.tables(width)?;
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
    agree("--width", args.width, parameters.width())?;
    agree("--plan", design, parameters.design())?;
    agree("--max-distance", args.max_distance, parameters.max_distance())?;
    agree("--codec", args.codec, parameters.codec())?;
    agree("--block-size", args.block_size, parameters.block_size())?;
    let ids = match wanted_ids(args) {
        input::Ids::Auto => None,
        input::Ids::Is(kind) => Some(kind),
    };
    agree("--ids", ids, parameters.ids())?;
    match &args.hasher {
        Some(_) => Hasher::new(args.hasher.as_deref()).check(parameters),
        None => Ok(()),
    }
}

fn agree<T: PartialEq + std::fmt::Display>(option: &str, asked: Option<T>, is: T) -> anyhow::Result<()> {
    match asked {
        Some(asked) if asked != is => {
            bail!("{option} {asked} contradicts the store, which was created with {is}; it cannot be changed")
        }
        _ => Ok(()),
    }
}
