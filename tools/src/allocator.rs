//! Returns memory to the system as soon as it is freed.
//!
//! The allocator of glibc keeps what a thread has freed for later requests of the same thread, tens of megabytes for
//! each thread: more than a small `--memory` allows. Only environment variables set how much it keeps. So a program
//! with a memory limit sets them and executes itself again, as the same process and before it has read any input. With
//! another allocator, or if that fails, nothing changes.

/// Makes the allocator return blocks of some mebibytes to the system when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    use std::env;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Blocks of at least this size are mapped separately (mallopt(3)). Without the setting glibc raises the threshold
    /// up to 32 MiB.
    const MARK: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "4194304");
    let mut arguments = env::args_os();
    if let (None, Ok(program), Some(name)) = (env::var_os(MARK.0), env::current_exe(), arguments.next()) {
        // Returns only if it fails.
        let _ = Command::new(program).arg0(name).args(arguments).env(MARK.0, MARK.1).exec();
    }
}

/// Does nothing: other allocators are not known to keep as much.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
