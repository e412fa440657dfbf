//! The sums of libtest's result lines, and the tests that failed.

/// The results of a run so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    pub(super) failures: Vec<String>,
}

impl Tally {
    /// Takes a line of output.
    pub(super) fn add(&mut self, line: &str) {
        if let Some(test) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failures.push(test.to_owned());
        }
        let Some((_, counts)) = line.trim_start().strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                Some((number, "ignored")) => self.ignored += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{} tests passed, {} failed, {} ignored", self.passed, self.failed, self.ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_result_lines() {
        let mut tally = Tally::default();
        tally.add("running 3 tests");
        tally.add("test a::works ... ok");
        tally.add("test a::breaks ... FAILED");
        tally.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s");
        tally.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s");
        assert_eq!(tally, Tally { passed: 15, failed: 2, ignored: 1, failures: vec!["a::breaks".into()] });
        assert_eq!(tally.text(), "15 tests passed, 2 failed, 1 ignored");
    }
}
