//! The log of changes of state: one row for every batch that was committed, with all its changes.
//!
//! Rows follow each other without gaps: the first revision of one is the last of the one before and one
//! more. So a reader who stands at revision `n` has missed something exactly if the next row does not
//! begin at `n + 1` or before; nothing else has to be kept about where the log begins.
//!
//! The changes of a row are bytes of our own, because a row is written for every commit of a store that
//! is used thousands of times a second: numbers of variable length, texts and values with their lengths
//! before them. They are only read back by this file.

use hostler_model::{Actor, StateBatch, StateChange, StateChangeKind, StateValue, Timestamp};

use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

/// A batch without its changes: what decides how long it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLogMark {
    pub last: u64,
    pub time: Timestamp,
    /// Bytes of the log up to its end, from the beginning of all time.
    pub logged: u64,
}

fn decode(row: &Row) -> Result<StateBatch, Error> {
    let mut columns = row.columns("state_log");
    let (last, first, time) = (columns.number()?, columns.number()?, columns.time()?);
    let bytes = columns.blob()?;
    let unreadable = || Error::corrupt(format!("the changes up to revision {last} of the state"));
    let changes = read(&bytes, first).ok_or_else(unreadable)?;
    Ok(StateBatch { first, last, time, changes })
}

impl Conn {
    /// The batches after a revision, oldest first. The first may begin before it.
    pub async fn state_log_after(
        &mut self,
        revision: u64,
        limit: u32,
    ) -> Result<Vec<StateBatch>, Error> {
        let sql = "SELECT last_revision, first_revision, time_created, changes FROM state_log WHERE last_revision > $1 ORDER BY last_revision LIMIT $2";
        let rows = self.query(sql, params![revision, limit]).await?;
        rows.iter().map(decode).collect()
    }

    /// The batch that a revision is of, if it is still kept.
    pub async fn state_log_at(&mut self, revision: u64) -> Result<Option<StateBatch>, Error> {
        let found = self.state_log_after(revision.saturating_sub(1), 1).await?.into_iter().next();
        Ok(found.filter(|batch| batch.first <= revision))
    }

    /// The first revision that is kept; `None` when none is.
    pub async fn state_log_first(&mut self) -> Result<Option<u64>, Error> {
        let sql = "SELECT first_revision FROM state_log ORDER BY last_revision LIMIT 1";
        let row = self.query_one(sql, Vec::new()).await?;
        row.map(|row| row.columns("state_log").number()).transpose()
    }

    /// The oldest batches, oldest first.
    pub async fn state_log_oldest(&mut self, limit: u32) -> Result<Vec<StateLogMark>, Error> {
        let sql = "SELECT last_revision, time_created, logged FROM state_log ORDER BY last_revision LIMIT $1";
        let rows = self.query(sql, params![limit]).await?;
        let mark = |row: &Row| {
            let mut columns = row.columns("state_log");
            Ok(StateLogMark {
                last: columns.number()?,
                time: columns.time()?,
                logged: columns.number()?,
            })
        };
        rows.iter().map(mark).collect()
    }
}

impl Tx<'_> {
    /// Lets go of everything up to a revision; returns how many batches went.
    pub async fn state_log_cut(&mut self, last: u64) -> Result<u64, Error> {
        self.execute("DELETE FROM state_log WHERE last_revision <= $1", params![last]).await
    }
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    number(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Who, as one word and a name.
pub(crate) fn owner_text(actor: &Actor) -> String {
    format!("{} {}", actor.kind.label(), actor.name)
}

pub(crate) fn owner_of(text: &str) -> Option<Actor> {
    let (kind, name) = text.split_once(' ')?;
    Some(Actor { kind: kind.parse().ok()?, name: name.to_owned() })
}

/// The changes of a batch, as its row has them.
pub(crate) fn write(batch: &StateBatch) -> Vec<u8> {
    let values: usize =
        batch.changes.iter().map(|change| change.value.as_ref().map_or(0, |v| v.len())).sum();
    let mut bytes = Vec::with_capacity(values + batch.changes.len() * 128);
    number(&mut bytes, batch.changes.len() as u64);
    for change in &batch.changes {
        let kind = StateChangeKind::ALL.iter().position(|kind| *kind == change.kind);
        number(&mut bytes, kind.unwrap_or_default() as u64);
        text(&mut bytes, change.at.to_string().as_bytes());
        number(&mut bytes, change.revision - batch.first);
        number(&mut bytes, change.previous);
        number(&mut bytes, change.create_revision);
        number(&mut bytes, change.version);
        text(&mut bytes, owner_text(&change.owner).as_bytes());
        let expires = change.time_expires.map_or(0, |time| time.micros().max(0).unsigned_abs() + 1);
        number(&mut bytes, expires);
        match &change.value {
            None => number(&mut bytes, 0),
            Some(value) => {
                number(&mut bytes, value.len() as u64 + 1);
                bytes.extend_from_slice(value);
            }
        }
    }
    bytes
}

struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok()
    }
}

fn read(bytes: &[u8], first: u64) -> Option<Vec<StateChange>> {
    let mut source = Source(bytes);
    let count = source.number()?;
    let mut changes = Vec::new();
    for _ in 0..count {
        let kind = *StateChangeKind::ALL.get(usize::try_from(source.number()?).ok()?)?;
        let at = source.text()?.parse().ok()?;
        let revision = first.checked_add(source.number()?)?;
        let (previous, create_revision, version) =
            (source.number()?, source.number()?, source.number()?);
        let owner = owner_of(source.text()?)?;
        let time_expires = match source.number()? {
            0 => None,
            micros => Some(Timestamp::from_micros(i64::try_from(micros - 1).ok()?)),
        };
        let value = match source.number()? {
            0 => None,
            length => Some(StateValue::from(source.take(length - 1)?)),
        };
        changes.push(StateChange {
            kind,
            at,
            revision,
            previous,
            create_revision,
            version,
            value,
            time_expires,
            owner,
        });
    }
    source.0.is_empty().then_some(changes)
}

/// For the fuzz target: panics where what was read is not what is written.
pub(crate) fn read_and_write(bytes: &[u8]) {
    let Some(changes) = read(bytes, 1) else { return };
    let last = changes.last().map_or(1, |change| change.revision);
    let batch = StateBatch { first: 1, last, time: Timestamp::EPOCH, changes };
    assert_eq!(read(&write(&batch), 1).as_ref(), Some(&batch.changes));
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{ActorKind, ProjectId, StateAddress};

    fn change(key: &str, revision: u64, value: Option<&[u8]>) -> StateChange {
        StateChange {
            kind: if value.is_some() { StateChangeKind::Put } else { StateChangeKind::Expired },
            at: StateAddress {
                project_id: ProjectId::from_uuid(uuid::Uuid::from_u128(7)),
                namespace: "app".parse().unwrap(),
                key: key.parse().unwrap(),
            },
            revision,
            previous: revision - 1,
            create_revision: 1,
            version: 1 << 40,
            value: value.map(StateValue::from),
            time_expires: value.map(|_| Timestamp::from_micros(1_790_000_000_000_000)),
            owner: Actor { kind: ActorKind::Workload, name: "project:a b:workload:c".to_owned() },
        }
    }

    #[test]
    fn changes_are_read_as_they_were_written() {
        let changes = vec![
            change("a/b", 300, Some(b"\0\xff any bytes")),
            change("ü", 301, None),
            change("empty", 301, Some(b"")),
        ];
        let batch = StateBatch { first: 300, last: 301, time: Timestamp::EPOCH, changes };
        let bytes = write(&batch);
        assert_eq!(read(&bytes, 300).unwrap(), batch.changes);
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end], 300), None, "cut off at {end}");
        }
        assert_eq!(read(&[bytes.as_slice(), b"x"].concat(), 300), None);
        for at in 0..bytes.len() {
            let mut spoiled = bytes.clone();
            spoiled[at] = spoiled[at].wrapping_add(0x81);
            let _whatever = read(&spoiled, u64::MAX);
        }
    }
}
