//! SIGKILL and SIGINT at every moment of a load.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::cases::Case;
use super::check::{self, Found};
use super::inputs::Random;
use super::stage::{Stage, fresh};
use super::tally::Tally;

/// Signal that ends a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Kill,
    Interrupt,
}

/// Ends `number` loads. The cases take turns; the moments of each case cover its duration evenly.
pub(super) fn run(stage: &Stage, cases: &mut [Case], signal: Signal, number: u64) -> Result<Tally> {
    let mut tally = Tally::new(if signal == Signal::Kill { "SIGKILL" } else { "SIGINT" });
    let mut random = Random::new(stage.seed ^ signal as u64);
    let count = cases.len() as u64;
    for n in 0..number {
        let turn = usize::try_from(n % count).unwrap_or(0);
        let Some(case) = cases.get_mut(turn) else { bail!("there are no cases") };
        let turns = number.div_ceil(count);
        // Not from early to late, so that an interrupted run has covered the whole duration.
        let stride = [7, 5, 3].into_iter().find(|stride| !turns.is_multiple_of(*stride)).unwrap_or(1);
        let part = (fraction(n / count * stride % turns) + random.fraction()) / fraction(turns);
        let delay = case.duration.mul_f64(part * 1.02);
        let moment = format!("{:?} {n} of '{}' after {:.2} s", signal, case.name, delay.as_secs_f64());
        let mut outcome = one(stage, case, signal, delay, &mut tally);
        if let Err(error) = outcome {
            let aside = check::keep(stage, &stage.path("store"), n)?;
            outcome = Err(anyhow!("{error:#}; the store is in {aside}"));
        }
        tally.outcome(&moment, outcome)?;
    }
    Ok(tally)
}

fn one(stage: &Stage, case: &mut Case, signal: Signal, delay: Duration, tally: &mut Tally) -> Result<&'static str> {
    let (store, temporary) = (stage.path("store"), stage.path("temporary"));
    case.set_up(&store)?;
    fresh(&temporary)?;
    let mut child = case.load(stage, &store, Some(&temporary)).stderr(Stdio::null()).spawn()?;
    thread::sleep(delay);
    let status = send(&mut child, signal)?;
    let found = check::after_end(stage, case, &store, Some(&temporary))?;
    if status.success() && !found.committed {
        bail!("the load had ended well, and the store is as before");
    }
    if !status.success() && status.signal().is_none() && found.committed {
        bail!("the program said that it failed ({status}), and the load is in the store");
    }
    let undisturbed = check::again(stage, case, &store, Some(&temporary), &found)?;
    if let Some(duration) = undisturbed {
        // The machine may have become faster or slower.
        case.duration = (case.duration * 2 + duration) / 3;
    }
    let Found { committed, leftovers } = found;
    tally.leftovers += leftovers;
    let (counter, outcome) = match (committed, status.success()) {
        (_, true) => (&mut tally.finished, "had ended"),
        (true, false) => (&mut tally.after, "after the commit point"),
        (false, false) => (&mut tally.before, "before the commit point"),
    };
    *counter += 1;
    Ok(outcome)
}

fn send(child: &mut Child, signal: Signal) -> Result<ExitStatus> {
    match signal {
        // Killing a process that has ended is no error.
        Signal::Kill => child.kill()?,
        Signal::Interrupt => {
            if child.try_wait()?.is_none() {
                let mut kill = Command::new("kill");
                // The process may have ended meanwhile, but its id stays reserved until it is waited for.
                kill.args(["-INT", &child.id().to_string()]).status().context("cannot run kill")?;
            }
        }
    }
    Ok(child.wait()?)
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn fraction(n: u64) -> f64 {
    n as f64
}
