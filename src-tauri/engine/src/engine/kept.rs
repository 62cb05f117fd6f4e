//! What was made of documents, kept for those who look at them again, within a number of bytes.

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use hashlink::LruCache;

/// Values by key. Where they get too large together, the one that was not asked for longest goes first.
pub(super) struct Kept<K, V> {
    most_bytes: usize,
    size: fn(&V) -> usize,
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    bytes: usize,
    values: LruCache<K, V>,
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    /// Keeps `most_bytes` at most, by what `size` says of a value.
    pub(super) fn within(most_bytes: usize, size: fn(&V) -> usize) -> Self {
        Self {
            most_bytes,
            size,
            held: Mutex::new(Held {
                bytes: 0,
                values: LruCache::new_unbounded(),
            }),
        }
    }

    pub(super) fn look_up(&self, key: &K) -> Option<V> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.values.get(key).cloned()
    }

    pub(super) fn keep(&self, key: K, value: V) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.bytes += (self.size)(&value);
        if let Some(before) = held.values.insert(key, value) {
            held.bytes -= (self.size)(&before);
        }
        while held.bytes > self.most_bytes {
            let Some((_, oldest)) = held.values.remove_lru() else {
                break;
            };
            held.bytes -= (self.size)(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for thirty bytes.
    fn kept() -> Kept<u32, String> {
        Kept::within(30, String::len)
    }

    #[test]
    fn the_one_that_nobody_looked_at_goes_first() {
        let kept = kept();
        let large = || "x".repeat(12);
        kept.keep(1, large());
        kept.keep(2, large());
        assert!(kept.look_up(&1).is_some());
        kept.keep(3, large());
        assert!(kept.look_up(&2).is_none(), "nobody looked at it");
        assert!(kept.look_up(&1).is_some());
        assert!(kept.look_up(&3).is_some());
    }

    #[test]
    fn what_is_made_anew_counts_once() {
        let kept = kept();
        kept.keep(1, "kept".to_owned());
        for _ in 0..10 {
            kept.keep(2, "x".repeat(15));
        }
        assert_eq!(kept.look_up(&1).as_deref(), Some("kept"));
    }
}
