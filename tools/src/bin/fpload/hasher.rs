//! Who made the fingerprints of a load.

use anyhow::bail;
use fpstore::Parameters;
use fpstore_tools::input::Header;

/// What made the fingerprints: what the option says, or the inputs. Every header that names a hasher has to name the same,
/// and where the option says nothing, either all of them name one or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher {
    name: Option<String>,
    /// Whether the option says it.
    told: bool,
    /// An input that does not say.
    silent: Option<String>,
}

impl Hasher {
    /// What the option says.
    pub(crate) fn new(option: Option<&str>) -> Self {
        Self { name: option.map(str::to_owned), told: option.is_some(), silent: None }
    }

    /// Takes in what an input says of itself.
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
                "{silent}: what made its fingerprints is not said, others were made by {name}: if it is the same, name it \
                 with --hasher {name}"
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Refuses fingerprints of another hasher than the store's, or of an unknown one where the store's is known.
    pub(crate) fn check(&self, parameters: &Parameters) -> anyhow::Result<()> {
        match (parameters.hasher(), self.name()) {
            (Some(store), Some(load)) if store != load => {
                bail!(
                    "the store's fingerprints were made by {store}, these by {load}; they must not be mixed: make these as \
                     the store's were (fphash --like STORE), or make the store anew"
                )
            }
            (Some(store), None) => bail!(
                "the store's fingerprints were made by {store}; what made these is not said: if it is the same, name it \
                 with --hasher {store}"
            ),
            (None, Some(load)) => bail!(
                "these fingerprints were made by {load}; what made the store's is not known (it was created without \
                 --hasher)"
            ),
            _ => Ok(()),
        }
    }
}
