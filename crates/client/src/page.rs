//! Lists that come in parts, as one stream of items.

use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use hostler_api::{Endpoint, Listing};

use crate::request::Parts;
use crate::{Client, Error};

/// Items of all pages, in order, fetched as they are asked for.
pub type Paged<T> = BoxStream<'static, Result<T, Error>>;

/// The most that a server gives at once.
const PAGE_MAX: usize = 1000;

impl Client {
    /// Walks every page of a list. `limit` bounds the items of all pages together.
    pub fn pages<E, T>(
        &self,
        path: &E::Path,
        query: &E::Query,
        limit: Option<usize>,
    ) -> Result<Paged<T>, Error>
    where
        E: Endpoint<Body = hostler_api::Nothing, Reply = Listing<T>>,
        T: Send + 'static,
    {
        let parts = Parts::of::<E>(path, query, &hostler_api::Nothing {})?;
        let walk = Walk { client: self.clone(), parts, left: limit };
        let step = |walk: Option<Walk>| async {
            let Some(mut walk) = walk else {
                return Ok(None);
            };
            let page = walk.page::<E, T>().await?;
            let next = walk.follows(&page).then_some(walk);
            let items = stream::iter(page.items).map(Ok);
            Ok::<_, Error>(Some((items, next)))
        };
        let all = stream::try_unfold(Some(walk), step).try_flatten();
        Ok(match limit {
            None => all.boxed(),
            Some(limit) => all.take(limit).boxed(),
        })
    }

    /// All items, with the cursor from which a watch misses nothing.
    pub async fn list_all<E, T>(
        &self,
        path: &E::Path,
        query: &E::Query,
    ) -> Result<Listing<T>, Error>
    where
        E: Endpoint<Body = hostler_api::Nothing, Reply = Listing<T>>,
        T: Send + 'static,
    {
        let mut walk = Walk {
            client: self.clone(),
            parts: Parts::of::<E>(path, query, &hostler_api::Nothing {})?,
            left: None,
        };
        let mut all = walk.page::<E, T>().await?;
        let mut has_more = walk.follows(&all);
        while has_more {
            let page = walk.page::<E, T>().await?;
            has_more = walk.follows(&page);
            all.items.extend(page.items);
        }
        all.next_cursor = None;
        Ok(all)
    }
}

struct Walk {
    client: Client,
    parts: Parts,
    left: Option<usize>,
}

impl Walk {
    async fn page<E, T>(&mut self) -> Result<Listing<T>, Error>
    where
        E: Endpoint<Reply = Listing<T>>,
    {
        if let Some(left) = self.left {
            self.parts.set("limit", &left.clamp(1, PAGE_MAX).to_string());
        }
        Ok(self.client.perform::<E>(self.parts.clone(), None).await?.reply)
    }

    /// Notes where the next page begins; false at the end.
    fn follows<T>(&mut self, page: &Listing<T>) -> bool {
        self.left = self.left.map(|left| left.saturating_sub(page.items.len()));
        match &page.next_cursor {
            Some(cursor) if self.left != Some(0) => {
                self.parts.set("cursor", cursor);
                true
            }
            _ => false,
        }
    }
}
