//! `fpring rebalance` that is killed or interrupted loses nothing, and continues.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::points::every;
use crate::ring_rebalance::{Sharded, records};
use crate::support::{fpring, stdout};

#[test]
fn killed_and_interrupted_rebalancing() {
    let sharded = Sharded::new(records(60_000), &["a", "b", "c", "d"], &["--plan", "tables-2"]);
    let grow = sharded.next(&[&["add", "e"], &["weight", "a=2"]]);
    let (small, large) = (sharded.place.path("small.json"), sharded.place.path("large.json"));
    std::fs::copy(&sharded.ring, &small).unwrap();
    std::fs::rename(grow, &large).unwrap();
    let begun = Instant::now();
    stdout(fpring().arg("rebalance").arg(&sharded.ring).arg(&large));
    let duration = begun.elapsed();
    sharded.check_exact();
    let mut is_large = true;
    for (moment, interrupt) in every(4, (1..=12).map(|moment| (moment, moment % 3 == 0))) {
        let next = if is_large { &small } else { &large };
        let mut child = Command::new(env!("CARGO_BIN_EXE_fpring"))
            .arg("rebalance")
            .arg(&sharded.ring)
            .arg(next)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(duration.mul_f64(f64::from(moment) / 13.0));
        if interrupt {
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        } else {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        sharded.check_union();
        // Half of the interrupted runs are continued, half are followed by one back to the ring before.
        if moment % 2 == 0 {
            stdout(fpring().arg("rebalance").arg(&sharded.ring).arg(next));
            is_large = !is_large;
        } else {
            let before = if is_large { &large } else { &small };
            stdout(fpring().arg("rebalance").arg(&sharded.ring).arg(before));
        }
        sharded.check_union();
        sharded.check_exact();
        thread::sleep(Duration::from_millis(1));
    }
}
