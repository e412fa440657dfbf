//! Steps that prepare a text before it is split. Each is optional, and their order does not depend on the order in
//! which they are named.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use unicode_normalization::{UnicodeNormalization, is_nfkc};

use crate::document::Document;
use crate::error::{Error, Result};

/// A step, listed in the order in which the steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Replaces tags and comments of HTML by spaces and character references by their characters, and removes the
    /// content of `script` and `style`, by the parsing rules of HTML5.
    Markup,
    /// Compatibility composition of Unicode (NFKC): full-width letters become ordinary ones, accents combine with their
    /// letters.
    Nfkc,
    /// Lower case of Unicode.
    Lower,
}

const STEPS: [(Step, &str); 3] = [(Step::Markup, "markup"), (Step::Nfkc, "nfkc"), (Step::Lower, "lower")];

/// The steps to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Normalise(Vec<Step>);

impl Normalise {
    /// Returns these steps, each once.
    #[must_use]
    pub fn new(steps: &[Step]) -> Self {
        let mut steps = steps.to_vec();
        steps.sort_unstable();
        steps.dedup();
        Self(steps)
    }

    /// Whether there are no steps.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `then` with the document after all steps. Ready-made tokens stay as they are.
    pub fn with<T>(&self, document: Document<'_>, then: impl FnOnce(Document<'_>) -> T) -> T {
        match document {
            Document::Text(text) => then(Document::Text(&self.apply(text))),
            Document::Tokens(_) => then(document),
        }
    }

    /// Returns the text after all steps.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, step| match step {
            Step::Markup => Cow::Owned(without_markup(&text)),
            Step::Nfkc if is_nfkc(&text) => text,
            Step::Nfkc => Cow::Owned(text.nfkc().collect()),
            Step::Lower => Cow::Owned(lower(&text)),
        })
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = STEPS.iter().filter(|(step, _)| self.0.contains(step)).map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "none".to_owned() } else { names.join("+") }.as_str())
    }
}

impl FromStr for Normalise {
    type Err = Error;

    /// Parses names separated by commas or `+`, or `none`.
    fn from_str(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(Self::default());
        }
        let step = |name: &str| STEPS.iter().find(|(_, known)| *known == name).map(|(step, _)| *step);
        let steps = text.split([',', '+']).map(|name| {
            step(name).ok_or_else(|| {
                Error::new(format!("'{name}' is not a step; the steps are markup, nfkc, lower and none"))
            })
        });
        Ok(Self::new(&steps.collect::<Result<Vec<Step>>>()?))
    }
}

/// Returns the text in lower case, as `str::to_lowercase` does. ASCII is converted in runs; only a capital sigma
/// depends on its neighbours.
pub(crate) fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    if text.contains('Σ') {
        return text.to_lowercase();
    }
    let mut lower = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, others) = rest.split_at(ascii_length(rest.as_bytes()));
        let start = lower.len();
        lower.push_str(ascii);
        if let Some(ascii) = lower.get_mut(start..) {
            ascii.make_ascii_lowercase();
        }
        let length = others.bytes().position(|byte| byte.is_ascii()).unwrap_or(others.len());
        let (others, left) = others.split_at(length);
        for c in others.chars() {
            match c {
                // Punctuation, and scripts without case: most characters.
                '\u{2010}'..='\u{2027}' | '\u{620}'..='\u{6ff}' | '\u{3000}'..='\u{9fff}' => lower.push(c),
                _ => lower.extend(c.to_lowercase()),
            }
        }
        rest = left;
    }
    lower
}

/// Returns the number of ASCII bytes at the start.
pub(crate) fn ascii_length(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<32>();
    let whole = 32 * chunks.iter().take_while(|chunk| chunk.is_ascii()).count();
    let rest = bytes.get(whole..).unwrap_or_default();
    whole + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// Returns the text of an HTML document. Every tag and comment becomes a space, so the words beside it stay separate.
fn without_markup(html: &str) -> String {
    let mut emitter = DefaultEmitter::default();
    // The content of a script is text up to its end tag, whatever it contains.
    emitter.naively_switch_states(true);
    let mut text = String::with_capacity(html.len());
    let mut hidden = false;
    for token in Tokenizer::new_with_emitter(html, emitter).flatten() {
        match token {
            Token::String(part) if !hidden => text.push_str(&String::from_utf8_lossy(&part)),
            Token::StartTag(tag) => {
                text.push(' ');
                // A slash at the end of these tags has no meaning.
                hidden = matches!(&**tag.name, b"script" | b"style");
            }
            Token::EndTag(_) => {
                text.push(' ');
                hidden = false;
            }
            Token::Comment(_) => text.push(' '),
            Token::String(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(steps: &str, text: &str) -> String {
        steps.parse::<Normalise>().unwrap().apply(text).into_owned()
    }

    #[test]
    fn steps_do_what_they_say() {
        assert_eq!(apply("none", "<B>ﬁ"), "<B>ﬁ");
        assert_eq!(apply("lower", "ÀΣ İ"), "àς i\u{307}");
        assert_eq!(apply("nfkc", "ﬁ Ａ e\u{301}"), "fi A \u{e9}");
        assert_eq!(apply("markup", "a<b>c</b>&amp;&eacute;<!-- x -->d"), "a c &é d");
        assert_eq!(apply("markup", "<p>a<script>var x = '<p>';</script>b<style>p{}</style>c"), " a  b  c");
        assert_eq!(apply("markup", "a<script src='x'/>var y</script>b"), "a  b");
        assert_eq!(apply("markup", "1 < 2, <unclosed"), "1 < 2, ");
        assert_eq!(apply("lower,markup,nfkc", "<P>&#xFF21;</P>"), " a ");
    }

    proptest! {
        #[test]
        fn lower_case_is_that_of_the_standard_library(text in "[A-Ca ΣÉİß狐Ⅷ]{0,20}", any in "\\PC{0,30}") {
            for text in [text, any] {
                prop_assert_eq!(lower(&text), text.to_lowercase());
            }
        }
    }

    #[test]
    fn names_have_one_order() {
        for text in ["lower,markup", "markup+lower", "lower,lower,markup"] {
            assert_eq!(text.parse::<Normalise>().unwrap().to_string(), "markup+lower");
        }
        assert_eq!("none".parse::<Normalise>().unwrap().to_string(), "none");
        assert!("upper".parse::<Normalise>().unwrap_err().to_string().contains("'upper' is not a step"));
    }
}
