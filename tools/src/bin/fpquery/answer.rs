//! How answers look: lines with TABs, or a JSON object a line.

use fpstore::{Fingerprint, Id, Match};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{push_decimal, push_hex, push_id, push_json_id};

use crate::args::Args;
use crate::queries::Query;

/// What is written of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    json: bool,
    count: bool,
    query_id: bool,
}

impl From<&Args> for Style {
    fn from(args: &Args) -> Self {
        Self { json: args.common.json, count: args.count, query_id: args.with_query_id }
    }
}

impl Style {
    /// Appends the answer to one query.
    pub(crate) fn push<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>, matches: &[Match<F>]) {
        if self.count {
            let count = records(matches);
            if self.json { self.count_json(out, query, count) } else { self.count_line(out, query, count) }
        } else {
            for found in matches {
                if self.json { self.match_json(out, query, found) } else { self.match_line(out, query, found) }
            }
        }
    }

    fn match_line<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>, found: &Match<F>) {
        self.query_column(out, query);
        push_hex(out, found.fingerprint);
        out.push(b'\t');
        push_decimal(out, found.distance.into());
        out.push(b'\t');
        push_id(out, &found.id);
        out.push(b'\n');
    }

    fn count_line<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>, count: u64) {
        self.query_column(out, query);
        push_decimal(out, count);
        out.push(b'\n');
    }

    fn query_column<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>) {
        if self.query_id {
            push_id(out, &query.id);
            out.push(b'\t');
        }
        push_hex(out, query.fingerprint);
        out.push(b'\t');
    }

    // Hex digits and decimal numbers need no escaping: the JSON is spelled out, ten times as fast as a serializer's.

    fn match_json<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>, found: &Match<F>) {
        begin_json(out, query);
        out.extend_from_slice(b"\",\"match\":\"");
        push_hex(out, found.fingerprint);
        out.extend_from_slice(b"\",\"distance\":");
        push_decimal(out, found.distance.into());
        // Where there are no ids, the number is how many records the fingerprint has.
        let key: &[u8] = if matches!(found.id, Id::Count(_)) { b",\"count\":" } else { b",\"id\":" };
        out.extend_from_slice(key);
        push_json_id(out, &found.id);
        self.end_json(out, query);
    }

    fn count_json<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>, count: u64) {
        begin_json(out, query);
        out.extend_from_slice(b"\",\"count\":");
        push_decimal(out, count);
        self.end_json(out, query);
    }

    fn end_json<F: Fingerprint>(self, out: &mut Vec<u8>, query: &Query<F>) {
        if self.query_id {
            out.extend_from_slice(b",\"query_id\":");
            push_json_id(out, &query.id);
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Number of records that the matches stand for.
pub(crate) fn records<F>(matches: &[Match<F>]) -> u64 {
    let count = |found: &Match<F>| if let Id::Count(count) = found.id { count } else { 1 };
    matches.iter().map(count).fold(0, u64::saturating_add)
}

fn begin_json<F: Fingerprint>(out: &mut Vec<u8>, query: &Query<F>) {
    out.extend_from_slice(b"{\"schema_version\":");
    push_decimal(out, SCHEMA_VERSION.into());
    out.extend_from_slice(b",\"query\":\"");
    push_hex(out, query.fingerprint);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: bool, count: bool, query_id: bool) -> String {
        let mut out = Vec::new();
        let found = Match { distance: 2, fingerprint: 3u64, id: Id::Number(u64::MAX) };
        Style { json, count, query_id }.push(&mut out, &Query { fingerprint: 0, id: Id::Number(9) }, &[found]);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines() {
        assert_eq!(text(false, false, false), "0000000000000000\t0000000000000003\t2\t18446744073709551615\n");
        assert_eq!(text(false, false, true), "9\t0000000000000000\t0000000000000003\t2\t18446744073709551615\n");
        assert_eq!(text(false, true, true), "9\t0000000000000000\t1\n");
    }

    #[test]
    fn texts_and_counts() {
        let line = |json, id: Id| {
            let mut out = Vec::new();
            let query = Query { fingerprint: 0u64, id: Id::from("a\"b") };
            let found = Match { distance: 1, fingerprint: 2, id };
            Style { json, count: false, query_id: true }.push(&mut out, &query, &[found]);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(false, Id::from("x/y")), "a\"b\t0000000000000000\t0000000000000002\t1\tx/y\n");
        assert_eq!(line(false, Id::Count(7)), "a\"b\t0000000000000000\t0000000000000002\t1\t7\n");
        let value: serde_json::Value = serde_json::from_str(&line(true, Id::from("q\"\\"))).unwrap();
        assert_eq!((&value["id"], &value["query_id"]), (&"q\"\\".into(), &"a\"b".into()));
        let value: serde_json::Value = serde_json::from_str(&line(true, Id::Count(7))).unwrap();
        assert_eq!(value["count"], 7);
    }

    #[test]
    fn objects() {
        let value: serde_json::Value = serde_json::from_str(&text(true, false, true)).unwrap();
        let expected = serde_json::json!({
            "schema_version": 1, "query": "0000000000000000", "match": "0000000000000003", "distance": 2,
            "id": u64::MAX, "query_id": 9
        });
        assert_eq!(value, expected);
        let value: serde_json::Value = serde_json::from_str(&text(true, true, false)).unwrap();
        assert_eq!(value, serde_json::json!({"schema_version": 1, "query": "0000000000000000", "count": 1}));
    }
}
