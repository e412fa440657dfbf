//! The wheels of a release: built, installed in empty environments, and tested there.

use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::commands::{succeed, with_programs};
use super::environment::{Environment, PACKAGE, requirements};
use crate::options;
use crate::workspace::{self, Workspace};

/// Runs the examples of files of text, in an environment without anything else.
const EXAMPLES: &str = "
import doctest, sys
for name in sys.argv[1:]:
    results = doctest.testfile(name, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    if results.failed or not results.attempted:
        sys.exit(f'{name}: {results}')
    print(f'{name}: {results.attempted} examples')
";

/// An interpreter of Python.
struct Interpreter {
    path: PathBuf,
    /// Whether it needs a wheel of its own: before 3.15 free-threaded Python has no stable ABI.
    is_free_threaded: bool,
}

impl Interpreter {
    fn find(path: &Path) -> Result<Self> {
        let code = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
        let output = Command::new(path).args(["-c", code]).output();
        let output = output.with_context(|| format!("cannot run {}", path.display()))?;
        ensure!(output.status.success(), "{} failed: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        Ok(Self { path: path.to_owned(), is_free_threaded: output.stdout.trim_ascii() == b"1" })
    }
}

/// Builds the wheel and the source distribution, installs the wheel in empty environments of python3 and of the
/// interpreters that the options name, and tests it there. For those that are free-threaded a wheel is built too.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let workspace = Workspace::find()?;
    let mut interpreters = vec![Interpreter::find("python3".as_ref())?];
    let mut given = None;
    options::each(arguments, |name, value| {
        match name {
            "--interpreter" => interpreters.push(Interpreter::find(value.as_ref())?),
            "--wheels" => given = Some(path::absolute(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let wheels = match given {
        Some(wheels) => wheels,
        None => build_all(&workspace, &interpreters)?,
    };
    check_names(&wheels)?;
    for (number, interpreter) in interpreters.iter().enumerate() {
        read_me(&workspace, &wheels, interpreter, &format!("wheel-{number}-empty"))?;
    }
    let programs = workspace.build_for_tests("fpstore-tools")?;
    for (number, interpreter) in interpreters.iter().enumerate() {
        // Not all packages that the tests can do without have wheels for every interpreter.
        let packages = if number == 0 { &["plain", "full"][..] } else { &["plain"] };
        for name in packages {
            let place = Environment::empty(&workspace, &format!("wheel-{number}-{name}"), &interpreter.path)?;
            install(&workspace, &place, &wheels)?;
            let mut more = place.module("pip");
            more.args(["install", "--quiet", "--disable-pip-version-check", "-r"]).arg(requirements(&workspace, name));
            succeed(&workspace, more)?;
            let mut tests = place.module("pytest");
            tests.args(["-q", "--import-mode=importlib", "-p", "no:cacheprovider"]);
            // From another directory: the package in the sources has no module.
            tests.arg(workspace.root.join(PACKAGE).join("tests")).current_dir(&wheels);
            succeed(&workspace, with_programs(tests, &programs))?;
        }
    }
    Ok(())
}

/// Builds all wheels and returns their directory.
fn build_all(workspace: &Workspace, interpreters: &[Interpreter]) -> Result<PathBuf> {
    let wheels = workspace.target.join("python").join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    // All files of a source distribution have one old time, by which cargo takes crates of earlier sources for these.
    let mut clean = Command::new(workspace::cargo());
    clean.args(["clean", "--quiet", "--release", "--workspace"]).current_dir(&workspace.root);
    clean.env("CARGO_TARGET_DIR", &workspace.target);
    succeed(workspace, clean)?;
    // Of the files of the source distribution, which shows that they are enough. Not with `--locked`: there cargo takes
    // out of the lock file what the other members of the workspace need.
    build(workspace, &wheels, &["--sdist"])?;
    for interpreter in interpreters.iter().filter(|interpreter| interpreter.is_free_threaded) {
        let path = interpreter.path.to_str().context("the path of an interpreter is not UTF-8")?;
        build(workspace, &wheels, &["--locked", "--interpreter", path])?;
    }
    Ok(wheels)
}

fn build(workspace: &Workspace, wheels: &Path, options: &[&str]) -> Result<()> {
    let mut build = Environment::of(workspace, "build")?.module("maturin");
    build.args(["build", "--release", "--out"]).arg(wheels).args(options);
    build.current_dir(workspace.root.join(PACKAGE)).env("CARGO_TARGET_DIR", &workspace.target);
    succeed(workspace, build)
}

/// Fails if a wheel is only for machines like this one.
fn check_names(wheels: &Path) -> Result<()> {
    for file in fs::read_dir(wheels)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".whl") && name.contains("-linux_") {
            bail!("{name} needs libraries that not every Linux has; its name should contain manylinux or musllinux");
        }
    }
    Ok(())
}

/// Installs the wheel of the environment's interpreter.
fn install(workspace: &Workspace, place: &Environment, wheels: &Path) -> Result<()> {
    let mut install = place.module("pip");
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links"]).arg(wheels);
    install.args(["--only-binary", ":all:", "fpstore"]);
    succeed(workspace, install)
}

/// Installs the wheel alone, and runs the examples of the package's README with nothing else in reach: no Rust, no
/// other package, no variable of this environment.
fn read_me(workspace: &Workspace, wheels: &Path, interpreter: &Interpreter, name: &str) -> Result<()> {
    let place = Environment::empty(workspace, name, &interpreter.path)?;
    install(workspace, &place, wheels)?;
    let mut examples = place.python();
    examples.env_clear().env("PATH", place.programs()).current_dir(wheels);
    // Python does not start on Windows without this one.
    examples.envs(env::var_os("SYSTEMROOT").map(|root| ("SYSTEMROOT", root)));
    examples.args(["-c", EXAMPLES]).arg(workspace.root.join(PACKAGE).join("README.md"));
    succeed(workspace, examples)
}
