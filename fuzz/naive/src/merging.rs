//! store.md: how far a merge has come, the file `MERGE`.

use crate::conventions::{Bytes, VERSION, check_plain};
use crate::segment::Place;
use crate::{Res, require};

/// What is written of a new segment, and of what it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub length: u64,
    pub hash: u64,
    /// Numbers of the segments that become one.
    pub inputs: Vec<u64>,
    /// Of each table its blocks, and where data, codes and index are.
    pub tables: Vec<(u64, [Place; 3])>,
}

pub fn read_progress(bytes: &[u8]) -> Res<Progress> {
    let mut fields = Bytes::new(bytes);
    require(fields.take(8)? == b"fpmerge\0", "magic")?;
    require(fields.uint(4)? == VERSION, "version")?;
    let (t, length, hash, m) = (fields.uint(4)?, fields.uint(8)?, fields.uint(8)?, fields.uint(8)?);
    check_plain(bytes)?;
    require((1..=256).contains(&t) && m > 0, "numbers of tables and of segments")?;
    let (mut inputs, mut tables, mut end) = (Vec::new(), Vec::new(), 16u128);
    for _ in 0..m {
        let number = fields.uint(8)?;
        require((1..1 << 63).contains(&number), "a segment number out of range")?;
        inputs.push(number);
    }
    for _ in 0..t {
        let blocks = fields.uint(8)?;
        let mut places = [(0, 0); 3];
        for (number, place) in places.iter_mut().enumerate() {
            *place = (fields.uint(8)?, fields.uint(8)?);
            let start = u128::from(place.0);
            let page = number == 0 && start == end.div_ceil(4096) * 4096;
            require(start == end || page, "a section out of place")?;
            end = start + u128::from(place.1);
        }
        tables.push((blocks, places));
    }
    require(end == u128::from(length), "the last index does not end where what is written ends")?;
    require(fields.rest.len() == 4, "bytes behind the last table")?;
    Ok(Progress { length, hash, inputs, tables })
}
