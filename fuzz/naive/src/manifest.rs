//! manifest.md

use crate::conventions::{Bytes, check_plain};
use crate::plan::{Parameters, read_parameters};
use crate::{Res, require};

/// Number, file length, records, fingerprints and footer checksum of each segment.
pub type Entries = Vec<[u64; 5]>;

pub fn read_manifest(bytes: &[u8]) -> Res<(Parameters, Entries)> {
    require(bytes.len() <= 1 << 26, "longer than 64 MiB")?;
    let mut fields = Bytes::new(bytes);
    require(fields.take(8)? == b"fpstore\0", "magic")?;
    require(fields.uint(4)? == 3, "version")?;
    check_plain(bytes)?;
    let parameters = read_parameters(&mut fields)?;
    let (numbering, _, next, n) = (fields.uint(1)?, fields.uint(8)?, fields.uint(8)?, fields.uint(4)?);
    require(numbering <= 2, "numbering")?;
    require(fields.rest.len() as u64 == 36 * n + 4, "a length that does not fit the number of segments")?;
    let (mut entries, mut before) = (Entries::new(), 0);
    for _ in 0..n {
        let entry = [fields.uint(8)?, fields.uint(8)?, fields.uint(8)?, fields.uint(8)?, fields.uint(4)?];
        require(before < entry[0], "segment numbers do not ascend")?;
        before = entry[0];
        entries.push(entry);
    }
    require(before < next, "next segment")?;
    Ok((parameters, entries))
}
