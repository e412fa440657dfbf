mod flips;
mod gathered;
mod job;
mod marks;
mod queries;
mod ranges;
mod segment;
mod space;
pub(crate) mod strategy;
#[cfg(test)]
mod tests;
mod worker;
