//! Finds the simhash that an identity recorded beside fingerprints describes.

use super::{Simhash, SimhashPreset};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::weights::Weights;

impl Simhash {
    /// Returns the simhash that an identity describes, and whether its weights are a table. The identity contains only
    /// a checksum of a table; the caller adds the table ([`Simhash::with_weights`]) and compares the identities.
    ///
    /// ```
    /// use fpsketch::{Simhash, SimhashPreset};
    /// let simhash = Simhash::new(SimhashPreset::Native).with_width(128)?;
    /// assert_eq!(Simhash::from_identity(&simhash.identity())?, (simhash, false));
    /// # Ok::<(), fpsketch::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is no identity of a simhash, or of one that this version does not make.
    pub fn from_identity(identity: &str) -> Result<(Self, bool)> {
        let unknown = || Error::new(format!("'{identity}' describes no simhash that this program makes"));
        let (preset, rest) =
            identity.strip_prefix("simhash/").and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
        let (version, parameters) = rest.split_once(',').ok_or_else(unknown)?;
        let preset: SimhashPreset = preset.parse()?;
        if version != preset.version() {
            return Err(Error::new(format!(
                "{preset}/{version} is of another version of this program, which makes {preset}/{}: fingerprints of \
                 the two must not be mixed",
                preset.version()
            )));
        }
        let (mut simhash, mut has_table) = (Self::new(preset), false);
        for parameter in parameters.split(',') {
            let (name, value) = parameter.split_once('=').ok_or_else(unknown)?;
            simhash = match (name, value) {
                ("width", _) => simhash.with_width(value.parse().map_err(|_| unknown())?)?,
                ("features", "given") => simhash.prepared(|now| now.with_features(Features::Given))?,
                ("features", _) => {
                    let features = value.parse()?;
                    simhash.prepared(|now| now.with_features(features))?
                }
                ("weights", "count") => simhash.with_weights(Weights::Count)?,
                ("weights", "distinct") => simhash.with_weights(Weights::Distinct)?,
                ("weights", _) if value.starts_with("table:") => {
                    has_table = true;
                    // With a list of stop words a feature still counts each time it occurs.
                    simhash.with_weights(Weights::Count)?
                }
                ("normalise", _) => {
                    let normalise = value.parse()?;
                    simhash.prepared(|now| now.with_normalise(normalise))?
                }
                _ => return Err(unknown()),
            };
        }
        // No parameter is missing or given twice.
        if !has_table && simhash.identity() != identity {
            return Err(unknown());
        }
        Ok((simhash, has_table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::{Normalise, Step};
    use proptest::prelude::*;

    fn features() -> impl Strategy<Value = Features> {
        prop_oneof![
            (1_usize..9).prop_map(Features::Chars),
            (2_usize..9).prop_map(Features::Words),
            (1_usize..9).prop_map(Features::Unicode),
            Just(Features::Tokens),
            Just(Features::Given),
        ]
    }

    proptest! {
        #[test]
        fn there_and_back(
            preset in 0..SimhashPreset::ALL.len(), width in 1_u32..=128, features in features(), distinct: bool,
            steps in prop::sample::subsequence(vec![Step::Markup, Step::Nfkc, Step::Lower], 0..=3),
        ) {
            let mut simhash = Simhash::new(SimhashPreset::ALL[preset]);
            simhash = simhash.clone().with_width(width).unwrap_or(simhash);
            if simhash.preset() != SimhashPreset::Bkdr {
                let weights = if distinct { Weights::Distinct } else { Weights::Count };
                simhash = simhash.prepared(|now| now.with_features(features)).unwrap().with_weights(weights).unwrap();
            }
            simhash = simhash.prepared(|now| now.with_normalise(Normalise::new(&steps))).unwrap();
            prop_assert_eq!(Simhash::from_identity(&simhash.identity()), Ok((simhash, false)));
        }

        #[test]
        fn anything_else_is_an_error(text in "(simhash/)?(native|bkdr|x)?/?(1|2)?,?(width=64)?,?[a-z=:,]{0,20}") {
            if let Ok((simhash, has_table)) = Simhash::from_identity(&text) {
                prop_assert!(has_table || simhash.identity() == text);
            }
        }
    }

    #[test]
    fn a_table_is_named_but_not_there() {
        let mut table = crate::Table::new(1.0);
        table.set("a", 3.0);
        let plain = Simhash::new(SimhashPreset::Native);
        let weighed = plain.with_weights(Weights::Table(table.into())).unwrap();
        let (without, has_table) = Simhash::from_identity(&weighed.identity()).unwrap();
        assert!(has_table && without.identity() != weighed.identity());
        assert_eq!(without.with_weights(weighed.weights().clone()), Ok(weighed));
    }

    #[test]
    fn what_is_refused() {
        let native = Simhash::new(SimhashPreset::Native).identity();
        let version = SimhashPreset::Native.version();
        let other = native.replace(&format!("native/{version},"), "native/0,");
        for (identity, part) in [
            ("", "describes no simhash"),
            ("pdq", "describes no simhash"),
            ("minhash/native/1,num_perm=128", "describes no simhash"),
            ("simhash/my/1,width=64", "'my' is not a preset"),
            (&native.replace(",normalise=lower", ""), "describes no simhash"),
            (&format!("{native},more=1"), "describes no simhash"),
            (&native.replace("width=64", "width=65"), "65 bits"),
            (&other, "another version"),
        ] {
            let error = Simhash::from_identity(identity).unwrap_err().to_string();
            assert!(error.contains(part), "{identity}: {error}");
        }
    }
}
