//! Passes the records of an input to a load, one after another, and reports what was skipped.

use fpstore::{Fingerprint, IdRef};

use super::{Found, IdRule, Reader};
use crate::number::count_of;

/// Report on an input that was read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Number of records skipped for their quality.
    pub below_quality: u64,
    /// Warning that records were numbered although some column may hold their ids.
    pub numbered: Option<String>,
}

/// Returns a warning if records were numbered although some column may hold their ids.
#[must_use]
pub fn numbered<F: Fingerprint>(reader: &Reader<F>, records: u64) -> Option<String> {
    let others = reader.others().filter(|_| records > 0)?;
    let (verb, one) = if records == 1 { ("was", "its id") } else { ("were", "the ids") };
    Some(format!(
        "{}: there is no column of ids, so {} {verb} numbered; other columns: {others}; name the one with {one} by \
         --id-column",
        reader.name(),
        count_of(records, "record")
    ))
}

/// Reads an input to its end and pushes its records.
///
/// # Errors
///
/// Errors of the reader and ids that the rule rejects, with their place; errors of `push` unchanged.
pub fn feed<F: Fingerprint>(
    reader: &mut Reader<F>,
    rule: &mut IdRule,
    push: &mut impl FnMut(F, IdRef<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Fed> {
    let (mut ready, mut without_ids) = (Vec::new(), 0);
    while let Some(entry) = reader.next_entry()? {
        let without_id = entry.id.is_none();
        match rule.check(entry.id) {
            Ok(id) => push(entry.fingerprint, id)?,
            Err(message) => return Err(reader.here().error(message)),
        }
        if without_id {
            without_ids += 1;
            // The records that are ready have no ids either.
            reader.take_ready(&mut ready);
            if !ready.is_empty() {
                ready.drain(..).try_for_each(|fingerprint| push(fingerprint, IdRef::None))?;
            }
        }
    }
    let numbered = if rule.found() == Some(Found::Numbered) { numbered(reader, without_ids) } else { None };
    Ok(Fed { below_quality: reader.below_quality(), numbered })
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
    fn what_was_numbered_is_told() {
        let told = |name: &str, content: &str, ids| {
            let mut rule = IdRule::new(ids);
            let fed = feed::<u64>(&mut reader(name, content.as_bytes()), &mut rule, &mut |_, _: IdRef<'_>| Ok(()));
            fed.unwrap().numbered
        };
        let (one, two) = ("0000000000000001", "0000000000000002");
        let csv = format!("url,fingerprint,n\na,{one},1\nb,{two},2\n");
        let warning = told("a.csv", &csv, Ids::Auto).unwrap();
        assert!(warning.ends_with(
            "a.csv: there is no column of ids, so 2 records were numbered; other columns: 'url', 'n'; name the one \
             with \
             the ids by --id-column"
        ));
        let json = format!("{{\"url\":\"a\",\"fingerprint\":\"{one}\",\"id\":null}}\n");
        let warning = told("a.ndjson", &json, Ids::Is(IdKind::Number)).unwrap();
        assert!(warning.contains("1 record was numbered; other columns: 'url'; "), "{warning}");
        for (name, content, ids) in [
            ("a.csv", csv.as_str(), Ids::Is(IdKind::None)),
            ("a.csv", &format!("fingerprint\n{one}\n"), Ids::Auto),
            ("a.csv", "url,fingerprint\n", Ids::Auto),
            ("a.csv", &format!("fingerprint,id,url\n{one},,x\n"), Ids::Auto),
            ("a.ndjson", &format!("{{\"fingerprint\":\"{one}\"}}\n"), Ids::Auto),
            ("a.hex", &format!("{one}\n"), Ids::Auto),
        ] {
            assert_eq!(told(name, content, ids), None, "{content}");
        }
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
