//! Reads single entries: whatever waits, with one statement.

use std::pin::pin;

use hostler_model::{Error, StateAddress, StateAnswer, StateRecord, StateResult};
use hostler_store::{Conn, Error as StoreError};
use tokio::sync::mpsc;

use super::Reply;
use crate::Control;

/// Reads of one statement: values are large at times, and all of them are in memory.
const TOGETHER_MAX: usize = 64;

pub(super) struct Read {
    pub(super) at: StateAddress,
    pub(super) reply: Reply,
}

pub(super) async fn serve(
    control: Control,
    mut queue: mpsc::Receiver<Read>,
    stopping: impl Future<Output = ()>,
) {
    let mut stopping = pin!(stopping);
    let mut waiting = Vec::with_capacity(TOGETHER_MAX);
    loop {
        tokio::select! {
            biased;
            taken = queue.recv_many(&mut waiting, TOGETHER_MAX) => if taken == 0 { return },
            () = stopping.as_mut(), if !queue.is_closed() => queue.close(),
        }
        if !waiting.is_empty() {
            answer(&control, std::mem::take(&mut waiting)).await;
        }
    }
}

async fn answer(control: &Control, reads: Vec<Read>) {
    let ids: Vec<String> = reads.iter().map(|read| read.at.to_string()).collect();
    let found = async {
        let mut conn = control.store.read().await?;
        control.state_seen(&mut conn, &ids).await
    };
    let found = found.await;
    let count = reads.len() as u64;
    control.state.tally.reads.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    match found {
        Err(error) => {
            reads.into_iter().for_each(|read| read.reply.send(Err(Error::from(error.clone()))));
        }
        Ok((revision, records)) => {
            for Read { at, reply } in reads {
                let entry = records.iter().find(|record| record.at == at).cloned();
                let result = StateResult { entry, ..StateResult::default() };
                reply.send(Ok(StateAnswer { is_held: true, revision, results: vec![result] }));
            }
        }
    }
}

impl Control {
    /// Entries that are there now, with their values; and the newest revision before that.
    pub(crate) async fn state_seen(
        &self,
        conn: &mut Conn,
        ids: &[String],
    ) -> Result<(u64, Vec<StateRecord>), StoreError> {
        let head = conn.state_head().await?;
        let mut records = conn.state_rows(ids, true).await?;
        let now = self.now().max(head.time);
        records.retain(|record| record.is_there(now));
        Ok((head.revision, records))
    }
}
