//! Lists with filters: pages are read until one is full.
//!
//! A filter ([`hostler_model::filter`]) is asked of items as they are answered, after everything was left out or
//! hidden that the caller may not see, so it tells nobody more than the list without it. The database knows
//! nothing of it: pages are read and looked through, small ones first, until as many items hold as were
//! asked for, or [`LOOK_MAX`] rows were looked at. Then the answer has the key of the last row that was looked
//! at, and the next page goes on from there; it can be empty and not the last.
//!
//! Only whole pages have a key. Where one has more than fits, as much of it as fits is read again.

use hostler_api::{Endpoint, Listing, Paged};
use hostler_model::filter::{Fields, Filter};
use hostler_model::{Diagnostic, Error, Limit, Page};
use serde::Serialize;

use super::error::malformed;
use super::page;

/// Rows that one request looks at with a filter.
pub(crate) const LOOK_MAX: u32 = 10_000;

/// The next page to be read.
pub(crate) struct Ask {
    after: Option<String>,
    pub(crate) limit: Limit,
}

impl Ask {
    pub(crate) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Of a list whose keys are numbers.
    pub(crate) fn number(&self) -> Option<u64> {
        self.after()?.parse().ok()
    }
}

/// A list while it is read.
pub(crate) struct Gather<V> {
    filter: Option<Filter>,
    /// Whether items are left out, by the filter or otherwise.
    is_sifted: bool,
    wanted: usize,
    after: Option<String>,
    batch: u32,
    looked: u32,
    items: Vec<V>,
    next: Option<String>,
    is_done: bool,
}

impl<V: Serialize> Gather<V> {
    pub(crate) fn of<E>(query: &E::Query) -> Result<Gather<V>, Error>
    where
        E: Endpoint<Query: Paged>,
    {
        let after = page::after(query.cursor())?;
        let limit = page::limit(query.limit())?;
        Ok(Gather::new(after, limit, self::filter::<E>(query.filter())?))
    }

    /// The same of a list whose keys are numbers.
    pub(crate) fn numbered<E>(query: &E::Query) -> Result<Gather<V>, Error>
    where
        E: Endpoint<Query: Paged>,
    {
        let before = page::before(query.cursor())?;
        let limit = page::limit(query.limit())?;
        let after = before.map(|number| number.to_string());
        Ok(Gather::new(after, limit, self::filter::<E>(query.filter())?))
    }

    fn new(after: Option<String>, limit: Limit, filter: Option<Filter>) -> Gather<V> {
        Gather {
            is_sifted: filter.is_some(),
            filter,
            wanted: limit.get() as usize,
            after,
            batch: limit.get(),
            looked: 0,
            items: Vec::new(),
            next: None,
            is_done: false,
        }
    }

    /// Some items are left out by who reads the list, too.
    #[must_use]
    pub(crate) fn sifted(mut self, is_sifted: bool) -> Gather<V> {
        self.is_sifted |= is_sifted;
        self
    }

    /// What is to be read next, until there is enough.
    pub(crate) fn ask(&self) -> Option<Ask> {
        let limit = Limit::new(self.batch).unwrap_or(Limit::LARGEST);
        (!self.is_done).then(|| Ask { after: self.after.clone(), limit })
    }

    pub(crate) fn take<T>(
        &mut self,
        page: Page<T>,
        mut view: impl FnMut(T) -> V,
    ) -> Result<(), Error> {
        self.sift(page, |item| Some(view(item)))
    }

    /// Takes a page, of which the view leaves some out.
    pub(crate) fn sift<T>(
        &mut self,
        page: Page<T>,
        mut view: impl FnMut(T) -> Option<V>,
    ) -> Result<(), Error> {
        let rows = u32::try_from(page.items.len()).unwrap_or(u32::MAX);
        let room = self.wanted - self.items.len();
        let (mut fitting, mut last) = (Vec::new(), 0);
        for (at, item) in (1..).zip(page.items) {
            let Some(shown) = view(item) else { continue };
            if !holds(self.filter.as_ref(), &shown)? {
                continue;
            }
            if fitting.len() == room {
                self.batch = last;
                return Ok(());
            }
            fitting.push(shown);
            last = at;
        }
        self.items.extend(fitting);
        self.looked = self.looked.saturating_add(rows);
        let is_enough = !self.is_sifted || self.items.len() >= self.wanted;
        self.is_done = page.next.is_none() || is_enough || self.looked >= LOOK_MAX;
        match self.is_done {
            true => self.next = page.next,
            false => {
                self.after = page.next;
                let left = LOOK_MAX - self.looked;
                self.batch = self.batch.saturating_mul(2).min(Limit::MAX).min(left);
            }
        }
        Ok(())
    }

    /// What was gathered.
    pub(crate) fn listing(self) -> Listing<V> {
        page::listing(Page { items: self.items, next: self.next }, |shown| shown)
    }
}

/// Whether a filter holds of something as it is answered.
pub(crate) fn holds<V: Serialize>(filter: Option<&Filter>, shown: &V) -> Result<bool, Error> {
    let Some(filter) = filter else { return Ok(true) };
    let document = serde_json::to_value(shown)
        .map_err(|error| Error::internal("an item cannot be written").with_source(error))?;
    Ok(filter.matches(&document))
}

/// The filter of an endpoint's list.
pub(crate) fn filter<E: Endpoint>(given: Option<&str>) -> Result<Option<Filter>, Error> {
    read(given, |text| Filter::read(text, fields::<E>()))
}

fn fields<E: Endpoint>() -> &'static Fields {
    hostler_api::filter::fields_of::<E>()
}

/// A filter that was given, or what is wrong with it.
pub(crate) fn read(
    given: Option<&str>,
    reader: impl FnOnce(&str) -> Result<Filter, hostler_model::filter::Mistake>,
) -> Result<Option<Filter>, Error> {
    let Some(text) = given else { return Ok(None) };
    reader(text).map(Some).map_err(|mistake| {
        let mut error = malformed("the filter cannot be read", "mend it where the mark is");
        error.errors = vec![Diagnostic::new("/query/filter", mistake.to_string())];
        error
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn limit(limit: u32) -> Limit {
        Limit::new(limit).unwrap()
    }

    /// A page of the numbers that come after a key.
    fn page(all: &[u64], ask: &Ask) -> Page<u64> {
        let after = ask.number();
        let rows = all.iter().copied().filter(|n| after.is_none_or(|after| *n > after));
        let count = ask.limit.get() as usize + 1;
        Page::from_rows(rows.take(count).collect(), ask.limit, u64::to_string)
    }

    fn odd(n: u64) -> Value {
        json!({ "n": n, "isOdd": n % 2 == 1 })
    }

    fn is_odd() -> Option<Filter> {
        Filter::read("isOdd", &Fields::ANY).ok()
    }

    /// One answer: its items, the key to go on from, and how many pages and rows were read.
    fn answer(
        all: &[u64],
        after: Option<String>,
        size: u32,
        filter: Option<Filter>,
    ) -> (Vec<u64>, Option<String>, u32, u32) {
        let mut gather: Gather<Value> = Gather::new(after, limit(size), filter);
        let (mut pages, mut rows) = (0, 0);
        while let Some(ask) = gather.ask() {
            let page = page(all, &ask);
            pages += 1;
            rows += u32::try_from(page.items.len()).unwrap();
            gather.take(page, odd).unwrap();
        }
        let items = gather.items.iter().map(|item| item["n"].as_u64().unwrap()).collect();
        (items, gather.next, pages, rows)
    }

    #[test]
    fn without_a_filter_one_page_is_read() {
        let all: Vec<u64> = (1..=10).collect();
        let (items, next, pages, rows) = answer(&all, None, 4, None);
        assert_eq!((items, next.as_deref()), (vec![1, 2, 3, 4], Some("4")));
        assert_eq!((pages, rows), (1, 4));
    }

    #[test]
    fn a_page_ends_at_the_last_item_that_fits() {
        let all: Vec<u64> = (1..=100).collect();
        let (items, next, ..) = answer(&all, None, 3, is_odd());
        assert_eq!((items, next.as_deref()), (vec![1, 3, 5], Some("5")));
    }

    #[test]
    fn what_holds_of_nothing_ends_after_so_many_rows_and_goes_on() {
        let all: Vec<u64> = (1..=25_000).map(|n| n * 2).collect();
        let (mut after, mut answers) = (None, 0);
        loop {
            let (items, next, pages, rows) = answer(&all, after, 10, is_odd());
            assert!(items.is_empty() && rows <= LOOK_MAX && pages < 30, "{rows} in {pages}");
            answers += 1;
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(answers, 3);
    }

    #[test]
    fn rows_that_change_while_they_are_read_again_are_no_trouble() {
        let mut gather: Gather<Value> = Gather::new(None, limit(2), is_odd());
        let ask = gather.ask().unwrap();
        gather.take(page(&[2, 4, 5, 6], &ask), odd).unwrap();
        let ask = gather.ask().unwrap();
        assert_eq!((ask.number(), ask.limit.get()), (Some(4), 4));
        gather.take(page(&[5, 7, 9, 11, 13], &ask), odd).unwrap();
        let ask = gather.ask().unwrap();
        assert_eq!((ask.number(), ask.limit.get()), (Some(4), 2));
        // Of those that were to be read again one is gone.
        gather.take(page(&[7, 9, 11], &ask), odd).unwrap();
        assert!(gather.ask().is_none());
        assert_eq!(gather.items, [odd(7), odd(9)]);
        assert_eq!(gather.next.as_deref(), Some("9"));
    }

    /// Whatever holds, and however long pages are: all of it is answered, once, in order, and no answer has
    /// more than was asked for.
    #[test]
    fn pages_together_are_the_list() {
        for set in 0..1u64 << 11 {
            let all: Vec<u64> = (0..11).filter(|bit| set >> bit & 1 == 1).collect();
            for size in 1..=4 {
                let (mut after, mut seen) = (None, Vec::new());
                loop {
                    let (items, next, ..) = answer(&all, after, size, is_odd());
                    assert!(items.len() <= size as usize);
                    assert!(next.is_none() || items.len() == size as usize);
                    seen.extend(items);
                    match next {
                        Some(next) => after = Some(next),
                        None => break,
                    }
                }
                let expected: Vec<u64> = all.iter().copied().filter(|n| n % 2 == 1).collect();
                assert_eq!(seen, expected);
            }
        }
    }
}
