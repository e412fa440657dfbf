//! Hands the records of an input to a load, one after another.

use fpstore::{Fingerprint, IdRef};

use super::{IdRule, Reader};

/// Reads an input to its end and pushes its records.
///
/// # Errors
///
/// Those of the reader and records that the rule refuses, with their place; those of `push` as they are.
pub fn feed<F: Fingerprint>(
    reader: &mut Reader<F>,
    rule: &mut IdRule,
    push: &mut impl FnMut(F, IdRef<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut ready = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        let without_id = entry.id.is_none();
        match rule.check(entry.id) {
            Ok(id) => push(entry.fingerprint, id)?,
            Err(message) => return Err(reader.here().error(message)),
        }
        if without_id {
            // They have no ids either.
            reader.take_ready(&mut ready);
            if !ready.is_empty() {
                ready.drain(..).try_for_each(|fingerprint| push(fingerprint, IdRef::None))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::reader;
    use super::super::{Found, Ids};
    use super::*;
    use fpstore::IdKind;

    fn fed(name: &str, content: &[u8], rule: &mut IdRule) -> Result<Vec<(u64, String)>, String> {
        let mut records = Vec::new();
        let mut push = |fingerprint, id: IdRef<'_>| {
            records.push((fingerprint, format!("{id:?}")));
            Ok(())
        };
        feed(&mut reader(name, content), rule, &mut push).map_err(|error| error.to_string())?;
        Ok(records)
    }

    #[test]
    fn several_inputs_under_one_rule() {
        let mut rule = IdRule::default();
        let records = fed("a.hex", b"0000000000000001\n", &mut rule).unwrap();
        assert_eq!(records, [(1, "None".to_owned())]);
        let many: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
        let records = fed("b.u64", &many, &mut rule).unwrap();
        assert!(records.into_iter().eq((0..100_000).map(|number| (number, "None".to_owned()))));
        assert_eq!(rule.found(), Some(Found::Numbered));
        let error = fed("c.hex", b"#\n0000000000000001\tx\n", &mut rule).unwrap_err();
        assert!(error.contains("c.hex: line 2: this record has an id"), "{error}");
        let error = fed("d.u64", &many[..23], &mut rule).unwrap_err();
        assert!(error.contains("d.u64: record 3: "), "{error}");
    }

    #[test]
    fn texts() {
        let mut rule = IdRule::new(Ids::Is(IdKind::Text));
        let records = fed("a.tsv", "0000000000000001\t7\n0000000000000002\té\n".as_bytes(), &mut rule).unwrap();
        assert_eq!(records, [(1, "Text(\"7\")".to_owned()), (2, "Text(\"é\")".to_owned())]);
        let error = fed("a.u64", &[0; 8], &mut rule).unwrap_err();
        assert!(error.contains("a.u64: record 1: this record has no id"), "{error}");
    }

    #[test]
    fn an_error_of_the_store_ends_it() {
        let push = &mut |_, _: IdRef<'_>| anyhow::bail!("full");
        let error = feed::<u64>(&mut reader("a.u64", &[0; 8]), &mut IdRule::default(), push).unwrap_err();
        assert_eq!(error.to_string(), "full");
    }
}
