//! Whether a device has room for a segment, before a byte of it is written.

use super::Store;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Fingerprint, IdKind};
use crate::plan::{Workload, predict};

/// Families of fingerprints, and texts that repeat, are compressed further than the estimate says; never below this part
/// of it, or hardly.
const LEAST_PART: f64 = 0.25;

/// Refuses a load that the device of the store has no room for: what so many records take at least is estimated, with
/// all fingerprints different and evenly spread, and a quarter of that has to be free. The device is asked again with
/// every write; this only spares the user hours of work.
///
/// # Errors
/// `Io` that tells both numbers.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
pub(super) fn check<F: Fingerprint>(store: &Store<F>, records: u64) -> Result<()> {
    let parameters = store.parameters();
    let Some(free) = store.options.env.free_bytes(&store.path) else { return Ok(()) };
    let workload = Workload {
        fingerprints: records,
        width: F::WIDTH,
        distance: parameters.max_distance(),
        block_size: parameters.block_size(),
        filter: false,
    };
    let tables = predict(parameters.design(), &workload)?.disk_bytes;
    let id = if parameters.ids() == IdKind::None { 0.0 } else { (records.max(2) as f64).log2() / 8.0 };
    let estimated = tables + id * records as f64;
    if (free as f64) < estimated * LEAST_PART {
        let message = format!("the new segment takes some {} bytes, {free} are free", estimated as u64);
        return Err(Error::new(ErrorKind::Io, message)
            .at_path(&store.path)
            .with_remedy("free some space on the device, or put the store on a larger one"));
    }
    Ok(())
}
