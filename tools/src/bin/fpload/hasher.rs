//! The hasher of a load.

use anyhow::bail;
use fpstore::Parameters;
use fpstore_tools::input::Header;

/// The hasher that the option or the inputs name. All headers that name a hasher must name the same; without the
/// option, either all inputs name one or none does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher {
    name: Option<String>,
    /// Whether the option names the hasher.
    told: bool,
    /// An input that names no hasher.
    silent: Option<String>,
}

impl Hasher {
    /// Returns the hasher of the option.
    pub(crate) fn new(option: Option<&str>) -> Self {
        Self { name: option.map(str::to_owned), told: option.is_some(), silent: None }
    }

    /// Adds the hasher that an input names.
    pub(crate) fn meet(&mut self, input: &str, header: Option<&Header>) -> anyhow::Result<()> {
        let found = header.and_then(|header| header.hasher.as_deref());
        match (&self.name, found) {
            (Some(name), Some(found)) if name != found => {
                bail!("{input}: its fingerprints were made by {found}, the others by {name}; they must not be mixed")
            }
            (None, Some(found)) => self.name = Some(found.to_owned()),
            (_, None) if self.silent.is_none() => self.silent = Some(input.to_owned()),
            _ => {}
        }
        match (&self.name, &self.silent) {
            (Some(name), Some(silent)) if !self.told => bail!(
                "{silent}: the hasher of its fingerprints is not known, others were made by {name}: if it is the same, \
                 name it \
                 with --hasher {name}"
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Rejects a hasher other than the store's, or an unknown one if the store's is known.
    pub(crate) fn check(&self, parameters: &Parameters) -> anyhow::Result<()> {
        match (parameters.hasher(), self.name()) {
            (Some(store), Some(load)) if store != load => {
                bail!(
                    "the store's fingerprints were made by {store}, these by {load}; they must not be mixed: make \
                     these as \
                     the store's were (fphash --like STORE), or create a new store"
                )
            }
            (Some(store), None) => bail!(
                "the store's fingerprints were made by {store}; the hasher of these is not known: if it is the same, \
                 name it \
                 with --hasher {store}"
            ),
            (None, Some(load)) => bail!(
                "these fingerprints were made by {load}; the hasher of the store's is not known (it was created \
                 without \
                 --hasher)"
            ),
            _ => Ok(()),
        }
    }
}
