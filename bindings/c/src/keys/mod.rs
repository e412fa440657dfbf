//! Key indexes: records with several keys each, such as MinHash bands.

pub mod clusters;
pub mod columns;
pub mod create;
pub mod load;
pub mod pairs;
pub mod query;
