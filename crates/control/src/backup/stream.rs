//! A backup for who asked for it over the network: bytes as they are wanted, nothing ahead of that.

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use hostler_model::Error;
use hostler_store::Store;
use tokio::sync::mpsc;

use super::{BackupError, NewBackup, create};

/// The bytes of a backup. What fails on the way ends the stream with an error, so that the file is seen to
/// be cut off.
pub type BackupStream = BoxStream<'static, Result<Bytes, Error>>;

/// The maker and the one who takes are one future: when nobody takes, nothing is read.
pub(crate) fn stream(store: Store, new: NewBackup) -> BackupStream {
    let (to, from) = mpsc::channel(2);
    let taken = futures::stream::unfold(from, |mut from| async move {
        let bytes: Bytes = from.recv().await?;
        Some((Ok(bytes), from))
    });
    let made = futures::stream::once(async move { create(&store, new, to).await });
    let failed = made.filter_map(|made| async move {
        made.err().map(|error: BackupError| {
            tracing::warn!(error = %hostler_base::chain(&error), "a backup was cut off");
            Err(Error::from(error))
        })
    });
    futures::stream::select(taken, failed).boxed()
}
