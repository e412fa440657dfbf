//! The specification's own decoder, `format-spec/decode.py`. One process decodes many stores: starting Python takes
//! longer than decoding most of them.

use crate::support::{is_build_server, root};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

/// A program that decodes the paths it reads, one a line. It answers each with the exit code, the lengths of the text
/// for standard output and of that for standard error, and then both texts.
const SERVER: &str = r#"
import contextlib, io, os, sys, traceback
sys.path.insert(0, sys.argv[1])
from decode import main
answers = sys.stdout.buffer
for path in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as messages:
        try:
            code = main([path.rstrip("\n")])
        except BaseException:
            traceback.print_exc()
            code = 1
    output, messages = output.getvalue().encode(), messages.getvalue().encode()
    answers.write(b"%d %d %d\n" % (code, len(output), len(messages)) + output + messages)
    answers.flush()
"#;

/// The result of decoding a store or segment.
pub(crate) struct Decoded {
    /// The exit code: 0 for a sound one, 1 for an invalid one.
    pub(crate) code: i32,
    pub(crate) records: String,
    pub(crate) messages: String,
}

/// Processes that wait for paths. Each has pipes for standard input and standard output.
static IDLE: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Runs the decoder on a store or segment; `None` without Python, which CI does not allow.
pub(crate) fn decode(path: &Path) -> Option<Decoded> {
    let idle = IDLE.lock().unwrap().pop();
    let mut server = match idle {
        Some(server) => server,
        None => started(
            Command::new("python3")
                .args(["-c", SERVER])
                .arg(root().join("format-spec"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn(),
        )?,
    };
    let decoded = ask(&mut server, path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    IDLE.lock().unwrap().push(server);
    Some(decoded)
}

fn ask(server: &mut Child, path: &Path) -> io::Result<Decoded> {
    writeln!(server.stdin.as_mut().unwrap(), "{}", path.display())?;
    // The process sends nothing after an answer, so the buffer ends with it.
    let mut answer = BufReader::new(server.stdout.as_mut().unwrap());
    let mut first = String::new();
    answer.read_line(&mut first)?;
    let numbers: Vec<usize> = first.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [code, records, messages] = numbers[..] else { panic!("{}: the decoder ended", path.display()) };
    let mut text = |length| {
        let mut text = String::new();
        answer.by_ref().take(length as u64).read_to_string(&mut text).map(|_| text)
    };
    Ok(Decoded { code: code as i32, records: text(records)?, messages: text(messages)? })
}

/// Runs the decoder as a user does.
pub(crate) fn run(path: &Path) -> Option<Output> {
    started(Command::new("python3").arg(root().join("format-spec/decode.py")).arg(path).output())
}

fn started<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Ok(started) => Some(started),
        Err(error) => {
            assert!(!is_build_server(), "python3 is needed for format-spec/decode.py: {error}");
            None
        }
    }
}
