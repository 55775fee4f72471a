//! Lists: limits, cursors, listings.
//!
//! A page cursor is the key of the last item, wrapped so that nobody builds on what is inside; a watch
//! cursor is a sequence number of the journal. One is never accepted for the other.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hostler_api::Listing;
use hostler_model::{Diagnostic, Error, Limit, Page};

use super::error::malformed;

pub(crate) fn limit(asked: Option<u32>) -> Result<Limit, Error> {
    let Some(asked) = asked else {
        return Ok(Limit::DEFAULT);
    };
    Limit::new(asked).ok_or_else(|| {
        let detail = format!("limit must be 1 to {}", Limit::MAX);
        let mut error = malformed(detail.clone(), "ask for less, and follow `nextCursor`");
        error.errors = vec![Diagnostic::new("/query/limit", detail)];
        error
    })
}

pub(crate) fn after(cursor: Option<&str>) -> Result<Option<String>, Error> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    let key = cursor
        .strip_prefix("p.")
        .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok())
        // No key has one, and a database may not take it for text.
        .filter(|key| !key.contains('\0'));
    key.map(Some).ok_or_else(bad_cursor)
}

/// For lists whose keys are sequence numbers.
pub(crate) fn before(cursor: Option<&str>) -> Result<Option<u64>, Error> {
    let key = after(cursor)?;
    key.map(|key| key.parse().map_err(|_| bad_cursor())).transpose()
}

pub(crate) fn watch_after(cursor: Option<&str>) -> Result<Option<u64>, Error> {
    cursor.map(|text| text.parse().map_err(|_| bad_cursor())).transpose()
}

pub(super) fn bad_cursor() -> Error {
    let mut error = malformed(
        "the cursor was not made by this endpoint",
        "use `nextCursor` to page and `watchCursor` to watch, unchanged",
    );
    error.errors = vec![Diagnostic::new("/query/cursor", error.detail.clone())];
    error
}

pub(crate) fn listing<T, V>(page: Page<T>, view: impl FnMut(T) -> V) -> Listing<V> {
    Listing {
        items: page.items.into_iter().map(view).collect(),
        next_cursor: page.next.map(|key| format!("p.{}", URL_SAFE_NO_PAD.encode(key))),
        watch_cursor: None,
    }
}

/// A page of a list that was made as a whole: what comes after the item with the key.
pub(crate) fn part<T>(
    mut items: Vec<T>,
    after: Option<&str>,
    limit: Limit,
    key: impl Fn(&T) -> String,
) -> Result<Page<T>, Error> {
    if let Some(after) = after {
        let at = items.iter().position(|item| key(item) == after).ok_or_else(bad_cursor)?;
        items.drain(..=at);
    }
    Ok(Page::from_rows(items, limit, key))
}

/// A list that is never long.
pub(crate) fn whole<T, V>(items: Vec<T>, view: impl FnMut(T) -> V) -> Listing<V> {
    listing(Page { items, next: None }, view)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_as_their_keys() {
        let page = Page { items: vec![1], next: Some("web/ü".to_owned()) };
        let cursor = listing(page, |n| n).next_cursor.unwrap();
        assert_eq!(after(Some(&cursor)).unwrap().as_deref(), Some("web/ü"));
        assert_eq!(after(None).unwrap(), None);
        for bad in ["", "123", "p.!!", "p.\u{e4}", "p._w", "p.AA", "p.YQBi"] {
            assert!(after(Some(bad)).is_err(), "{bad}");
        }
        assert!(watch_after(Some(&cursor)).is_err());
        assert_eq!(watch_after(Some("17")).unwrap(), Some(17));
        assert!(before(Some(&cursor)).is_err());
    }

    #[test]
    fn parts_follow_each_other() {
        let limit = Limit::new(2).unwrap();
        let part = |after: Option<&str>| part(vec![1, 2, 3], after, limit, i32::to_string);
        let first = part(None).unwrap();
        assert_eq!((first.items.as_slice(), first.next.as_deref()), (&[1, 2][..], Some("2")));
        let second = part(Some("2")).unwrap();
        assert_eq!((second.items.as_slice(), second.next), (&[3][..], None));
        assert!(part(Some("7")).is_err());
    }

    #[test]
    fn limits_have_bounds() {
        assert!(limit(Some(0)).is_err());
        assert!(limit(Some(1001)).is_err());
        assert_eq!(limit(Some(1000)).unwrap().get(), 1000);
        assert_eq!(limit(None).unwrap(), Limit::DEFAULT);
    }
}
