//! How long each step of a task took, shown at its end.

use std::time::{Duration, Instant};

/// Steps and their durations, in order.
#[derive(Debug)]
pub(crate) struct Timings {
    begun: Instant,
    steps: Vec<(String, Duration)>,
}

impl Timings {
    pub(crate) fn start() -> Self {
        Self { begun: Instant::now(), steps: Vec::new() }
    }

    /// Does a step, and remembers how long it took.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.add(name, begun.elapsed());
        done
    }

    pub(crate) fn add(&mut self, name: &str, took: Duration) {
        self.steps.push((name.to_owned(), took));
    }

    /// Returns a line for each step, and one for all of them. Steps shorter than a second are one line.
    pub(crate) fn text(&self) -> String {
        table(&self.steps, self.begun.elapsed())
    }
}

/// Steps shorter than this are added up.
const SHORT: Duration = Duration::from_secs(1);

fn table(steps: &[(String, Duration)], all: Duration) -> String {
    let line = |name: &str, took: Duration| format!("\n{:>8.1} s  {name}", took.as_secs_f64());
    let (long, short): (Vec<_>, Vec<_>) = steps.iter().partition(|(_, took)| *took >= SHORT);
    let mut text = String::from("Times:");
    text.extend(long.into_iter().map(|(name, took)| line(name, *took)));
    if !short.is_empty() {
        text += &line(&format!("{} shorter steps", short.len()), short.iter().map(|(_, took)| *took).sum());
    }
    text + &line("in all", all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_steps_are_one_line() {
        let steps = [("build", 61_250), ("one", 400), ("queries", 1500), ("two", 300)];
        let steps = steps.map(|(name, millis)| (name.to_owned(), Duration::from_millis(millis)));
        let text = table(&steps, Duration::from_secs(64));
        let lines = ["    61.2 s  build", "     1.5 s  queries", "     0.7 s  2 shorter steps", "    64.0 s  in all"];
        assert_eq!(text, format!("Times:\n{}", lines.join("\n")));
    }
}
