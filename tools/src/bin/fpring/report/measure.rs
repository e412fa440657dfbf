//! Measures balance, monotonicity, spread and load of a placement, as Karger and others define them (STOC 1997).

use fpring::{Hash, Node};
use fpstore_tools::number::float;
use rayon::prelude::*;
use serde::Serialize;

use super::placement::{Key, Placement, Placer};
use super::views::views;

/// Keys of a task.
const KEYS: u64 = 1 << 14;

/// The nodes, keys and views of a report.
pub(super) struct Question<'a> {
    pub(super) hash: Hash,
    pub(super) nodes: &'a [Node],
    pub(super) keys: u64,
    pub(super) views: u32,
    pub(super) seed: u64,
}

/// The measurements of a placement.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) placement: &'static str,
    #[serde(rename = "virtual")]
    pub(super) virtual_nodes: Option<u32>,
    pub(super) balance: Balance,
    pub(super) monotonicity: Monotonicity,
    pub(super) spread: Spread,
    pub(super) load: Load,
}

/// Loads of nodes, as parts of the shares that their weights promise.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Balance {
    /// Standard deviation.
    pub(super) deviation: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// Standard deviation of exact shares; of rings.
    pub(super) exact_deviation: Option<f64>,
}

/// Shares of keys that move.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Monotonicity {
    pub(super) joins: Change,
    /// `None` of a single node.
    pub(super) leaves: Option<Change>,
    /// Of all pairs of a key and a client that knows the key's node: the share that the client places elsewhere.
    pub(super) broken: f64,
}

/// The share of keys that moves when a node joins or leaves.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Change {
    pub(super) moved: f64,
    pub(super) ideal: f64,
    /// The share that moves between other nodes.
    pub(super) between_others: f64,
}

/// Numbers of different nodes that clients place a key on.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) most: u64,
}

/// Numbers of different keys that clients place on a node, as parts of the share that its weight promises.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Load {
    pub(super) mean: f64,
    pub(super) most: f64,
}

/// Counts over keys.
#[derive(Clone, Default)]
struct Counts {
    /// Of each node: its keys, and its keys of any client.
    keys: Vec<u64>,
    any: Vec<u64>,
    joined: [u64; 2],
    left: [u64; 2],
    /// Pairs of a key and a client that knows its node; those that are placed elsewhere.
    known: u64,
    broken: u64,
    spread: u64,
    most_spread: u64,
}

impl Counts {
    fn of(nodes: usize) -> Self {
        Self { keys: vec![0; nodes], any: vec![0; nodes], ..Self::default() }
    }

    fn add(mut self, other: &Self) -> Self {
        let sum = |all: &mut [u64], more: &[u64]| all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        sum(&mut self.keys, &other.keys);
        sum(&mut self.any, &other.any);
        sum(&mut self.joined, &other.joined);
        sum(&mut self.left, &other.left);
        self.known += other.known;
        self.broken += other.broken;
        self.spread += other.spread;
        self.most_spread = self.most_spread.max(other.most_spread);
        self
    }
}

/// The placers of all measurements.
struct Placers {
    all: Placer,
    joined: Placer,
    /// The ring without the node of this number.
    left: Option<(Placer, u32)>,
    /// For each client, with a mark for each node that it knows.
    clients: Vec<(Placer, Vec<bool>)>,
    joining: u32,
}

/// Measures a placement.
pub(super) fn measure(question: &Question<'_>, placement: Placement) -> fpring::Result<Row> {
    let placers = placers(question, placement)?;
    let number = question.nodes.len();
    let task = |task: u64| {
        let mut counts = Counts::of(number);
        let mut seen = Vec::new();
        for id in task * KEYS..question.keys.min((task + 1) * KEYS) {
            count(&placers, Key::of(id, question.hash), &mut seen, &mut counts);
        }
        counts
    };
    let tasks = (0..question.keys.div_ceil(KEYS)).into_par_iter();
    let counts = tasks.map(task).reduce(|| Counts::of(number), |all, more| all.add(&more));
    Ok(row(question, placement, &placers, &counts))
}

fn placers(question: &Question<'_>, placement: Placement) -> fpring::Result<Placers> {
    let number = u32::try_from(question.nodes.len()).unwrap_or(u32::MAX);
    let mut nodes = question.nodes.to_vec();
    nodes.push(joining(question.nodes)?);
    let placer = |numbers: Vec<u32>| Placer::new(placement, question.hash, &nodes, numbers);
    let middle = number / 2;
    let left = if number > 1 { Some(placer((0..number).filter(|node| *node != middle).collect())?) } else { None };
    let client = |view: Vec<u32>| {
        let mut knows = vec![false; question.nodes.len()];
        knows.iter_mut().zip(0..).for_each(|(knows, node)| *knows = view.contains(&node));
        Ok((placer(view)?, knows))
    };
    Ok(Placers {
        all: placer((0..number).collect())?,
        joined: placer((0..=number).collect())?,
        left: left.map(|placer| (placer, middle)),
        clients: views(number, question.views, question.seed).into_iter().map(client).collect::<fpring::Result<_>>()?,
        joining: number,
    })
}

/// The node that joins: of mean weight, with a name that no other has.
fn joining(nodes: &[Node]) -> fpring::Result<Node> {
    let is_free = |name: &String| !nodes.iter().any(|node| node.name() == name);
    let name = (0..).map(|number| format!("joining-{number}")).find(is_free).unwrap_or_default();
    Node::new(name)?.with_weight(weight(nodes) / float(nodes.len() as u64))
}

fn weight(nodes: &[Node]) -> f64 {
    nodes.iter().map(Node::weight).sum()
}

fn count(placers: &Placers, key: Key, seen: &mut Vec<u32>, counts: &mut Counts) {
    let one = |counts: &mut [u64], node: u32| counts.get_mut(node as usize).into_iter().for_each(|count| *count += 1);
    let own = placers.all.node(key);
    one(&mut counts.keys, own);
    let moves = |to: u32, is_due: bool| [u64::from(to != own), u64::from(to != own && !is_due)];
    let mut change = |sums: fn(&mut Counts) -> &mut [u64; 2], [moved, between]: [u64; 2]| {
        let [all_moved, all_between] = sums(counts);
        *all_moved += moved;
        *all_between += between;
    };
    let to = placers.joined.node(key);
    change(|counts| &mut counts.joined, moves(to, to == placers.joining));
    if let Some((placer, gone)) = &placers.left {
        change(|counts| &mut counts.left, moves(placer.node(key), own == *gone));
    }
    seen.clear();
    for (placer, knows) in &placers.clients {
        let node = placer.node(key);
        if knows.get(own as usize) == Some(&true) {
            counts.known += 1;
            counts.broken += u64::from(node != own);
        }
        if !seen.contains(&node) {
            seen.push(node);
            one(&mut counts.any, node);
        }
    }
    counts.spread += seen.len() as u64;
    counts.most_spread = counts.most_spread.max(seen.len() as u64);
}

fn row(question: &Question<'_>, placement: Placement, placers: &Placers, counts: &Counts) -> Row {
    let keys = float(question.keys);
    let all = weight(question.nodes);
    let promised = |node: &Node| node.weight() / all;
    let parts = |counts: &[u64]| -> Vec<f64> {
        counts.iter().zip(question.nodes).map(|(count, node)| float(*count) / (keys * promised(node))).collect()
    };
    let (loads, any) = (parts(&counts.keys), parts(&counts.any));
    let exact = placers.all.shares().map(|shares| {
        let parts: Vec<f64> = shares.iter().zip(question.nodes).map(|(share, node)| share / promised(node)).collect();
        deviation(&parts)
    });
    let change = |[moved, between]: [u64; 2], ideal| Change {
        moved: float(moved) / keys,
        ideal,
        between_others: float(between) / keys,
    };
    let gone = placers.left.as_ref().and_then(|(_, gone)| question.nodes.get(*gone as usize));
    Row {
        placement: placement.name(),
        virtual_nodes: placement.virtual_nodes(),
        balance: Balance {
            deviation: deviation(&loads),
            least: loads.iter().copied().fold(f64::INFINITY, f64::min),
            most: loads.iter().copied().fold(0.0, f64::max),
            exact_deviation: exact,
        },
        monotonicity: Monotonicity {
            joins: change(counts.joined, 1.0 / float(question.nodes.len() as u64 + 1)),
            leaves: gone.map(|gone| change(counts.left, promised(gone))),
            broken: float(counts.broken) / float(counts.known.max(1)),
        },
        spread: Spread { mean: float(counts.spread) / keys, most: counts.most_spread },
        load: Load {
            mean: any.iter().sum::<f64>() / float(any.len() as u64),
            most: any.iter().copied().fold(0.0, f64::max),
        },
    }
}

/// The standard deviation from 1, where the values have their mean if all weights are equal.
fn deviation(parts: &[f64]) -> f64 {
    (parts.iter().map(|part| (part - 1.0).powi(2)).sum::<f64>() / float(parts.len() as u64)).sqrt()
}
