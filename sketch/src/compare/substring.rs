//! The longest common substring, by a suffix automaton: time and memory grow with the lengths, not with their product.
//!
//! The automaton of one text accepts every substring of that text (Blumer and others, "The smallest automaton
//! recognizing the subwords of a text", 1985). The other text is fed to it; on a mismatch, the current match is
//! shortened from the front.

use std::collections::HashMap;

/// A state: the set of substrings that end at the same positions.
#[derive(Clone, Debug, Default)]
struct State {
    next: HashMap<char, usize>,
    /// The state of the longest suffix that ends at more positions.
    link: Option<usize>,
    /// Length of the state's longest substring.
    length: usize,
}

/// Returns the length in characters of the longest substring that both texts contain.
#[must_use]
pub fn longest_common_substring(a: &str, b: &str) -> usize {
    let (shorter, longer) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let states = automaton(shorter);
    let get = |state: usize, c: char| states.get(state).and_then(|state| state.next.get(&c)).copied();
    let (mut state, mut length, mut longest) = (0, 0, 0);
    for c in longer.chars() {
        loop {
            if let Some(next) = get(state, c) {
                (state, length) = (next, length + 1);
                break;
            }
            let Some(link) = states.get(state).and_then(|state| state.link) else { break };
            state = link;
            length = states.get(link).map_or(0, |state| state.length);
        }
        longest = longest.max(length);
    }
    longest
}

#[allow(clippy::indexing_slicing, reason = "states are made here and never go away")]
fn automaton(text: &str) -> Vec<State> {
    let mut states = vec![State::default()];
    let mut last = 0;
    for c in text.chars() {
        let new = states.len();
        states.push(State { length: states[last].length + 1, ..State::default() });
        let mut from = Some(last);
        while let Some(state) = from.filter(|state| !states[*state].next.contains_key(&c)) {
            states[state].next.insert(c, new);
            from = states[state].link;
        }
        states[new].link = Some(match from {
            None => 0,
            Some(state) => split(&mut states, state, c),
        });
        last = new;
    }
    states
}

/// Returns the state that `c` leads to from `state`, or a copy of it that holds only its longest possible substrings.
#[allow(clippy::indexing_slicing, reason = "states are made here and never go away")]
fn split(states: &mut Vec<State>, state: usize, c: char) -> usize {
    let target = states[state].next[&c];
    let length = states[state].length + 1;
    if states[target].length == length {
        return target;
    }
    let copy = states.len();
    states.push(State { length, ..states[target].clone() });
    let mut from = Some(state);
    while let Some(state) = from.filter(|state| states[*state].next.get(&c) == Some(&target)) {
        states[state].next.insert(c, copy);
        from = states[state].link;
    }
    states[target].link = Some(copy);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plainly(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let from = |i: usize, j: usize| a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
        (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j))).map(|(i, j)| from(i, j)).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn as_by_comparing_everything(a in "[abé]{0,25}", b in "[abé]{0,25}") {
            prop_assert_eq!(longest_common_substring(&a, &b), plainly(&a, &b));
        }
    }
}
