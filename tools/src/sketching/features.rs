//! Options that split a document into features.

use fpsketch::{Features, Normalise, Preparation};

/// Options that determine how a document is split into features.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FeatureOptions {
    /// Features: chars:N (N characters in a row), words:N (N white-space tokens in a row), tokens, unicode:N (N words
    /// of Unicode's Annex 29 in a row), jieba:N (words of Chinese text), datatrove:N (words of
    /// English text as datatrove simplifies and splits it) [default: the preset's]
    #[arg(long, value_name = "KIND", help_heading = "Sketch options")]
    pub features: Option<Features>,

    /// Steps that prepare the text: markup (removes HTML tags), nfkc, lower, with commas between them, or none
    /// [default: the preset's]
    #[arg(long, visible_alias = "normalize", value_name = "STEPS", help_heading = "Sketch options")]
    pub normalise: Option<Normalise>,
}

impl FeatureOptions {
    /// Applies these options to a preparation; `given` means that the documents are ready-made tokens.
    #[must_use]
    pub fn change(&self, mut now: Preparation, given: bool) -> Preparation {
        if given {
            return now.with_given_tokens();
        }
        if let Some(features) = self.features {
            now = now.with_features(features);
        }
        if let Some(normalise) = &self.normalise {
            now = now.with_normalise(normalise.clone());
        }
        now
    }
}
