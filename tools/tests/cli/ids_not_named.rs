//! Columns that may hold ids are not ignored silently.

use std::path::Path;

use assert_cmd::Command;

use crate::support::{Place, fails, fpdedup, fpload, fpquery};

const URLS: &str = "url,simhash\nhttp://a/,00000000000000ff\nhttp://b/,00000000000000fe\n";
const WARNING: &str = "urls.csv: there is no column of ids, so 2 records were numbered; other columns: 'url'; name the one with \
                       the ids by --id-column";

fn warned(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

fn create(place: &Path, input: &Path) -> Command {
    let mut load = fpload();
    load.args(["--create", "--fingerprint-column", "simhash"]).arg(place).arg(input);
    load
}

#[test]
fn a_load_says_what_it_numbered() {
    let place = Place::new();
    let urls = place.file("urls.csv", URLS);
    let message = warned(&mut create(&place.path("numbered"), &urls));
    assert!(message.contains(&format!("fpload: warning: {}", place.path("").display())), "{message}");
    assert!(message.contains(&format!("{WARNING} (or say --ids none)\n")), "{message}");
    let rows = URLS.lines().skip(1).map(|row| row.split_once(',').unwrap());
    let json: String = rows.map(|(url, hex)| format!("{{\"url\":\"{url}\",\"simhash\":\"{hex}\"}}\n")).collect();
    let json = place.file("urls.ndjson", json);
    let again = warned(fpload().args(["--fingerprint-column", "simhash"]).arg(place.path("numbered")).arg(&json));
    assert!(again.contains("urls.ndjson: there is no column of ids, so 2 records were numbered; other columns: 'url'"));
    assert!(!again.contains("--ids none"), "{again}");
    // No warning about what was requested.
    for (name, options) in
        [("none", &["--ids", "none"][..]), ("quiet", &["--quiet"]), ("named", &["--id-column", "url"])]
    {
        let message = warned(create(&place.path(name), &urls).args(options));
        assert!(!message.contains("warning"), "{name}: {message}");
    }
    // If ids are needed, it remains an error.
    fails(create(&place.path("text"), &urls).args(["--ids", "text"]), &["urls.csv: line 2", "no id"]);
    let bare = place.file("bare.csv", "simhash\n00000000000000ff\n");
    assert!(!warned(&mut create(&place.path("bare"), &bare)).contains("warning"));
}

#[test]
fn queries_and_joins_say_it_too() {
    let place = Place::new();
    let store = place.store(&[(0xff, 1)]);
    let urls = place.file("urls.csv", URLS);
    let columns = ["--fingerprint-column", "simhash"];
    let ask = || {
        let mut ask = fpquery();
        ask.args(columns).arg("--input").arg(&urls).arg(&store);
        ask
    };
    let message = warned(ask().arg("--with-query-id"));
    assert!(message.contains("fpquery: warning: ") && message.contains(WARNING), "{message}");
    assert!(!warned(&mut ask()).contains("warning"));
    assert!(!warned(ask().args(["--with-query-id", "--id-column", "url"])).contains("warning"));
    let message = warned(fpdedup().arg("join").args(columns).arg(&store).arg(&urls));
    assert!(message.contains("fpdedup: warning: ") && message.contains(WARNING), "{message}");
}

#[test]
fn errors_of_ndjson_list_the_columns() {
    let place = Place::new();
    let input = place.file("a.ndjson", "{\"url\":\"x\",\"simhash\":\"00000000000000ff\"}\n");
    let load = |options: &[&str]| {
        let mut load = fpload();
        load.arg("--create").args(options).arg(place.path("new")).arg(&input);
        load
    };
    let listed = "there is no \"fingerprint\"; the columns are 'simhash', 'url'";
    fails(&mut load(&[]), &["a.ndjson: line 1", listed]);
    let named = ["--fingerprint-column", "simhash", "--id-column", "n"];
    fails(&mut load(&named), &["a.ndjson: line 1", "there is no \"n\"; the columns are 'simhash', 'url'"]);
}
