//! Stores of every width with every kind of ids, from creation to answers.

use crate::support::{Place, fpdump, fpload, fpquery, json_lines, json_object, stdout};
use crate::wide::{Id, Kind, Sort, queries};

#[test]
fn loads_and_what_is_there_already() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(600, 1);
        let store = sort.store(&place, "store", &records[..300]);
        let add = |part: &[_]| {
            let text = sort.lines(part);
            json_object(&stdout(fpload().arg("--json").arg(&store).arg("-").write_stdin(text)))
        };
        let again = add(&records[..300]);
        let counts = sort.kind == Kind::None;
        assert_eq!(again["already_present"], if counts { 0 } else { 300 }, "{sort:?}");
        assert_eq!(again["store_records"], if counts { 600 } else { 300 }, "{sort:?}");
        assert_eq!((&again["width"], &again["ids"]), (&sort.width.into(), &sort.kind.name().into()));
        let more = add(&records[200..600]);
        assert_eq!(more["already_present"], if counts { 0 } else { 100 }, "{sort:?}");
        let mut held = records.clone();
        if counts {
            held.extend_from_slice(&records[..300]);
            held.extend_from_slice(&records[200..300]);
        }
        assert!(stdout(fpdump().arg("scan").arg(&store)) == sort.scan(&held), "{sort:?}");
        let asked = queries(sort, &records, 3, 2);
        assert!(sort.ask(&store, &[], &asked) == sort.all_answers(&held, &asked, sort.distance), "{sort:?}");
    }
}

#[test]
fn exit_codes() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(20, 1);
        let store = sort.store(&place, "store", &records);
        let hit = sort.hex(&records[3].0);
        let miss = "5".repeat(sort.width as usize / 4);
        fpquery().arg(&store).arg(&hit).assert().code(0);
        fpquery().arg(&store).arg(&miss).assert().code(1).stdout("").stderr("");
        fpquery().args(["--count"]).arg(&store).arg(&miss).assert().code(1).stdout(format!("{miss}\t0\n"));
        fpquery().arg(&store).arg(&hit[1..]).assert().code(2).stdout("");
        fpquery().arg(&store).arg(format!("{hit}0")).assert().code(2).stdout("");
        fpquery().args(["-k", &(sort.width + 1).to_string()]).arg(&store).arg(&hit).assert().code(2).stdout("");
        fpquery().args(["-k", &sort.width.to_string()]).arg(&store).arg(&miss).assert().code(0);
        fpdump().args(["get", &hit]).arg(&store).assert().code(0);
        fpdump().args(["get", &miss]).arg(&store).assert().code(1).stdout("");
    }
}

#[test]
fn empty_stores_are_legal() {
    for sort in Sort::all() {
        let place = Place::new();
        let store = place.path("store");
        sort.create().arg(&store).assert().success();
        fpquery().arg(&store).arg("0".repeat(sort.width as usize / 4)).assert().code(1).stdout("");
        assert_eq!(stdout(fpdump().arg("scan").arg(&store)), sort.scan(&[]));
        for what in ["info", "stats", "layout", "blocks", "verify", "plan", "hex"] {
            fpdump().arg(what).arg(&store).assert().success();
        }
        fpload().arg(&store).arg("-").write_stdin("").assert().success();
        fpload().arg("--compact").arg(&store).assert().success();
        let records = sort.families(30, 1);
        fpload().arg(&store).arg("-").write_stdin(sort.lines(&records)).assert().success();
        assert_eq!(stdout(fpdump().arg("scan").arg(&store)), sort.scan(&records));
    }
}

#[test]
fn every_question() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(800, 3);
        let store = sort.store(&place, "store", &records[..500]);
        fpload().arg(&store).arg("-").write_stdin(sort.lines(&records[500..])).assert().success();
        let asked = queries(sort, &records, 11, 4);
        let all: Vec<_> = asked.iter().map(|query| sort.brute_force(&records, query, sort.width)).collect();
        let near: Vec<_> = asked.iter().map(|query| sort.brute_force(&records, query, sort.distance)).collect();

        let counted: String = asked
            .iter()
            .zip(&near)
            .map(|(query, found)| {
                let number = |id: &Id| if let (Kind::None, Id::Number(n)) = (sort.kind, id) { *n } else { 1 };
                format!("{}\t{}\n", sort.hex(query), found.iter().map(|(_, _, id)| number(id)).sum::<u64>())
            })
            .collect();
        assert_eq!(sort.ask(&store, &["--count"], &asked), counted, "{sort:?}");

        for n in [1, 4] {
            let expected: String =
                asked.iter().zip(&all).map(|(query, found)| sort.answers(query, &found[..n])).collect();
            assert_eq!(sort.ask(&store, &["--nearest", &n.to_string()], &asked), expected, "{sort:?}");
        }

        let first = sort.ask(&store, &["--first"], &asked);
        let mut lines = first.lines();
        for (query, found) in asked.iter().zip(&near).filter(|(_, found)| !found.is_empty()) {
            let line = lines.next().unwrap();
            assert!(sort.answers(query, found).lines().any(|match_line| match_line == line), "{sort:?}: {line}");
        }
        assert_eq!(lines.next(), None);
        assert!(sort.ask(&store, &["--scan"], &asked) == sort.all_answers(&records, &asked, sort.distance));
    }
}

#[test]
fn ids_of_queries_and_objects() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(300, 5);
        let store = sort.store(&place, "store", &records);
        // Queries have ids of another kind, or none.
        let input = place.file("q.tsv", format!("{}\tquery\u{e4} 1\n", sort.hex(&records[7].0)));
        let named = stdout(fpquery().args(["--with-query-id", "--input"]).arg(&input).arg(&store));
        let found = sort.brute_force(&records, &records[7].0, sort.distance);
        let expected: String =
            sort.answers(&records[7].0, &found).lines().map(|line| format!("query\u{e4} 1\t{line}\n")).collect();
        assert_eq!(named, expected, "{sort:?}");

        let ask = ["--with-query-id", "--json", "--input"];
        let objects = json_lines(&stdout(fpquery().args(ask).arg(&input).arg(&store)));
        let expected = found.iter().map(|(distance, bits, id)| {
            let key = if sort.kind == Kind::None { "count" } else { "id" };
            let id = match id {
                Id::Number(number) => serde_json::json!(number),
                Id::Text(text) => serde_json::json!(text),
                Id::None => serde_json::Value::Null,
            };
            serde_json::json!({
                "schema_version": 1, "query": sort.hex(&records[7].0), "match": sort.hex(bits),
                "distance": distance, key: id, "query_id": "query\u{e4} 1"
            })
        });
        assert_eq!(objects, expected.collect::<Vec<_>>(), "{sort:?}");
        let numbered = sort.ask(&store, &["--with-query-id", "-k0"], &[records[0].0, records[1].0]);
        assert!(numbered.lines().all(|line| line.starts_with("0\t") || line.starts_with("1\t")), "{numbered}");
    }
}

#[test]
fn answers_are_those_of_brute_force() {
    for (width, distance, number) in [(128, 6, 5000), (256, 31, 5000)] {
        let sort = Sort { distance, ..Sort::new(width, Kind::U64) };
        let place = Place::new();
        let records = sort.families(number, 9);
        let store = sort.store(&place, "store", &records);
        let asked = queries(sort, &records, 16, 10);
        let expected = sort.all_answers(&records, &asked, distance);
        assert!(expected.lines().count() > asked.len());
        for options in [&[][..], &["--threads", "1"], &["--read", "pread"], &["--filter", "on"], &["--scan"]] {
            assert!(sort.ask(&store, options, &asked) == expected, "{sort:?} {options:?}");
        }
        for k in [0, distance / 2, distance + 3] {
            let expected = sort.all_answers(&records, &asked, k);
            assert!(sort.ask(&store, &["--quiet", "-k", &k.to_string()], &asked) == expected, "{sort:?} {k}");
        }
    }
}
