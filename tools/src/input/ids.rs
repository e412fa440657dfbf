//! Ids: parses them, and requires that all records of a load have ids of one kind.

use fpstore::{Id, IdKind, IdRef};

use super::decimal::decimal;
use super::place::excerpt;

/// Errors of a record that differs from the records before it.
const MIXED_WITH: &str =
    "this record has an id, those before it have none; a load is either all with ids or all without";
const MIXED_WITHOUT: &str = "this record has no id, those before it have; a load is either all with ids or all without";

/// Errors of a record that does not fit the store.
const TEXT_WITHOUT: &str = "this record has no id; where ids are texts, every record needs one";
const COUNTED_WITH: &str = "this record has an id; a store without ids counts fingerprints and takes none";

/// Why a text is no id of a store of numbers.
const NUMBERS: &str = "the ids are u64 here; a store takes texts as ids if it is created with --ids text";

/// The id of a record, as the input holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RawId<'a> {
    /// The record has no id.
    #[default]
    None,
    /// A number, in formats that distinguish numbers from texts.
    Number(u64),
    /// Bytes of a decimal number or a text, still unchecked.
    Text(&'a [u8]),
}

impl RawId<'_> {
    /// Whether there is no id.
    #[inline]
    #[must_use]
    pub fn is_none(self) -> bool {
        matches!(self, Self::None)
    }

    /// Converts the id without regard to other records: a number if it is written like one, otherwise a text.
    ///
    /// # Errors
    ///
    /// If it is neither. The error is a sentence for people.
    pub fn own(self) -> Result<Option<Id>, String> {
        Ok(match self {
            Self::None => None,
            Self::Number(number) => Some(Id::Number(number)),
            Self::Text(bytes) => match decimal(bytes) {
                Some(Some(number)) if !is_padded(bytes) => Some(Id::Number(number)),
                _ => Some(Id::from(text(bytes)?)),
            },
        })
    }
}

/// The kind of ids that the records must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ids {
    /// The kind of the first record: none, a decimal number of 64 bits, or a text.
    #[default]
    Auto,
    /// The kind of the store.
    Is(IdKind),
}

/// The kind of ids that the records turned out to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No ids: the store numbers the records.
    Numbered,
    /// Numbers as ids.
    Number,
    /// Texts as ids.
    Text,
    /// No ids, for a store that counts fingerprints.
    Counted,
}

impl Found {
    /// Kind of ids of a store that takes such records.
    #[must_use]
    pub fn kind(self) -> IdKind {
        match self {
            Self::Numbered | Self::Number => IdKind::Number,
            Self::Text => IdKind::Text,
            Self::Counted => IdKind::None,
        }
    }
}

/// Requires of all records of a load the kind of ids of the store, or of the first record.
#[derive(Clone, Debug, Default)]
pub struct IdRule {
    ids: Ids,
    found: Option<Found>,
    /// A number formatted as text, for ids that are texts.
    digits: String,
}

impl IdRule {
    /// Returns a rule that has checked no record yet.
    #[must_use]
    pub fn new(ids: Ids) -> Self {
        Self { ids, ..Self::default() }
    }

    /// Kind of the ids, if the store, an input or a record has determined it.
    #[must_use]
    pub fn kind(&self) -> Option<IdKind> {
        match (self.found, self.ids) {
            (Some(found), _) => Some(found.kind()),
            (None, Ids::Is(kind)) => Some(kind),
            (None, Ids::Auto) => None,
        }
    }

    /// Records the kind of ids that an input announces.
    ///
    /// # Errors
    ///
    /// If the kind is known to be another one. The error is a sentence for people.
    pub fn told(&mut self, kind: IdKind) -> Result<(), String> {
        match self.kind() {
            Some(known) if known != kind => Err(format!("the header says that ids are {kind}, here they are {known}")),
            _ => {
                self.ids = Ids::Is(kind);
                Ok(())
            }
        }
    }

    /// The kind of ids in the records; not known before the first record.
    #[must_use]
    pub fn found(&self) -> Option<Found> {
        self.found
    }

    /// Checks one more record and converts its id.
    ///
    /// # Errors
    ///
    /// If it has an id and earlier records have none, or the reverse, or its id is not of the store's kind. The error
    /// is a sentence for people.
    #[inline]
    pub fn check<'a>(&'a mut self, id: RawId<'a>) -> Result<IdRef<'a>, String> {
        let found = match self.found {
            Some(found) => found,
            None => self.first(id)?,
        };
        match (found, id) {
            (Found::Numbered | Found::Counted, RawId::None) => Ok(IdRef::None),
            (Found::Number, RawId::Number(number)) => Ok(IdRef::Number(number)),
            (Found::Number, RawId::Text(text)) => match decimal(text) {
                Some(Some(_)) if self.ids == Ids::Auto && is_padded(text) => Err(padded(text)),
                Some(Some(number)) => Ok(IdRef::Number(number)),
                _ => Err(no_number(text)),
            },
            (Found::Text, RawId::Text(text)) => self::text(text).map(IdRef::Text),
            (Found::Text, RawId::Number(number)) => {
                self.digits = number.to_string();
                Ok(IdRef::Text(&self.digits))
            }
            (Found::Numbered, _) => Err(MIXED_WITH.to_owned()),
            (Found::Counted, _) => Err(COUNTED_WITH.to_owned()),
            (Found::Text, RawId::None) if self.ids == Ids::Is(IdKind::Text) => Err(TEXT_WITHOUT.to_owned()),
            (Found::Number | Found::Text, RawId::None) => Err(MIXED_WITHOUT.to_owned()),
        }
    }

    /// Decides by the first record. An id that is neither a number nor a text decides nothing.
    #[cold]
    fn first(&mut self, id: RawId<'_>) -> Result<Found, String> {
        let found = match (self.ids, id) {
            (Ids::Is(IdKind::Text), _) => Found::Text,
            (Ids::Is(IdKind::None), _) => Found::Counted,
            (Ids::Is(IdKind::Number) | Ids::Auto, RawId::None) => Found::Numbered,
            (Ids::Is(IdKind::Number), _) | (Ids::Auto, RawId::Number(_)) => Found::Number,
            (Ids::Auto, RawId::Text(text)) if matches!(decimal(text), Some(Some(_))) && !is_padded(text) => {
                Found::Number
            }
            (Ids::Auto, RawId::Text(text)) => {
                self::text(text)?;
                Found::Text
            }
        };
        Ok(*self.found.insert(found))
    }
}

/// Whether a number has leading zeros: as numbers, `007` and `7` are the same id.
pub(super) fn is_padded(digits: &[u8]) -> bool {
    digits.len() > 1 && digits.starts_with(b"0")
}

#[cold]
fn padded(digits: &[u8]) -> String {
    let digits = excerpt(digits);
    format!(
        "the id {digits} would be the number without its zeros; create the store with --ids text to keep it, or with \
         --ids u64"
    )
}

/// Checks an id that is a text.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| format!("the id {} is not UTF-8", excerpt(bytes)))?;
    IdRef::Text(text)
        .check()
        .map_err(|error| if text.is_empty() { error.to_string() } else { about(bytes, &error) })?;
    Ok(text)
}

#[cold]
fn about(bytes: &[u8], error: &fpstore::Error) -> String {
    format!("the id {}: {error}", excerpt(bytes))
}

/// Describes why an id is not a number.
#[cold]
fn no_number(text: &[u8]) -> String {
    match decimal(text) {
        _ if text.is_empty() => "the id is empty".to_owned(),
        Some(_) => format!("the id {} does not fit 64 bits; {NUMBERS}", excerpt(text)),
        None => format!("the id {} is not a decimal number; {NUMBERS}", excerpt(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: RawId<'static> = RawId::None;

    fn raw(text: &str) -> RawId<'_> {
        RawId::Text(text.as_bytes())
    }

    /// Returns the result for the last of several records.
    fn last(ids: Ids, records: &[RawId<'_>]) -> (Result<String, String>, Option<Found>) {
        let mut rule = IdRule::new(ids);
        let mut last = Err(String::new());
        for &record in records {
            last = rule.check(record).map(|id| format!("{id:?}"));
        }
        (last, rule.found())
    }

    #[test]
    fn the_first_record_decides() {
        let seen = |records: &[RawId<'_>]| last(Ids::Auto, records);
        assert_eq!(seen(&[]).1, None);
        assert_eq!(seen(&[NONE, NONE]), (Ok("None".into()), Some(Found::Numbered)));
        assert_eq!(seen(&[raw("017"), raw("17")]), (Ok("Text(\"17\")".into()), Some(Found::Text)));
        assert_eq!(seen(&[raw("0"), raw("17")]), (Ok("Number(17)".into()), Some(Found::Number)));
        assert_eq!(seen(&[RawId::Number(3), raw("4")]), (Ok("Number(4)".into()), Some(Found::Number)));
        assert_eq!(seen(&[raw("/a"), raw("5")]), (Ok("Text(\"5\")".into()), Some(Found::Text)));
        assert_eq!(seen(&[raw("/a"), RawId::Number(5)]), (Ok("Text(\"5\")".into()), Some(Found::Text)));
        assert_eq!(seen(&[raw("18446744073709551616")]).1, Some(Found::Text));
        assert_eq!(seen(&[raw("-1")]).1, Some(Found::Text));
    }

    #[test]
    fn ids_by_themselves() {
        assert_eq!(NONE.own(), Ok(None));
        assert_eq!(RawId::Number(7).own(), Ok(Some(Id::Number(7))));
        assert_eq!(raw("7").own(), Ok(Some(Id::Number(7))));
        for text in ["007", "+7", "a/7", "18446744073709551616"] {
            assert_eq!(raw(text).own(), Ok(Some(Id::from(text))));
        }
        assert!(raw("").own().is_err() && RawId::Text(b"\xff").own().is_err());
    }

    #[test]
    fn what_the_store_has_decides() {
        let seen = |kind, records: &[RawId<'_>]| last(Ids::Is(kind), records);
        assert_eq!(seen(IdKind::Text, &[raw("7")]), (Ok("Text(\"7\")".into()), Some(Found::Text)));
        assert_eq!(seen(IdKind::Text, &[RawId::Number(7)]), (Ok("Text(\"7\")".into()), Some(Found::Text)));
        assert_eq!(seen(IdKind::Number, &[NONE]), (Ok("None".into()), Some(Found::Numbered)));
        assert_eq!(seen(IdKind::Number, &[raw("07")]), (Ok("Number(7)".into()), Some(Found::Number)));
        assert_eq!(seen(IdKind::Number, &[raw("7")]), (Ok("Number(7)".into()), Some(Found::Number)));
        assert_eq!(seen(IdKind::None, &[NONE]), (Ok("None".into()), Some(Found::Counted)));
        assert_eq!(
            [Found::Numbered, Found::Number, Found::Text, Found::Counted].map(Found::kind),
            [IdKind::Number, IdKind::Number, IdKind::Text, IdKind::None]
        );
    }

    #[test]
    fn what_a_header_says_counts_as_well() {
        let mut rule = IdRule::default();
        assert_eq!((rule.kind(), rule.told(IdKind::Text)), (None, Ok(())));
        assert_eq!((rule.kind(), rule.found()), (Some(IdKind::Text), None));
        assert_eq!(rule.check(raw("7")), Ok(IdRef::Text("7")));
        assert_eq!(rule.told(IdKind::Text), Ok(()));
        let error = rule.told(IdKind::Number).unwrap_err();
        assert!(error.contains("ids are u64, here they are text"), "{error}");
        let mut rule = IdRule::default();
        rule.check(raw("7")).unwrap();
        assert!(rule.told(IdKind::Text).is_err() && rule.told(IdKind::None).is_err());
        assert_eq!(rule.told(IdKind::Number), Ok(()));
    }

    #[test]
    fn what_is_refused_and_how() {
        let long = "x".repeat(Id::MAX_TEXT + 1);
        for (ids, records, part) in [
            (Ids::Auto, [NONE, raw("1")], "has an id, those before it have none"),
            (Ids::Auto, [NONE, RawId::Number(1)], "has an id, those before it have none"),
            (Ids::Auto, [raw("1"), NONE], "has no id, those before it have"),
            (Ids::Auto, [raw("a"), NONE], "has no id, those before it have"),
            (Ids::Auto, [raw("1"), raw("/a")], "'/a' is not a decimal number; the ids are u64 here"),
            (Ids::Auto, [raw("1"), raw("18446744073709551616")], "does not fit 64 bits"),
            (Ids::Auto, [raw("1"), raw("")], "the id is empty"),
            (Ids::Auto, [raw("1"), raw("01")], "'01' would be the number without its zeros"),
            (Ids::Auto, [raw("a"), raw("")], "the id is empty"),
            (Ids::Auto, [raw("a"), raw(&long)], "4097 bytes"),
            (Ids::Auto, [raw("a"), raw("a\0b")], "character"),
            (Ids::Auto, [raw("a"), RawId::Text(b"a\xff")], "not UTF-8"),
            (Ids::Is(IdKind::Number), [raw("1"), raw("+1")], "--ids text"),
            (Ids::Is(IdKind::Number), [NONE, raw("1")], "has an id, those before it have none"),
            (Ids::Is(IdKind::Text), [raw("1"), NONE], "every record needs one"),
            (Ids::Is(IdKind::None), [NONE, raw("1")], "counts fingerprints"),
        ] {
            let (result, _) = last(ids, &records);
            let error = result.unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        // Rejected as the first record, too.
        for (ids, id, part) in [
            (Ids::Auto, RawId::Text(b"\xff"), "not UTF-8"),
            (Ids::Auto, raw(""), "empty"),
            (Ids::Auto, raw("a\tb"), "character"),
            (Ids::Is(IdKind::None), RawId::Number(1), "counts fingerprints"),
            (Ids::Is(IdKind::Text), NONE, "every record needs one"),
            (Ids::Is(IdKind::Number), raw("a"), "not a decimal number"),
        ] {
            let (result, _) = last(ids, &[id]);
            let error = result.unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
