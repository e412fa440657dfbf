//! The worked bytes in format-spec/ are the output of the programs.

use std::path::Path;
use std::process::Command;

#[test]
fn worked_bytes_are_what_the_programs_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_fpdump")).parent().unwrap();
    let output =
        Command::new(root.join("format-spec/worked/regenerate.sh")).arg("--check").arg(programs).output().unwrap();
    assert!(
        output.status.success(),
        "run format-spec/worked/regenerate.sh and review what changed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
