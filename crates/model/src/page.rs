//! Keyset pages: what a list returns and how the next part is asked for.

/// How many rows a list may return at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u32);

impl Limit {
    pub const MAX: u32 = 1000;
    pub const DEFAULT: Limit = Limit(100);
    pub const LARGEST: Limit = Limit(Limit::MAX);
    /// `None` when out of range.
    pub const fn new(n: u32) -> Option<Limit> {
        if n >= 1 && n <= Limit::MAX { Some(Limit(n)) } else { None }
    }
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A part of a list, in key order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Key of the last item, when there is more after it.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page from up to `limit + 1` rows: the extra row only says that there is more.
    pub fn from_rows(mut rows: Vec<T>, limit: Limit, key: impl Fn(&T) -> String) -> Page<T> {
        let limit = limit.get() as usize;
        let next = if rows.len() > limit {
            rows.truncate(limit);
            rows.last().map(&key)
        } else {
            None
        };
        Page { items: rows, next }
    }

    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), next: self.next }
    }
}
