//! Looks up records by ids given on the command line.

use std::collections::HashMap;

use anyhow::{anyhow, bail};
use fpstore::{Fingerprint, Id, IdKind, IdRef, Record, Store};

use crate::input::{IdRule, Ids, RawId};
use crate::notice;

/// Parses an id of a store with ids of this kind.
///
/// # Errors
///
/// If the store cannot have such an id. The error is a sentence for people.
pub fn parse(text: &str, kind: IdKind) -> anyhow::Result<Id> {
    if kind == IdKind::None {
        bail!("--id: the store has no ids; ask for a fingerprint");
    }
    let mut rule = IdRule::new(Ids::Is(kind));
    match rule.check(RawId::Text(text.as_bytes())).map_err(|message| anyhow!("--id: {message}"))? {
        IdRef::Number(number) => Ok(Id::Number(number)),
        IdRef::Text(text) => Ok(Id::from(text)),
        IdRef::None => bail!("--id: there is no id"),
    }
}

/// Returns the fingerprints of each id, in order. Without an index of the ids it reads all records, with a warning.
///
/// # Errors
///
/// If the store cannot be read.
pub fn fingerprints<F: Fingerprint>(store: &Store<F>, ids: &[Id]) -> anyhow::Result<Vec<Vec<F>>> {
    if store.parameters().id_index() {
        return ids.iter().map(|id| Ok(store.get_id(id)?)).collect();
    }
    let path = store.path().display();
    notice::warn(format_args!(
        "the store has no index of its ids, so all records are read; `fpload --id-index {path}` makes one"
    ));
    Ok(scan(store.records(), ids)?)
}

/// Returns the fingerprints of each id among records.
///
/// # Errors
///
/// Errors of the records.
pub fn scan<F: Fingerprint>(
    records: impl Iterator<Item = fpstore::Result<Record<F>>>,
    ids: &[Id],
) -> fpstore::Result<Vec<Vec<F>>> {
    let mut found: HashMap<&Id, Vec<F>> = ids.iter().map(|id| (id, Vec::new())).collect();
    for record in records {
        let Record { fingerprint, id } = record?;
        if let Some(fingerprints) = found.get_mut(&id) {
            fingerprints.push(fingerprint);
        }
    }
    Ok(ids.iter().map(|id| found.get(id).cloned().unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_kind() {
        assert_eq!(parse("17", IdKind::Number).unwrap(), Id::Number(17));
        assert_eq!(parse("17", IdKind::Text).unwrap(), Id::from("17"));
        for (text, kind, part) in [
            ("x", IdKind::Number, "--id: the id 'x'"),
            ("", IdKind::Text, "--id: "),
            ("a\tb", IdKind::Text, "--id: the id"),
            ("1", IdKind::None, "the store has no ids"),
        ] {
            let error = parse(text, kind).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn records_are_found_by_several_ids() {
        let records = [(1, 7), (2, 8), (3, 7)].map(|(fingerprint, id)| Ok(Record::<u64>::new(fingerprint, id)));
        let found = scan(records.into_iter(), &[7, 9, 8, 7].map(Id::Number)).unwrap();
        assert_eq!(found, [vec![1, 3], vec![], vec![2], vec![1, 3]]);
    }
}
