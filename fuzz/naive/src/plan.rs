//! plan.md: parameters and tables.

use crate::conventions::Bytes;
use crate::{Res, require};

/// The parameters, fixed at the creation of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub width: usize,
    pub distance: u64,
    pub design: (u64, usize, usize),
    pub codec: u8,
    pub id_kind: u8,
    pub id_index: bool,
    pub block_size: usize,
    pub hasher: String,
    /// Of a key index and its segments of keys.
    pub keys: Option<KeyFormat>,
}

/// keys.md: bits of a stored key, of a sample of a sketch, and of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFormat {
    pub bits: u64,
    pub sample: u64,
    pub sketch: usize,
}

impl KeyFormat {
    /// Bytes of a sketch.
    pub fn size(self) -> usize {
        self.sketch.div_ceil(8)
    }
}

fn read_key_format(fields: &mut Bytes<'_>) -> Res<KeyFormat> {
    let (bits, sample, sketch) = (fields.uint(1)?, fields.uint(1)?, fields.uint(2)? as usize);
    require((1..=64).contains(&bits), "key bits")?;
    require([1, 2, 4, 8, 16].contains(&sample), "bits of a sample")?;
    require(sketch <= 8192 && sketch.is_multiple_of(sample as usize), "bits of a sketch")?;
    Ok(KeyFormat { bits, sample, sketch })
}

/// C(n, k), at most 257.
fn choices(n: usize, k: usize) -> usize {
    let mut c = 1;
    for i in 0..k.min(n - k) {
        c = c * (n - i) / (i + 1);
        if c > 256 {
            return 257;
        }
    }
    c
}

pub fn read_parameters(fields: &mut Bytes<'_>) -> Res<Parameters> {
    let width = fields.uint(2)? as usize;
    let distance = fields.uint(2)?;
    let design = (fields.uint(1)?, fields.uint(1)? as usize, fields.uint(1)? as usize);
    let (codec, id_kind, has) = (fields.uint(1)? as u8, fields.uint(1)? as u8, fields.uint(1)?);
    let block_size = fields.uint(4)? as usize;
    let length = fields.uint(2)? as usize;
    let hasher = std::str::from_utf8(fields.take(length)?).map_err(|_| "a hasher that is not UTF-8")?.to_owned();
    require([64, 128, 256].contains(&width), "unsupported width")?;
    require(distance <= width as u64, "distance above the width")?;
    let (kind, a, b) = design;
    require(
        match kind {
            0 => b == 0 && 1 <= a && a <= width,
            1 => 1 <= a && a <= b && b <= width && choices(b, a) <= 256,
            2 => 2 <= a && a <= width && 1 <= b && b <= width - width.div_ceil(a) && a * b <= 256,
            _ => false,
        },
        "design",
    )?;
    require(codec <= 1, "unsupported codec")?;
    require((1..=3).contains(&id_kind), "unsupported id kind")?;
    require(has <= 3, "unsupported id index or keys")?;
    let id_index = has & 1;
    require(id_index == 0 || id_kind != 3, "an id index where there are no ids")?;
    require((7..=16).any(|n| block_size == 1 << n), "block size")?;
    require(length <= 1024, "a hasher that is too long")?;
    let blank = |c: char| {
        matches!(c as u32,
            0..=0x20 | 0x7F..=0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000)
    };
    require(!hasher.chars().any(blank), "a hasher with blanks or controls")?;
    let keys = if has & 2 == 2 { Some(read_key_format(fields)?) } else { None };
    let plain = width == 64 && distance == 0 && design == (0, 1, 0) && id_kind <= 2;
    require(keys.is_none() || plain, "parameters that no key index has")?;
    Ok(Parameters { width, distance, design, codec, id_kind, id_index: id_index == 1, block_size, hasher, keys })
}

fn cut(bits: &[usize], m: usize) -> Vec<Vec<usize>> {
    let (size, longer) = (bits.len() / m, bits.len() % m);
    let (mut parts, mut rest) = (Vec::new(), bits);
    for part in 0..m {
        let (front, after) = rest.split_at(size + usize::from(part < longer));
        parts.push(front.to_vec());
        rest = after;
    }
    parts
}

/// For each table the order of bits, and the number of leading ones.
pub fn tables(parameters: &Parameters) -> Vec<(Vec<usize>, usize)> {
    let bits: Vec<usize> = (0..parameters.width).collect();
    let mut leading: Vec<Vec<usize>> = Vec::new();
    let (kind, a, b) = parameters.design;
    match kind {
        0 => leading = cut(&bits, a),
        1 => {
            let parts = cut(&bits, b);
            // All choices of `a` part numbers in lexicographic order.
            let mut chosen: Vec<usize> = (0..a).collect();
            loop {
                leading.push(chosen.iter().flat_map(|&part| parts[part].clone()).collect());
                let Some(i) = (0..a).rev().find(|&i| chosen[i] < b - a + i) else { break };
                chosen[i] += 1;
                for j in i + 1..a {
                    chosen[j] = chosen[j - 1] + 1;
                }
            }
        }
        _ => {
            for outer in cut(&bits, a) {
                let others: Vec<usize> = bits.iter().copied().filter(|bit| !outer.contains(bit)).collect();
                for inner in cut(&others, b) {
                    leading.push([outer.clone(), inner].concat());
                }
            }
        }
    }
    leading
        .into_iter()
        .map(|front| {
            let mut order = front.clone();
            order.extend(bits.iter().filter(|bit| !front.contains(bit)));
            (order, front.len())
        })
        .collect()
}
