//! The live store: writes at any time, exact answers that include them at once, and no loss of acknowledged writes.

mod beside;
mod bulk;
mod counts;
mod device;
mod displaced;
mod faults;
mod health;
mod indexed;
mod killed;
mod merging;
mod model;
mod readers;
pub(crate) mod repair;
mod sequences;
