//! Records that are not among others.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Record};
use std::cmp::Ordering;
use std::iter::Peekable;

/// Those of some records that are not among others; both in order.
pub(crate) struct Others<A: Iterator, B: Iterator> {
    records: A,
    others: Peekable<B>,
}

impl<A: Iterator, B: Iterator> Others<A, B> {
    pub(crate) fn new(records: A, others: B) -> Self {
        Self { records, others: others.peekable() }
    }
}

impl<F, A, B> Iterator for Others<A, B>
where
    F: Fingerprint,
    A: Iterator<Item = Result<Record<F>>>,
    B: Iterator<Item = Result<Record<F>>>,
{
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        'records: loop {
            let record = match self.records.next()? {
                Ok(record) => record,
                error => return Some(error),
            };
            loop {
                let order = match self.others.peek() {
                    Some(Ok(other)) => (other.fingerprint, &other.id).cmp(&(record.fingerprint, &record.id)),
                    Some(Err(_)) => return self.others.next(),
                    None => Ordering::Greater,
                };
                match order {
                    Ordering::Less => drop(self.others.next()),
                    Ordering::Equal => continue 'records,
                    Ordering::Greater => return Some(Ok(record)),
                }
            }
        }
    }
}
