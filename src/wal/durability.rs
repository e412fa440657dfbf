//! How durable a write is when it returns.

/// When a write is done.
///
/// Whatever the level, a write that has returned is seen by all who ask the store from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// When the operating system has it: it survives the end of the process, however that comes, but perhaps not a power
    /// failure.
    Buffered,
    /// When the device has its bytes: it survives a power failure too (`fdatasync`).
    SyncData,
    /// When the device has its bytes and all that the file system knows of the file (`fsync`): for file systems on which
    /// that makes a difference.
    SyncAll,
}
