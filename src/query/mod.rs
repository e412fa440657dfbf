mod batch;
mod hits;
mod lookup;
mod near;
mod probe;
mod records;
mod searcher;
mod tables;
mod visit;

pub use batch::strategy::BatchStrategy;
pub(crate) use records::Near;
pub use searcher::Searcher;
pub(crate) use searcher::{Asking, check_distance};
pub use tables::query_tables::QueryTables;
pub use visit::Visit;
