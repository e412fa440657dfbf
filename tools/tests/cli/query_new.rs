//! `fpquery --only new` and `--not-self`: queries without a match, and other matches of stored records.

use crate::support::{Place, brute_force, fails, families, fpload, fpquery, hex_lines, json_lines, lines, stdout};

#[test]
fn queries_that_nothing_is_near_are_input_again() {
    let place = Place::new();
    let records = families(3000, 1);
    let (old, new) = records.split_at(2000);
    let store = place.store(old);
    let input = place.file("new.tsv", format!("#fpstore width=64 hasher=x\n{}", lines(new)));
    let unseen: Vec<_> = new.iter().copied().filter(|(query, _)| brute_force(old, *query, 3).is_empty()).collect();
    assert!(unseen.len() > 100 && unseen.len() < new.len() - 100);
    let expected = format!("#fpstore width=64 hasher=x\n{}", lines(&unseen));
    for options in [&[][..], &["--scan"], &["--threads", "1"], &["--batch", "never"]] {
        let found = stdout(fpquery().args(["--only", "new", "--input"]).arg(&input).args(options).arg(&store));
        assert_eq!(found, expected, "{options:?}");
    }
    // If the input announces a trailer, the output has one with its own count; without it, a reader cannot tell that it
    // is complete.
    let announced = |end: String| format!("#fpstore width=64 hasher=x end=1\n{}{end}", lines(new));
    let whole = place.file("whole.tsv", announced(format!("#end records={}\n", new.len())));
    let found = stdout(fpquery().args(["--only", "new", "--input"]).arg(whole).arg(&store));
    let end = format!("#end records={}\n", unseen.len());
    assert_eq!(found, format!("#fpstore width=64 hasher=x end=1\n{}{end}", lines(&unseen)));
    let mut cut = fpquery();
    cut.args(["--only", "new", "--input"]).arg(place.file("cut.tsv", announced(String::new()))).arg(&store);
    let cut = cut.assert().code(2).get_output().clone();
    assert!(String::from_utf8(cut.stderr).unwrap().contains("the writer did not finish"));
    assert!(!String::from_utf8(cut.stdout).unwrap().contains("#end"));
    // Upper case, 0x, comments and lines without ids.
    let mixed = "# remark\n0XFFFFFFFF00000000\tab\n\nFfffffff0000ffff\n";
    let found = stdout(fpquery().args(["--only", "new"]).arg(&store).write_stdin(mixed));
    assert_eq!(found, "ffffffff00000000\tab\nffffffff0000ffff\n");
    let objects = json_lines(&stdout(fpquery().args(["--only", "new", "--json"]).arg(&store).write_stdin(mixed)));
    assert_eq!((&objects[0]["fingerprint"], &objects[0]["id"]), (&"ffffffff00000000".into(), &"ab".into()));
    assert!(objects[1].get("id").is_none() && objects.len() == 2);

    // After loading, none of them is new.
    let file = place.path("unseen.tsv.gz");
    fpquery().args(["--only", "new", "--input"]).arg(place.file("plain.tsv", lines(new))).arg("--output").arg(&file);
    let mut ask = fpquery();
    ask.args(["--only", "new", "--input"]).arg(place.path("plain.tsv")).arg("--output").arg(&file).arg(&store);
    ask.assert().code(0).stdout("");
    fpload().arg(&store).arg(&file).assert().success();
    fpquery().args(["--only", "new", "--input"]).arg(place.path("plain.tsv")).arg(&store).assert().code(1).stdout("");
}

#[test]
fn new_beside_a_corpus() {
    let place = Place::new();
    let corpus = place.file("corpus.tsv", hex_lines([0, 0xff]));
    let queries = place.file("queries.tsv", "#fpstore width=64\n0000000000000007\ta\nff00000000000000\tb\n");
    let ask = |k: &str| {
        let mut ask = fpquery();
        ask.args(["--only", "new", "-k", k, "--corpus"]).arg(&corpus).arg("--input").arg(&queries);
        ask
    };
    assert_eq!(stdout(&mut ask("3")), "#fpstore width=64\nff00000000000000\tb\n");
    ask("8").assert().code(1).stdout("#fpstore width=64\n");
}

/// Records of the store with their own ids, and others with unknown ids.
#[test]
fn a_record_is_not_its_own_neighbour() {
    let place = Place::new();
    let records = families(2000, 5);
    let store = place.store(&records);
    let mut asked: Vec<_> = records.iter().copied().step_by(3).collect();
    asked.push((records[0].0, u64::MAX));
    let input = place.file("queries.tsv", lines(&asked));
    let ask =
        |options: &[&str]| stdout(fpquery().arg("--not-self").args(options).arg("--input").arg(&input).arg(&store));
    let others = |(query, own): (u64, u64), k| {
        brute_force(&records, query, k).into_iter().filter(move |(.., id)| *id != own).collect::<Vec<_>>()
    };
    let lines_of = |query, found: &[(u32, u64, u64)]| {
        let line = |(distance, fingerprint, id): &(u32, u64, u64)| {
            format!("{query:016x}\t{fingerprint:016x}\t{distance}\t{id}\n")
        };
        found.iter().map(line).collect::<String>()
    };
    let all: String = asked.iter().map(|&query| lines_of(query.0, &others(query, 3))).collect();
    let nearest: String = asked.iter().map(|&query| lines_of(query.0, &others(query, 64)[..2])).collect();
    for batch in ["never", "auto", "always"] {
        assert_eq!(ask(&["--batch", batch]), all, "{batch}");
        let counts: String =
            asked.iter().map(|&query| format!("{:016x}\t{}\n", query.0, others(query, 3).len())).collect();
        assert_eq!(ask(&["--count", "--batch", batch]), counts, "{batch}");
    }
    assert_eq!(ask(&["--scan"]), all);
    assert_eq!(ask(&["--nearest", "2"]), nearest);
    let alone: Vec<_> = asked.iter().copied().filter(|&query| others(query, 3).is_empty()).collect();
    assert!(alone.len() > 20);
    assert_eq!(ask(&["--only", "new"]), lines(&alone));
    assert_eq!(ask(&["--first"]).lines().count(), asked.len() - alone.len());
}

#[test]
fn ids_are_compared_as_the_store_has_them() {
    let place = Place::new();
    let store = place.path("store");
    let input = "0000000000000000\t007\n0000000000000001\t7\n";
    fpload().args(["--create", "--ids", "text"]).arg(&store).arg("-").write_stdin(input).assert().success();
    let found = stdout(fpquery().args(["--not-self", "--with-query-id"]).arg(&store).write_stdin(input));
    assert_eq!(found, "007\t0000000000000000\t0000000000000001\t1\t7\n7\t0000000000000001\t0000000000000000\t1\t007\n");
}

#[test]
fn what_is_refused() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let ask = |store: &std::path::Path, text: &str| {
        let mut ask = fpquery();
        ask.arg("--not-self").arg(store).write_stdin(text);
        ask
    };
    fails(&mut ask(&store, "0000000000000001\n"), &["standard input: line 1", "no id", "--not-self"]);
    fails(&mut ask(&store, "0000000000000001\tabc\n"), &["line 1", "abc"]);
    fails(fpquery().arg("--not-self").arg(&store).arg("0000000000000001"), &["--not-self", "HEX<TAB>ID"]);
    let counts = place.path("counts");
    fpload().args(["--create", "--ids", "none"]).arg(&counts).arg("-").write_stdin("").assert().success();
    fails(&mut ask(&counts, "0000000000000001\t1\n"), &["--not-self", "have no ids"]);
    for other in [&["--count"][..], &["--first"], &["--nearest", "1"], &["--with-query-id"], &["--batch", "always"]] {
        let mut both = fpquery();
        fails(both.args(["--only", "new"]).args(other).arg(&store).arg("0000000000000001"), &[other[0]]);
    }
    fails(fpquery().args(["--only", "old"]).arg(&store).arg("0000000000000001"), &["old"]);
}
