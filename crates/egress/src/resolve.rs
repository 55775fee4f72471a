//! From names to addresses. The only lookup there is; what it says is judged and then used as it is.

use std::io;
use std::net::IpAddr;

use futures::future::BoxFuture;

/// The answer of a lookup, later.
pub type Resolving<'a> = BoxFuture<'a, io::Result<Vec<IpAddr>>>;

/// Finds the addresses of a name.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// As the machine does it.
pub(crate) struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
        })
    }
}
