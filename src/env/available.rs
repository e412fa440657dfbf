//! Memory that the process may still take on Linux.
//!
//! It is the minimum of `MemAvailable` in `/proc/meminfo` and of the limit less the usage of each control group, from
//! the group of the process up to the root. File pages that the kernel can drop count as free, in the machine and in a
//! group.
//!
//! Missing or malformed files are skipped.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

const MOST_BYTES: u64 = 1 << 16;

/// Most groups read, from the group of the process upwards.
const MOST_GROUPS: usize = 64;

type Reader<'r> = &'r dyn Fn(&Path) -> Option<String>;

struct Version {
    root: &'static str,
    limits: &'static [&'static str],
    usage: &'static str,
    /// Fields of `memory.stat` that count file pages.
    files: [&'static str; 2],
}

const V1: Version = Version {
    root: "/sys/fs/cgroup/memory",
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    files: ["total_inactive_file", "total_active_file"],
};

const V2: Version = Version {
    root: "/sys/fs/cgroup",
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    files: ["inactive_file", "active_file"],
};

pub(super) fn available() -> Option<u64> {
    available_by(&|path| {
        let mut text = String::new();
        File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    })
}

fn available_by(read: Reader<'_>) -> Option<u64> {
    let machine = machine(&read(Path::new("/proc/meminfo"))?)?;
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let left = groups.lines().filter_map(group).flat_map(|(version, path)| version.left(&path, read));
    left.min().into_iter().chain([machine]).min()
}

fn machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    number(line.trim().strip_suffix("kB")?)?.checked_mul(1024)
}

/// The group that a line of `/proc/self/cgroup` names, `number:controllers:path`, if it limits memory.
fn group(line: &str) -> Option<(&'static Version, PathBuf)> {
    let mut fields = line.splitn(3, ':');
    let (hierarchy, controllers, path) = (fields.next()?, fields.next()?, Path::new(fields.next()?));
    let version = match controllers {
        "" if hierarchy == "0" => &V2,
        _ if controllers.split(',').any(|controller| controller == "memory") => &V1,
        _ => return None,
    };
    // The path of a group outside the process's namespace begins with `..`. Only the root of such a group is visible.
    let is_outside = path.components().any(|component| component == Component::ParentDir);
    let normal = path.components().filter(|component| matches!(component, Component::Normal(_)));
    Some((version, if is_outside { PathBuf::new() } else { normal.collect() }))
}

impl Version {
    /// The bytes left by a group and those above it, one number for each with a limit.
    fn left(&self, group: &Path, read: Reader<'_>) -> Vec<u64> {
        let directory = |group: &Path| Path::new(self.root).join(group);
        group.ancestors().take(MOST_GROUPS).filter_map(|group| self.left_by(&directory(group), read)).collect()
    }

    fn left_by(&self, directory: &Path, read: Reader<'_>) -> Option<u64> {
        let number_in = |name: &&str| number(&read(&directory.join(name))?);
        // A file without a limit holds `max`.
        let limit = self.limits.iter().filter_map(number_in).min()?;
        let usage = number_in(&self.usage)?;
        let statistics = read(&directory.join("memory.stat")).unwrap_or_default();
        let field = |name| statistics.lines().find_map(|line| number(line.strip_prefix(name)?.strip_prefix(' ')?));
        let files = self.files.into_iter().filter_map(field).fold(0, u64::saturating_add);
        Some(limit.saturating_sub(usage.saturating_sub(files)))
    }
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24684084 kB\nMemFree:         4325200 kB\nMemAvailable:   1000 kB\n";

    /// The available memory if these are all files.
    fn of(files: &[(&str, &str)]) -> Option<u64> {
        available_by(&|path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn the_machine_without_limits() {
        let unlimited = ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        let v1 = ("/proc/self/cgroup", "4:memory:/\n0::/\n");
        assert_eq!(of(&[("/proc/meminfo", MEMINFO)]), Some(1_024_000));
        assert_eq!(of(&[("/proc/meminfo", MEMINFO), v1, unlimited]), Some(1_024_000));
        let usage = ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "19614121984");
        assert_eq!(of(&[("/proc/meminfo", MEMINFO), v1, unlimited, usage]), Some(1_024_000));
        let none = ("/sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(of(&[("/proc/meminfo", MEMINFO), ("/proc/self/cgroup", "0::/"), none]), Some(1_024_000));
    }

    #[test]
    fn the_least_that_a_group_or_one_above_it_leaves() {
        let mut files = vec![
            ("/proc/meminfo", MEMINFO),
            ("/proc/self/cgroup", "0::/user.slice/a.scope\n"),
            ("/sys/fs/cgroup/user.slice/a.scope/memory.max", "900000\n"),
            ("/sys/fs/cgroup/user.slice/a.scope/memory.current", "500000\n"),
            ("/sys/fs/cgroup/user.slice/a.scope/memory.stat", "anon 1\ninactive_file 300\nactive_file 20\nfile 9999\n"),
        ];
        assert_eq!(of(&files), Some(400_320));
        files.push(("/sys/fs/cgroup/user.slice/memory.max", "800000"));
        files.push(("/sys/fs/cgroup/user.slice/memory.current", "700000"));
        assert_eq!(of(&files), Some(100_000));
        files.push(("/sys/fs/cgroup/user.slice/memory.high", "600000"));
        assert_eq!(of(&files), Some(0), "more is used than the limit");
    }

    #[test]
    fn the_first_version_of_groups() {
        let of_group = |path| {
            of(&[
                ("/proc/meminfo", MEMINFO),
                ("/proc/self/cgroup", path),
                ("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "900000\n"),
                ("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "500000\n"),
                ("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 7\ntotal_inactive_file 100\n"),
                ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "950000\n"),
                ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n"),
            ])
        };
        assert_eq!(of_group("9:name=systemd:/job\n4:cpu,memory:/job\n"), Some(400_100));
        // In a container the group may have another name than the visible one; then its limit is in the root.
        assert_eq!(of_group("4:memory:/docker/0123\n"), Some(949_000));
        assert_eq!(of_group("4:memory:/../job\n"), Some(949_000));
        assert_eq!(of_group("4:cpu:/job\n"), Some(1_024_000));
    }

    #[test]
    fn texts_that_make_no_sense() {
        for text in
            ["", "MemAvailable:", "MemAvailable: kB", "MemAvailable: -1 kB", "MemAvailable: 99999999999999999999 kB"]
        {
            assert_eq!(of(&[("/proc/meminfo", text)]), None, "{text}");
        }
        assert_eq!(of(&[("/proc/meminfo", "MemAvailable: 18446744073709551615 kB")]), None);
        for line in ["", ":", "::", "0:", "0::", "memory", "4:memory", "0::relative", "x:memory:\u{0}", "0::/../../etc"]
        {
            assert_eq!(of(&[("/proc/meminfo", MEMINFO), ("/proc/self/cgroup", line)]), Some(1_024_000), "{line}");
        }
        let deep = format!("0::/{}", "a/".repeat(30_000));
        assert_eq!(of(&[("/proc/meminfo", MEMINFO), ("/proc/self/cgroup", &deep)]), Some(1_024_000));
        let files = [
            ("/proc/meminfo", MEMINFO),
            ("/proc/self/cgroup", "0::/"),
            ("/sys/fs/cgroup/memory.max", "12"),
            ("/sys/fs/cgroup/memory.current", "7"),
            ("/sys/fs/cgroup/memory.stat", "inactive_file 18446744073709551615\nactive_file 1\n"),
        ];
        assert_eq!(of(&files), Some(12));
    }

    #[test]
    fn this_machine_has_some() {
        assert!(available().is_some_and(|bytes| bytes < 1 << 50));
    }
}
