//! Checks the stores of nodes, and creates missing ones.

use anyhow::{Context, anyhow, bail};
use fpstore::{AnyStore, ErrorKind, IdAssignment, IdKind, Options, Parameters};

use super::place::{Place, Places};

/// Checks that the stores of all nodes can share records, and creates the stores of new nodes with the parameters of
/// the first one. Returns these.
pub(super) fn prepare(places: &Places, options: &Options) -> anyhow::Result<Parameters> {
    places.check_apart()?;
    let mut first: Option<(&Place, Parameters)> = None;
    let mut missing = Vec::new();
    for place in &places.all {
        let parameters = match fpstore::parameters_of(&place.directory, options) {
            Err(error) if error.kind() == ErrorKind::NotFound && !place.is_old => {
                missing.push(place);
                continue;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("node {} has no store at {}: {}", place.name, place.directory.display(), error.message());
            }
            found => found.with_context(|| format!("node {}", place.name))?,
        };
        check(place, &parameters, options)?;
        match &first {
            Some((other, wanted)) => agree((place, &parameters), (other, wanted))?,
            None => first = Some((place, parameters)),
        }
    }
    let (_, parameters) = first.ok_or_else(|| anyhow!("no node has a store"))?;
    for place in missing {
        let assignment = match parameters.ids() {
            IdKind::Number => IdAssignment::Explicit,
            _ => IdAssignment::Undecided,
        };
        let parameters = parameters.clone().with_id_assignment(assignment);
        let store = AnyStore::create(&place.directory, &parameters, options);
        store.and_then(AnyStore::close).with_context(|| format!("node {}", place.name))?;
    }
    places.check_apart()?;
    Ok(parameters)
}

/// Refuses a store whose records do not tell where they belong.
fn check(place: &Place, parameters: &Parameters, options: &Options) -> anyhow::Result<()> {
    let (name, path) = (&place.name, place.directory.display());
    if parameters.keys().is_some() {
        bail!("node {name}: the store at {path} is a key index; only stores of fingerprints are moved");
    }
    if parameters.ids() == IdKind::None {
        bail!("node {name}: the store at {path} has no ids, and the id of a record tells where it belongs");
    }
    let store = AnyStore::open_read_only(&place.directory, options).with_context(|| format!("node {name}"))?;
    if store.id_assignment() == IdAssignment::Auto {
        bail!(
            "node {name}: the store at {path} numbers its records itself, so nodes would give the same number to \
             different records; load records with ids"
        );
    }
    Ok(())
}

/// Refuses stores that cannot have each other's records.
fn agree((place, is): (&Place, &Parameters), (other, wanted): (&Place, &Parameters)) -> anyhow::Result<()> {
    let differ = |what: &str, is: String, wanted: String| {
        anyhow!("the stores of nodes {} and {} differ in their {what}: {wanted} and {is}", other.name, place.name)
    };
    if is.width() != wanted.width() {
        return Err(differ("width", is.width().to_string(), wanted.width().to_string()));
    }
    if is.ids() != wanted.ids() {
        return Err(differ("ids", is.ids().to_string(), wanted.ids().to_string()));
    }
    if is.hasher() != wanted.hasher() {
        let name = |parameters: &Parameters| parameters.hasher().unwrap_or("none").to_owned();
        return Err(differ("hasher", name(is), name(wanted)));
    }
    Ok(())
}
