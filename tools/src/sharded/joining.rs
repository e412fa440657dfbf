//! The stores of nodes that join a ring.
//!
//! Until the ring file names a node, its records do not count, and a removal does not reach them. A mark in the store's
//! directory tells that all of its records are copies: it is made while the store is empty, and goes when the node has
//! joined. A run that finds a mark removes these copies, and makes them again. A store that has records and no mark is
//! refused: its records came from elsewhere.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use anyhow::{Context, bail};
use fpstore::bulk::RecordSorter;
use fpstore::{Fingerprint, Options};

use super::distribute::{each, open, remove};
use super::place::Place;

fn mark(place: &Place) -> PathBuf {
    place.directory.join("fpring-joining")
}

/// Makes the stores of joining nodes empty, and marks them.
pub(super) fn admit<F: Fingerprint>(places: &[Place], options: &Options) -> anyhow::Result<()> {
    for place in places.iter().filter(|place| !place.is_old) {
        let store = open::<F>(place, options)?;
        if !mark(place).exists() {
            let records = store.statistics().records;
            if records > 0 {
                bail!(
                    "node {} joins, and its store at {} has {records} records, which no node of the ring has; load \
                     them into a node of the ring, or give the new node another directory",
                    place.name,
                    place.directory.display()
                );
            }
            make(place).with_context(|| mark(place).display().to_string())?;
            continue;
        }
        let mut copies = RecordSorter::<F>::new(&place.directory, options);
        each(place, &store, |record| Ok(copies.push(record.fingerprint, record.id.as_ref())?))?;
        drop(store);
        remove(place, options, copies)?;
    }
    Ok(())
}

/// Removes the marks of nodes that the ring file names now.
pub(super) fn joined(places: &[Place]) -> anyhow::Result<()> {
    for path in places.iter().filter(|place| place.is_new).map(mark) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes a mark durable, before there is a copy.
fn make(place: &Place) -> io::Result<()> {
    File::create(mark(place))?.sync_all()?;
    #[cfg(unix)]
    File::open(&place.directory)?.sync_all()?;
    Ok(())
}
