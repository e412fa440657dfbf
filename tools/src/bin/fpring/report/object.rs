//! The report as an object, for programs and for what is drawn from it.

use serde::Serialize;

use super::measure::Row;

/// The report.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) schema_version: u32,
    pub(super) file: String,
    pub(super) hash: &'static str,
    /// Virtual nodes and replicas of the file.
    #[serde(rename = "virtual")]
    pub(super) virtual_nodes: u32,
    pub(super) replicas: u32,
    pub(super) nodes: usize,
    pub(super) keys: u64,
    pub(super) views: u32,
    pub(super) seed: u64,
    pub(super) rows: Vec<Row>,
}
