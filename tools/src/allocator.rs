//! Memory that goes back to the system once it is not needed any more.
//!
//! The allocator of glibc keeps what a thread has freed for the next wish of the same thread, tens of megabytes for each:
//! more than a small `--memory` has to give. How much it keeps, it is told by its environment or not at all. So a program
//! that has promised to keep within a size begins anew with that told, as the same process and before it has read
//! anything. Where the allocator is another one, or that does not work, nothing happens.

/// Has pieces of memory of some mebibytes go back to the system when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    use std::env;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// From so many bytes on a piece is mapped by itself (mallopt(3)); without it glibc moves the mark up to 32 MiB.
    const MARK: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "4194304");
    let mut arguments = env::args_os();
    if let (None, Ok(program), Some(name)) = (env::var_os(MARK.0), env::current_exe(), arguments.next()) {
        // Returns only if it fails.
        let _ = Command::new(program).arg0(name).args(arguments).env(MARK.0, MARK.1).exec();
    }
}

/// Nothing: other allocators are not known to keep as much.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
