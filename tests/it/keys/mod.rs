//! Key indexes: answers equal those of comparing all key sets, whatever was loaded, removed, replaced and merged.

mod answers;
mod batch;
mod damage;
mod decoder;
mod earlier;
mod golden;
mod loads;
mod model;
mod pairs;
mod repair;
mod reports;
mod stars;
