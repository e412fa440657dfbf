//! A loser tree: finds the next of n sorted sources with log2(n) comparisons (Knuth, The Art of Computer Programming,
//! volume 3, section 5.4.1).

/// The order of sources by their next items, which the caller has. Sources are compared by number.
#[derive(Debug, Default)]
pub(crate) struct Losers {
    winner: usize,
    /// For each inner node of a binary tree with the sources as leaves, the source that lost the match there; the first
    /// entry is unused. Node `n` stands above nodes `2n` and `2n + 1`, and leaf `source` is node `source + len`.
    losers: Vec<usize>,
}

impl Losers {
    /// Orders at least one source. `before(a, b)`: whether `a` comes before `b`.
    pub(crate) fn new(sources: usize, before: impl Fn(usize, usize) -> bool) -> Self {
        let (mut losers, mut winners) = (vec![0; sources], vec![0; sources]);
        winners.extend(0..sources);
        for node in (1..sources).rev() {
            let pair = (winners.get(2 * node).copied(), winners.get(2 * node + 1).copied());
            let (Some(left), Some(right)) = pair else { continue };
            let (winner, loser) = if before(left, right) { (left, right) } else { (right, left) };
            set(&mut winners, node, winner);
            set(&mut losers, node, loser);
        }
        let winner = if sources > 1 { winners.get(1).copied().unwrap_or(0) } else { 0 };
        Self { winner, losers }
    }

    pub(crate) fn winner(&self) -> usize {
        self.winner
    }

    /// The sources that lost to the winner directly, with the second source among them.
    pub(crate) fn rivals(&self) -> impl Iterator<Item = usize> {
        let first = (self.winner + self.losers.len()) / 2;
        let path = std::iter::successors(Some(first), |node| Some(node / 2)).take_while(|&node| node > 0);
        path.filter_map(|node| self.losers.get(node).copied())
    }

    /// Restores the order after the winner has moved on.
    pub(crate) fn replay(&mut self, before: impl Fn(usize, usize) -> bool) {
        let mut node = (self.winner + self.losers.len()) / 2;
        while node > 0 {
            if let Some(loser) = self.losers.get_mut(node)
                && before(*loser, self.winner)
            {
                std::mem::swap(loser, &mut self.winner);
            }
            node /= 2;
        }
    }
}

fn set(places: &mut [usize], at: usize, value: usize) {
    if let Some(place) = places.get_mut(at) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn any_number_of_sources_comes_in_order_with_few_comparisons() {
        for sources in 1..70usize {
            let mut queues: Vec<Vec<usize>> = (0..sources).map(|_| Vec::new()).collect();
            for value in (0..400usize).rev() {
                queues[value * 31 % 97 % sources].push(value);
            }
            let compared = Cell::new(0);
            let mut found = Vec::new();
            let before = |queues: &[Vec<usize>], a: usize, b: usize| {
                compared.set(compared.get() + 1);
                let key = |source: usize| (queues[source].last().is_none(), queues[source].last().copied(), source);
                key(a) < key(b)
            };
            let mut tree = Losers::new(sources, |a, b| before(&queues, a, b));
            while let Some(value) = queues[tree.winner()].pop() {
                let second = tree.rivals().filter_map(|rival| queues[rival].last()).min();
                let others = queues.iter().enumerate().filter(|&(source, _)| source != tree.winner());
                assert_eq!(second, others.filter_map(|(_, queue)| queue.last()).min());
                found.push(value);
                tree.replay(|a, b| before(&queues, a, b));
            }
            assert_eq!(found, (0..400).collect::<Vec<_>>());
            let depth = sources.next_power_of_two().ilog2() as usize;
            assert!(compared.get() <= sources + 400 * depth, "{sources}: {}", compared.get());
        }
    }
}
