//! Reads enough Rust source to find the modules it names: removes comments and literals, then parses paths.

/// A word or a sign of the source, with its line counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// The words and signs of a source, without comments, documentation, strings and characters. `::` is one sign.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        let start = i;
        match (at(i), at(i + 1)) {
            ('/', '/') => i = line_end(&chars, i),
            ('/', '*') => i = comment_end(&chars, i),
            ('"', _) => i = string_end(&chars, i),
            ('\'', _) => i = character_end(&chars, i),
            (c, _) if is_word(c) => {
                while is_word(at(i)) {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                match (word.as_str(), at(i)) {
                    ("r" | "br" | "cr", '"' | '#') if raw_string_end(&chars, i).is_some() => {
                        i = raw_string_end(&chars, i).unwrap_or(i);
                    }
                    // r#word: the word follows.
                    ("r", '#') => i += 1,
                    ("b" | "c", '"') | ("b", '\'') => {}
                    _ => found.push(Token { text: word, line }),
                }
            }
            (':', ':') => {
                found.push(Token { text: "::".to_owned(), line });
                i += 2;
            }
            (c, _) => {
                if !c.is_whitespace() {
                    found.push(Token { text: c.to_string(), line });
                }
                i += 1;
            }
        }
        line += chars[start..i].iter().filter(|&&c| c == '\n').count();
    }
    found
}

/// A module named by a source: the first module below the crate's root, or `""` for the root itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    pub(super) module: String,
    pub(super) line: usize,
}

/// The crate's modules that the source of `module` (its path below the root; empty for `lib.rs`) names through `crate`,
/// `self` or `super`, inline modules included. `is_module` distinguishes the modules below the root from its other
/// items; naming such an item is a use of the root.
pub(super) fn uses(source: &str, module: &[&str], is_module: &dyn Fn(&str) -> bool) -> Vec<Use> {
    let tokens = tokens(source);
    let text = |i: usize| tokens.get(i).map_or("", |token| token.text.as_str());
    let mut here: Vec<String> = module.iter().map(|&name| name.to_owned()).collect();
    // The depths of braces at which the current inline modules were opened.
    let mut opened = Vec::new();
    let mut depth = 0;
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if opened.last() == Some(&depth) {
                    opened.pop();
                    here.pop();
                }
            }
            "mod" if text(i + 2) == "{" => {
                here.push(text(i + 1).to_owned());
                opened.push(depth);
            }
            // An exported macro names items through the root; the module does not use the root by that.
            "crate" if i > 0 && text(i - 1) == "$" && !is_module(text(i + 2)) => {}
            "crate" | "self" | "super" if i == 0 || text(i - 1) != "::" => {
                let base = if token.text == "crate" { &[] } else { here.as_slice() };
                let mut tree = Tree { tokens: &tokens, is_module, line: token.line, found: &mut found };
                tree.path(i, base.to_vec());
            }
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

/// One path or one tree of `use`, followed until every branch has reached a module below the root.
struct Tree<'a> {
    tokens: &'a [Token],
    is_module: &'a dyn Fn(&str) -> bool,
    line: usize,
    found: &'a mut Vec<Use>,
}

impl Tree<'_> {
    fn text(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |token| token.text.as_str())
    }

    /// Follows `crate::..`, `self::..`, `super::super::..` from `i` on, in the module `base`.
    fn path(&mut self, mut i: usize, mut base: Vec<String>) {
        loop {
            if self.text(i) == "super" {
                base.pop();
            }
            match (self.text(i + 1), self.text(i + 2)) {
                ("::", "super" | "self") => i += 2,
                ("::", _) => return self.branch(i + 2, &base),
                // `use super as name` renames the whole module; otherwise it is `pub(super)`, `&self`, `self.x`.
                ("as", _) => return self.note(base.first().map_or("", |name| name)),
                _ => return,
            }
        }
    }

    /// The part after a `::` at `i`: a name, a group, or a wildcard.
    fn branch(&mut self, i: usize, base: &[String]) {
        if let Some(name) = base.first() {
            return self.note(name);
        }
        if self.text(i) != "{" {
            let name = self.text(i).to_owned();
            let module = if (self.is_module)(&name) { name.as_str() } else { "" };
            return self.note(module);
        }
        // A group at the root: each of its branches, up to the comma, names an item.
        let (mut i, mut depth) = (i + 1, 0);
        let mut begins = true;
        while depth > 0 || self.text(i) != "}" {
            if i >= self.tokens.len() {
                return;
            }
            if begins {
                self.branch(i, base);
            }
            begins = depth == 0 && self.text(i) == ",";
            match self.text(i) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            i += 1;
            begins &= self.text(i) != "}";
        }
    }

    fn note(&mut self, module: &str) {
        self.found.push(Use { module: module.to_owned(), line: self.line });
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn line_end(chars: &[char], start: usize) -> usize {
    chars[start..].iter().position(|&c| c == '\n').map_or(chars.len(), |n| start + n)
}

/// Block comments nest.
fn comment_end(chars: &[char], start: usize) -> usize {
    let (mut i, mut depth) = (start, 0);
    while i < chars.len() {
        match chars[i..] {
            ['/', '*', ..] => (depth, i) = (depth + 1, i + 2),
            ['*', '/', ..] => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    i
}

fn string_end(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// The end of a raw string whose `#`s or quote begin at `start`, if it is one.
fn raw_string_end(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start..].iter().take_while(|&&c| c == '#').count();
    if chars.get(start + hashes) != Some(&'"') {
        return None;
    }
    let closes = |i: &usize| chars[*i] == '"' && chars[i + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    (start + hashes + 1..chars.len()).find(closes).map(|i| i + 1 + hashes)
}

/// The end of a character, or of the quote of a lifetime.
fn character_end(chars: &[char], start: usize) -> usize {
    match chars[start + 1..] {
        ['\\', _, ref rest @ ..] => start + 3 + rest.iter().position(|&c| c == '\'').map_or(0, |n| n + 1),
        [_, '\'', ..] => start + 3,
        _ => start + 1,
    }
}
