//! The audit chain: each entry's hash covers the hash before it, and the newest is also in the head
//! row of the journal, so that a changed, missing or added entry shows in `audit_verify`.

use hostler_model::{Actor, AuditEntry, AuditVerdict, Limit, NewAuditEntry, ObjectRef, Page};

use crate::select::Select;
use crate::value::{Row, Value, params, without_nul};
use crate::{Conn, Error, Tx};

const PAGE: u64 = 1000;
const HASH_ZERO: [u8; 32] = [0; 32];

macro_rules! columns {
    () => {
        "sequence, time_created, actor_kind, actor_name, action, object_kind, object_id, object_name, project_id, request_id, source, detail, hash_previous, hash"
    };
}

/// Which entries to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter<'a> {
    /// Name of who acted.
    pub actor: Option<&'a str>,
    /// As `noun.verb`.
    pub action: Option<&'a str>,
}

fn decode(row: &Row) -> Result<AuditEntry, Error> {
    let mut columns = row.columns("audit_entry");
    Ok(AuditEntry {
        sequence: columns.number()?,
        entry: NewAuditEntry {
            time: columns.time()?,
            actor: Actor { kind: columns.parse()?, name: columns.text()? },
            action: columns.text()?,
            object: ObjectRef {
                kind: columns.parse()?,
                id: columns.text()?,
                name: columns.text()?,
            },
            project_id: columns.opt_parse()?,
            request_id: columns.text()?,
            source: columns.text()?,
            detail: columns.json()?,
        },
        hash_previous: columns.blob()?,
        hash: columns.blob()?,
    })
}

fn chained(previous: &[u8], entry: &NewAuditEntry, sequence: u64) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(previous);
    hasher.update(&entry.canonical_bytes(sequence));
    hasher.finalize().as_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// What is stored is what is hashed: see `without_nul`.
fn storable(entry: &NewAuditEntry) -> NewAuditEntry {
    NewAuditEntry {
        time: entry.time,
        actor: Actor { kind: entry.actor.kind, name: without_nul(&entry.actor.name) },
        action: without_nul(&entry.action),
        object: ObjectRef {
            kind: entry.object.kind,
            id: without_nul(&entry.object.id),
            name: without_nul(&entry.object.name),
        },
        project_id: entry.project_id,
        request_id: without_nul(&entry.request_id),
        source: without_nul(&entry.source),
        detail: entry.detail.clone(),
    }
}

/// The chain as far as it was followed.
struct Chain {
    count: u64,
    hash: Vec<u8>,
}

impl Chain {
    /// Follows one entry, or says what is wrong with it.
    fn follow(&mut self, entry: &AuditEntry) -> Result<(), String> {
        let expected = self.count + 1;
        if entry.sequence != expected {
            return Err(format!(
                "entry {expected} is missing; the next one there is {}",
                entry.sequence
            ));
        }
        if entry.hash_previous != self.hash {
            return Err("it does not continue the entry before it".to_owned());
        }
        if chained(&self.hash, &entry.entry, entry.sequence) != entry.hash {
            return Err("its content does not match its hash".to_owned());
        }
        self.count = expected;
        self.hash.clone_from(&entry.hash);
        Ok(())
    }

    fn broken(self, problem: String) -> AuditVerdict {
        AuditVerdict {
            is_intact: false,
            entries: self.count,
            first_bad: Some(self.count + 1),
            problem: Some(problem),
            head: hex(&self.hash),
        }
    }
}

impl Conn {
    /// Newest first; the page's key is the number to go on from.
    pub async fn audit_list(
        &mut self,
        filter: AuditFilter<'_>,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditEntry>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM audit_entry"))
            .and_some("actor_name =", filter.actor)
            .and_some("action =", filter.action)
            .and_some("sequence <", before)
            .page("sequence DESC", limit);
        let rows = self.query(sql, params).await?;
        let entries = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(entries, limit, |e| e.sequence.to_string()))
    }

    /// Recomputes the whole chain, page by page. Entries that are appended meanwhile may be included.
    pub async fn audit_verify(&mut self) -> Result<AuditVerdict, Error> {
        let mut chain = Chain { count: 0, hash: HASH_ZERO.to_vec() };
        loop {
            let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM audit_entry"))
                .and_value("sequence >", chain.count)
                .first("sequence", PAGE);
            let rows = self.query(sql, params).await?;
            for row in &rows {
                let followed = match decode(row) {
                    Ok(entry) => chain.follow(&entry),
                    Err(error) => Err(format!("it cannot be read: {error}")),
                };
                if let Err(problem) = followed {
                    return Ok(chain.broken(problem));
                }
            }
            if rows.len() as u64 == PAGE {
                continue;
            }
            let (sequence, hash) = self.audit_head().await?;
            if sequence > chain.count && self.audit_has_after(chain.count).await? {
                continue;
            }
            if sequence != chain.count {
                let problem = format!(
                    "the journal says that {sequence} entries exist, but {} do",
                    chain.count
                );
                return Ok(chain.broken(problem));
            }
            if hash != chain.hash {
                return Ok(chain.broken("the newest hash is not the journal's".to_owned()));
            }
            return Ok(AuditVerdict {
                is_intact: true,
                entries: chain.count,
                first_bad: None,
                problem: None,
                head: hex(&chain.hash),
            });
        }
    }

    async fn audit_has_after(&mut self, sequence: u64) -> Result<bool, Error> {
        let row = self
            .query_one(
                "SELECT sequence FROM audit_entry WHERE sequence > $1 ORDER BY sequence LIMIT 1",
                params![sequence],
            )
            .await?;
        Ok(row.is_some())
    }

    async fn audit_head(&mut self) -> Result<(u64, Vec<u8>), Error> {
        let row = self
            .query_one(
                "SELECT audit_sequence, audit_hash FROM journal_head WHERE id = 'journal'",
                Vec::new(),
            )
            .await?
            .ok_or_else(|| Error::corrupt("the head of the journal is missing"))?;
        let mut columns = row.columns("journal_head");
        Ok((columns.number()?, columns.blob()?))
    }
}

impl Tx<'_> {
    /// Chains entries from number `first` on; called by `journal_append` with the head row taken.
    pub(crate) async fn audit_append(
        &mut self,
        first: u64,
        mut hash: Vec<u8>,
        entries: &[NewAuditEntry],
    ) -> Result<(), Error> {
        let mut rows = Vec::with_capacity(entries.len());
        for (sequence, entry) in (first..).zip(entries) {
            let entry = storable(entry);
            let previous = std::mem::take(&mut hash);
            hash = chained(&previous, &entry, sequence);
            rows.push(params![
                sequence,
                entry.time,
                entry.actor.kind.label(),
                &entry.actor.name,
                &entry.action,
                entry.object.kind.label(),
                &entry.object.id,
                &entry.object.name,
                entry.project_id,
                &entry.request_id,
                &entry.source,
                Value::json(&entry.detail),
                &previous,
                &hash
            ]);
        }
        self.insert_many(concat!("INSERT INTO audit_entry (", columns!(), ")"), rows).await?;
        self.execute(
            "UPDATE journal_head SET audit_hash = $1 WHERE id = 'journal'",
            params![&hash],
        )
        .await?;
        Ok(())
    }
}
