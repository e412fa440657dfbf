//! The format of answers: the columns of the table, and its rows.

use anyhow::bail;
use fpstore::{Fingerprint, Id, IdKind, Match};
use fpstore_tools::header::trailer;
use fpstore_tools::input::Header;
use fpstore_tools::output::{Column, Output, Rows, Style};

use crate::args::Args;
use crate::queries::Query;

const QUERY_ID: Column = Column::id("query_id");
const FINGERPRINT: Column = Column::fingerprint("fingerprint");
const QUERY: Column = Column::fingerprint("query");
const MATCH: Column = Column::fingerprint("match");
const DISTANCE: Column = Column::number("distance");
const ID: Column = Column::id("id");
const COUNT: Column = Column::number("count");

/// Content of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A row for every match.
    Matches,
    /// The number of records that match.
    Count,
    /// The query, if nothing matches.
    Unseen,
}

/// The format of answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) kind: Kind,
    query_id: bool,
    /// Whether queries have ids of their own; in a table all of them do, or none does.
    own_id: bool,
    /// Whether the ids of queries are texts; a table then holds numbers as texts.
    texts: bool,
    style: Style,
    /// Whether the first line announces a trailer.
    announced: bool,
}

impl Look {
    /// Opens the output. `ids` is the kind of the records' ids, `first` the first query, and `header` the header of the
    /// input.
    pub(crate) fn open<F: Fingerprint>(
        args: &Args,
        ids: IdKind,
        first: Option<&Query<F>>,
        header: Option<&Header>,
    ) -> anyhow::Result<(Self, Output)> {
        let kind = match (args.only, args.count) {
            (Some(_), _) => Kind::Unseen,
            (None, true) => Kind::Count,
            (None, false) => Kind::Matches,
        };
        let query_id = args.with_query_id;
        let own_id = first.is_some_and(|query| query.has_id);
        let columns: &[Column] = match (kind, query_id, ids == IdKind::None) {
            (Kind::Unseen, ..) if own_id => &[FINGERPRINT, ID],
            (Kind::Unseen, ..) => &[FINGERPRINT],
            (Kind::Count, false, _) => &[QUERY, COUNT],
            (Kind::Count, true, _) => &[QUERY_ID, QUERY, COUNT],
            (Kind::Matches, false, false) => &[QUERY, MATCH, DISTANCE, ID],
            (Kind::Matches, true, false) => &[QUERY_ID, QUERY, MATCH, DISTANCE, ID],
            (Kind::Matches, false, true) => &[QUERY, MATCH, DISTANCE, COUNT],
            (Kind::Matches, true, true) => &[QUERY_ID, QUERY, MATCH, DISTANCE, COUNT],
        };
        let texts = first.is_some_and(|query| query.id.text().is_some());
        let text_columns = [texts, ids == IdKind::Text];
        let text_columns = if query_id || kind == Kind::Unseen { &text_columns[..] } else { &text_columns[1..] };
        let mut output =
            Output::open(("--output", args.output.as_deref()), args.common.json, columns, F::WIDTH, text_columns)?;
        let style = output.style();
        let header = header.filter(|_| matches!((kind, style), (Kind::Unseen, Style::Tsv)));
        if let Some(header) = header {
            output.write_text(format!("{header}\n").as_bytes())?;
        }
        let announced = header.is_some_and(|header| header.end);
        let look = Self { kind, query_id, own_id, texts, style, announced };
        Ok((look, output))
    }

    /// Rejects ids that do not fit the columns, which the first query determines.
    pub(crate) fn check<F: Fingerprint>(&self, batch: &[Query<F>]) -> anyhow::Result<()> {
        let any = |test: &dyn Fn(&Query<F>) -> bool| batch.iter().any(test);
        let is_table = !matches!(self.style, Style::Tsv | Style::Json(_));
        if is_table && self.kind == Kind::Unseen && any(&|query| query.has_id != self.own_id) {
            bail!("--output: some queries have ids and some have none, which no table holds; write .tsv or .ndjson");
        }
        let has_ids = self.query_id || self.kind == Kind::Unseen && self.own_id;
        if is_table && has_ids && !self.texts && any(&|query| query.id.text().is_some()) {
            bail!("--output: some ids of queries are numbers and some are texts; write .tsv or .ndjson");
        }
        Ok(())
    }

    /// Completes the output, which has `unseen` queries without a match.
    pub(crate) fn finish(&self, mut output: Output, unseen: u64) -> anyhow::Result<()> {
        if self.announced {
            output.write_text(trailer(unseen).as_bytes())?;
        }
        output.finish()
    }

    pub(crate) fn rows(&self) -> Rows {
        Rows::new(self.style)
    }

    /// Appends a match of a query; `again` if the row before it is a match of the same query.
    pub(crate) fn push_match<F: Fingerprint>(&self, rows: &mut Rows, query: &Query<F>, found: &Match<F>, again: bool) {
        if again {
            rows.again();
        } else {
            self.push_query(rows, query);
            rows.keep();
        }
        rows.fingerprint(found.fingerprint);
        rows.number(found.distance.into());
        rows.id(&found.id);
        rows.end_row();
    }

    pub(crate) fn push_count<F: Fingerprint>(&self, rows: &mut Rows, query: &Query<F>, count: u64) {
        self.push_query(rows, query);
        rows.number(count);
        rows.end_row();
    }

    /// Appends a query without a match, as fingerprint input.
    pub(crate) fn push_unseen<F: Fingerprint>(&self, rows: &mut Rows, query: &Query<F>) {
        rows.fingerprint(query.fingerprint);
        if query.has_id {
            self.push_id(rows, &query.id);
        }
        rows.end_row();
    }

    fn push_query<F: Fingerprint>(&self, rows: &mut Rows, query: &Query<F>) {
        if self.query_id {
            self.push_id(rows, &query.id);
        }
        rows.fingerprint(query.fingerprint);
    }

    /// Appends an id. A column of a Parquet file has one type.
    fn push_id(&self, rows: &mut Rows, id: &Id) {
        match (self.style, id.number()) {
            (Style::Columns, Some(number)) if self.texts => rows.id(&Id::from(number.to_string().as_str())),
            _ => rows.id(id),
        }
    }
}

/// Returns the number of records behind a match.
pub(crate) fn records<F>(found: &Match<F>) -> u64 {
    if let Id::Count(count) = found.id { count } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn text(options: &[&str], query: Id, found: Id) -> String {
        let args = Args::parse_from([&["fpquery", "store"], options].concat());
        let query = Query { fingerprint: 0u64, id: query, has_id: true };
        let (look, _) = Look::open(&args, IdKind::Number, Some(&query), None).unwrap();
        let mut rows = look.rows();
        match look.kind {
            Kind::Matches => {
                look.push_match(&mut rows, &query, &Match { distance: 2, fingerprint: 3u64, id: found.clone() }, false);
                look.push_match(&mut rows, &query, &Match { distance: 4, fingerprint: 15u64, id: found }, true);
            }
            Kind::Count => look.push_count(&mut rows, &query, 1),
            Kind::Unseen => look.push_unseen(&mut rows, &query),
        }
        String::from_utf8(rows.text().to_vec()).unwrap()
    }

    #[test]
    fn lines() {
        let text = |options: &[&str]| text(options, Id::Number(9), Id::Number(u64::MAX));
        assert_eq!(
            text(&[]),
            "0000000000000000\t0000000000000003\t2\t18446744073709551615\n\
             0000000000000000\t000000000000000f\t4\t18446744073709551615\n"
        );
        assert!(text(&["--with-query-id"]).starts_with("9\t0000000000000000\t0000000000000003\t2\t1844"));
        assert_eq!(text(&["--with-query-id", "--count"]), "9\t0000000000000000\t1\n");
        assert_eq!(text(&["--only", "new"]), "0000000000000000\t9\n");
    }

    #[test]
    fn objects() {
        let lines = text(&["--json", "--with-query-id"], Id::from("q\"\\"), Id::Count(7));
        let value: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        let expected = serde_json::json!({
            "schema_version": 1, "query": "0000000000000000", "match": "0000000000000003", "distance": 2,
            "id": 7, "query_id": "q\"\\"
        });
        assert_eq!(value, expected);
        let value: serde_json::Value =
            serde_json::from_str(&text(&["--json", "--count"], Id::Number(1), Id::Number(2))).unwrap();
        assert_eq!(value, serde_json::json!({"schema_version": 1, "query": "0000000000000000", "count": 1}));
    }
}
