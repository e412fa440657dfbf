//! What a load of a key index reports beside what every load does.

use std::path::Path;

use fpstore::keys::KeyLoadReport;
use fpstore::{KeyIndex, Parameters};
use fpstore_tools::documents::LeftOut;
use fpstore_tools::number::{count, count_of};
use serde::Serialize;

use super::{About, Rest, Told};
use crate::args::Args;

/// The result of a run.
pub(crate) type Deed = super::Deed<KeyLoadReport, KeyLoadReport>;

impl Deed {
    /// The report on loaded records, if there are some.
    fn load(&self) -> Option<&KeyLoadReport> {
        match self {
            Self::Created(report) => report.as_ref(),
            Self::Loaded(report) | Self::Replaced(report) => Some(report),
            Self::Removed(_) | Self::RemovedIds(_) | Self::Indexed(_) | Self::Nothing => None,
        }
    }

    /// What was loaded, in words.
    fn loaded(&self) -> Option<(&'static str, String)> {
        let loaded = self.load()?;
        let mut text = format!("{}: {} new", count_of(loaded.records, "record"), count(loaded.added));
        text += &match self {
            Self::Replaced(_) => format!(" in place of {}", count(loaded.replaced)),
            _ => format!(", {} already present", count(loaded.already_present)),
        };
        if loaded.repeated > 0 {
            text += &format!(", {} with an id that came before", count(loaded.repeated));
        }
        Some(("loaded", format!("{text}; {}", count_of(loaded.keys, "key"))))
    }
}

#[derive(Serialize)]
struct Kind {
    kind: &'static str,
    key_bits: u8,
    sketch_bits: u16,
}

impl Kind {
    fn new(parameters: &Parameters) -> Self {
        let format = parameters.keys().unwrap_or_default();
        Self { kind: "keys", key_bits: format.key_bits(), sketch_bits: format.sketch_bits() }
    }

    fn described(&self) -> String {
        let sketches = match self.sketch_bits {
            0 => "no sketches".to_owned(),
            bits => format!("sketches of {bits} bits"),
        };
        format!("keys of {} bits, {sketches}", self.key_bits)
    }
}

#[derive(Serialize)]
struct More {
    /// Records whose id came before in the input.
    repeated: u64,
    added: u64,
    keys: u64,
}

/// Reports a load.
pub(crate) fn done(
    args: &Args,
    path: &Path,
    deed: &Deed,
    index: &KeyIndex,
    left_out: &LeftOut,
    rest: Rest,
) -> anyhow::Result<()> {
    let (parameters, statistics) = (index.parameters(), index.statistics());
    let loaded = deed.load().copied().unwrap_or_default();
    let (records, removed) = match deed {
        Deed::RemovedIds(report) => (report.ids, report.removed),
        _ => (loaded.records, loaded.replaced),
    };
    let bits = statistics.keys.as_ref().and_then(|keys| {
        let (bits, bound) = (keys.bits_per_key(), keys.information_bound_bits()?);
        Some(("keys", format!("{bits:.2} bits a key with its record (information bound {bound:.2})")))
    });
    let kind = Kind::new(parameters);
    let told = Told {
        records,
        already_present: loaded.already_present,
        removed,
        store_records: statistics.records,
        file_bytes: statistics.file_bytes,
        described: kind.described(),
        kind,
        more: More { repeated: loaded.repeated, added: loaded.added, keys: loaded.keys },
        loaded: deed.loaded(),
        holds: count_of(statistics.records, "record"),
        bits,
    };
    About { args, path, parameters, left_out }.done(deed, told, rest)
}

/// Reports what a load would do.
pub(crate) fn dry_run(
    args: &Args,
    path: &Path,
    parameters: &Parameters,
    records: u64,
    left_out: &LeftOut,
) -> anyhow::Result<()> {
    let kind = Kind::new(parameters);
    About { args, path, parameters, left_out }.dry_run(records, "with keys", &kind.described(), kind)
}
