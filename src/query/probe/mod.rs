pub(crate) mod asked;
pub(crate) mod found;
pub(crate) mod plan;
pub(crate) mod prober;
pub(crate) mod scan;
pub(crate) mod segment;
pub(crate) mod visit;
