//! Measures a store under concurrent writes, and prints each result as a line of JSON.
//!
//! `fpstore-live-peers --list` names the contestants;
//! `fpstore-live-peers CONTESTANT MEASURE DATA DIRECTORY [NAME=NUMBER]...` runs one. DATA holds raw little-endian
//! 64-bit fingerprints; DIRECTORY receives the store and must not contain one yet. Measures:
//!
//! * `batches`: durable batches into an empty store, by one thread;
//! * `singles`: durable single inserts into an empty store, by many threads;
//! * `stored`: loads all DATA; then sizes, queries, `insert_if_new`, queries beside inserts.
//!
//! `Options` has the numbers. A process measures one contestant, with the same code for all; `../live.py` runs and
//! compares them.

mod contestant;
mod data;
mod fjall;
mod fpstore_contestant;
mod ranges;
mod report;
mod stored;
mod writes;

use contestant::{Contestant, Result};
use std::path::Path;
use std::time::Duration;

/// The settings of the command line.
pub(crate) struct Options {
    /// Batches of `batches`.
    pub(crate) batches: usize,
    /// Records of each batch.
    pub(crate) batch: usize,
    /// Threads of `singles`.
    pub(crate) threads: usize,
    /// Seconds of `singles`, and of queries beside inserts.
    pub(crate) seconds: usize,
    /// Operations of `insert_if_new`; half are near a stored value.
    pub(crate) operations: usize,
    /// Queries; half are near a stored value.
    pub(crate) queries: usize,
    /// Records inserted per second beside queries, in the paced run.
    pub(crate) rate: usize,
    /// Seconds after which a pass over operations or queries ends early.
    pub(crate) limit: usize,
}

impl Options {
    fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self {
            batches: 500,
            batch: 1000,
            threads: 8,
            seconds: 5,
            operations: 20_000,
            queries: 20_000,
            rate: 10_000,
            limit: 120,
        };
        for argument in arguments {
            let (name, number) = argument.split_once('=').ok_or("numbers are given as NAME=NUMBER")?;
            let field = match name {
                "batches" => &mut options.batches,
                "batch" => &mut options.batch,
                "threads" => &mut options.threads,
                "seconds" => &mut options.seconds,
                "operations" => &mut options.operations,
                "queries" => &mut options.queries,
                "rate" => &mut options.rate,
                "limit" => &mut options.limit,
                _ => return Err(format!("there is no number {name}").into()),
            };
            *field = number.parse()?;
        }
        Ok(options)
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.seconds as u64)
    }

    pub(crate) fn most(&self) -> Duration {
        Duration::from_secs(self.limit as u64)
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => {
            let names = [fpstore_contestant::Fpstore::NAME, fjall::Fjall::<false>::NAME, fjall::Fjall::<true>::NAME];
            names.iter().for_each(|name| println!("{name}"));
        }
        [contestant, measure, data, directory, numbers @ ..] => {
            let (data, directory, options) = (Path::new(data), Path::new(directory), Options::parse(numbers)?);
            match *contestant {
                fpstore_contestant::Fpstore::NAME => run::<fpstore_contestant::Fpstore>(measure, data, directory, &options)?,
                fjall::Fjall::<false>::NAME => run::<fjall::Fjall<false>>(measure, data, directory, &options)?,
                fjall::Fjall::<true>::NAME => run::<fjall::Fjall<true>>(measure, data, directory, &options)?,
                _ => return Err("no such contestant; see --list".into()),
            }
        }
        _ => return Err("usage: fpstore-live-peers --list | CONTESTANT MEASURE DATA DIRECTORY [NAME=NUMBER]...".into()),
    }
    Ok(())
}

fn run<C: Contestant>(measure: &str, data: &Path, directory: &Path, options: &Options) -> Result<()> {
    let data = data::read(data)?;
    match measure {
        "batches" => writes::batches::<C>(&data, directory, options),
        "singles" => writes::singles::<C>(&data, directory, options),
        "stored" => stored::stored::<C>(data, directory, options),
        _ => Err("the measures are batches, singles and stored".into()),
    }
}
