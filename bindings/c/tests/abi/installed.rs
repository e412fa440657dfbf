//! The libraries, the header and the pkg-config file as README.md installs them, and programs that use them.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::header::root;

/// The library that a program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Shared,
    Static,
}

/// Tools that the tests need.
const TOOLS: [&str; 4] = ["cc", "pkg-config", "valgrind", "python3"];

/// Whether all tools are there. If not, the test prints a notice and does nothing, except on a build server.
pub(crate) fn has_tools() -> bool {
    let is_missing = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let missing: Vec<_> = TOOLS.iter().filter(is_missing).copied().collect();
    if missing.is_empty() {
        return true;
    }
    let is_build_server = env::var_os("CI").is_some_and(|ci| !["", "0", "false"].iter().any(|off| ci == *off));
    assert!(!is_build_server, "the C ABI could not be tested without {}", missing.join(", "));
    eprintln!("SKIPPED: the C ABI is not tested without {}", missing.join(", "));
    false
}

/// Where it is all installed, until this is dropped.
pub(crate) struct Installed {
    pub(crate) directory: tempfile::TempDir,
    library: Library,
}

impl Installed {
    pub(crate) fn new(library: Library) -> Self {
        let directory = tempfile::Builder::new().prefix("fpstore-c-").tempdir().unwrap();
        let (lib, package) = (directory.path().join("lib"), directory.path().join("lib/pkgconfig"));
        fs::create_dir_all(&package).unwrap();
        fs::create_dir(directory.path().join("include")).unwrap();
        fs::copy(root().join("include/fpstore.h"), directory.path().join("include/fpstore.h")).unwrap();
        let template = fs::read_to_string(root().join("fpstore.pc.in")).unwrap();
        let prefix = directory.path().to_str().unwrap();
        let filled = template.replace("@prefix@", prefix).replace("@version@", env!("CARGO_PKG_VERSION"));
        fs::write(package.join("fpstore.pc"), filled).unwrap();
        let link = |file: &str, name: &str| symlink(built(file), lib.join(name)).unwrap();
        match library {
            Library::Static => link("libfpstore_c.a", "libfpstore_c.a"),
            Library::Shared => {
                let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
                link("libfpstore_c.so", "libfpstore_c.so");
                link("libfpstore_c.so", &format!("libfpstore_c.so.{major}.{minor}"));
            }
        }
        Self { directory, library }
    }

    pub(crate) fn lib(&self) -> PathBuf {
        self.directory.path().join("lib")
    }

    pub(crate) fn header(&self) -> PathBuf {
        self.directory.path().join("include/fpstore.h")
    }

    /// The flags that pkg-config has for a compiler.
    fn flags(&self) -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", self.lib().join("pkgconfig")).args(["--cflags", "--libs", "fpstore"]);
        if self.library == Library::Static {
            command.arg("--static");
        }
        let flags = String::from_utf8(succeeded(&mut command).stdout).unwrap();
        flags.split_whitespace().map(str::to_owned).collect()
    }

    /// Compiles a program of C, whose warnings are errors.
    pub(crate) fn compile(&self, source: &str) -> PathBuf {
        let program = self.directory.path().join("program");
        let mut command = Command::new("cc");
        command.args(["-g", "-O1", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"]);
        succeeded(command.arg(root().join(source)).args(self.flags()).arg("-o").arg(&program));
        program
    }

    /// A command under valgrind that finds the library.
    pub(crate) fn valgrind(&self, options: &[&str]) -> Command {
        let mut command = Command::new("valgrind");
        command.env("LD_LIBRARY_PATH", self.lib()).args(["--quiet", "--leak-check=full", "--num-callers=30"]);
        command.arg(format!("--suppressions={}", root().join("tests/abi/valgrind.supp").display()));
        command.args(options);
        command
    }
}

/// A library that cargo has built for the tests of this package, in the folder of their programs.
fn built(name: &str) -> PathBuf {
    let path = env::current_exe().unwrap().parent().unwrap().join(name);
    assert!(path.is_file(), "cargo has not built {}", path.display());
    path
}

/// The output of a command that has to succeed.
pub(crate) fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{errors}", output.status);
    output
}

/// Copies a directory of files.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
