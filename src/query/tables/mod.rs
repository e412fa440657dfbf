mod bits;
mod choice;
pub(crate) mod query_tables;
mod table;
#[cfg(test)]
mod tests;
