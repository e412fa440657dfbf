//! Chooses the parameters of a new store, and checks that options fit an existing one.

use anyhow::{Context as _, bail};
use fpstore::bulk::SortedRecords;
use fpstore::plan::{Design, Goal, Workload};
use fpstore::{Fingerprint, IdKind, Parameters};
use fpstore_tools::{input, width};

use crate::args::{Args, Ids};
use crate::choice::PlanChoice;
use crate::hasher::Hasher;

/// Number of fingerprints to plan for by default.
pub(crate) const PLANNED_RECORDS: u64 = 100_000_000;

/// Stores grow, but keep their plan: a small store is planned as if it had this many fingerprints, in families like
/// those it has now ([`fpstore::plan::Skew::predict`]). For fewer fingerprints a design of more tables is always
/// faster, but its bytes would be a burden when the store has grown.
const LEAST_PLANNED: u64 = 20_000_000;

/// Default maximum distance of a store.
const MAX_DISTANCE: u32 = 3;

/// Returns the input of the planner.
pub(crate) fn workload(args: &Args, width: u32, fingerprints: u64) -> Workload {
    Workload {
        fingerprints,
        width,
        distance: args.max_distance.unwrap_or(MAX_DISTANCE),
        block_size: args.block_size.unwrap_or(Parameters::BLOCK_SIZE),
        filter: true,
    }
}

/// Returns the parameters of a new store with these records. If the planner chooses the design, it measures the
/// records.
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

/// Returns the kind of ids that the options ask for.
pub(crate) fn wanted_ids(args: &Args) -> input::Ids {
    match args.ids {
        None | Some(Ids::Auto) => input::Ids::Auto,
        Some(Ids::U64) => input::Ids::Is(IdKind::Number),
        Some(Ids::Text) => input::Ids::Is(IdKind::Text),
        Some(Ids::None) => input::Ids::Is(IdKind::None),
    }
}

/// Rejects a distance larger than the width.
pub(crate) fn check_distance(args: &Args, width: u32) -> anyhow::Result<()> {
    args.max_distance.map_or(Ok(()), |distance| width::check_distance("--max-distance", distance, width))
}

/// Rejects options that no store can have, before any input is read.
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

/// Rejects options that contradict the store. Options that agree with it are accepted, so that the command that created
/// the store can be repeated without `--create`.
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

pub(crate) fn agree<T: PartialEq + std::fmt::Display>(option: &str, asked: Option<T>, is: T) -> anyhow::Result<()> {
    match asked {
        Some(asked) if asked != is => {
            bail!("{option} {asked} contradicts the store, which was created with {is}; it cannot be changed")
        }
        _ => Ok(()),
    }
}
