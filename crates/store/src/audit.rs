//! The audit chain: each entry's hash covers the hash before it, and the newest is also in the head
//! row of the journal, so that a changed, missing or added entry shows in `audit_verify`.
//!
//! Searching for text has no index. One page of it looks at so many entries at most and then says
//! where to go on, so that no search holds a connection for long, however rare the words.

use hostler_model::{
    Actor, AuditChain, AuditEntry, AuditVerdict, Limit, NewAuditEntry, ObjectKind, ObjectRef, Page,
    ProjectId, Timestamp,
};

use crate::select::Select;
use crate::value::{Row, Value, params, without_nul};
use crate::{Conn, Dialect, Error, Tx};

const PAGE: u64 = 1000;
/// Entries that one page of a search for text looks at.
const TEXT_LOOKS: u64 = 50_000;

macro_rules! columns {
    () => {
        "sequence, time_created, actor_kind, actor_name, action, object_kind, object_id, object_name, project_id, request_id, source, detail, digest_before, digest_after, hash_previous, hash"
    };
}

/// Which entries to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter<'a> {
    /// Name of who acted.
    pub actor: Option<&'a str>,
    /// As `noun.verb`; with `*` or `.` at its end, all that begin so.
    pub action: Option<&'a str>,
    pub object_kind: Option<ObjectKind>,
    /// Id or name of the object.
    pub object: Option<&'a str>,
    pub project: Option<ProjectId>,
    /// Address the request came from.
    pub source: Option<&'a str>,
    /// Not before this time...
    pub since: Option<Timestamp>,
    /// ...and before this one.
    pub until: Option<Timestamp>,
    /// Contained in names, action, request id or detail, whatever the case.
    pub text: Option<&'a str>,
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
            digest_before: columns.opt_digest()?,
            digest_after: columns.opt_digest()?,
        },
        hash_previous: columns.blob()?,
        hash: columns.blob()?,
    })
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
        digest_before: entry.digest_before,
        digest_after: entry.digest_after,
    }
}

fn broken(chain: &AuditChain, problem: String) -> AuditVerdict {
    AuditVerdict {
        is_intact: false,
        entries: chain.count,
        first_bad: Some(chain.count + 1),
        problem: Some(problem),
        head: hex(&chain.hash),
        anchors: 0,
    }
}

/// Which actions are meant: one, or from one up to another that is not meant any more.
enum Actions<'a> {
    One(&'a str),
    Between(&'a str, String),
}

fn actions(given: &str) -> Actions<'_> {
    match given.strip_suffix('*') {
        Some(begin) => Actions::Between(begin, format!("{begin}{}", char::MAX)),
        None if given.ends_with('.') => Actions::Between(given, format!("{given}{}", char::MAX)),
        None => Actions::One(given),
    }
}

/// What `LIKE` takes as it is, in the small letters that the database's `LOWER` makes.
fn pattern(text: &str, dialect: Dialect) -> String {
    let small = match dialect {
        Dialect::Sqlite => text.to_ascii_lowercase(),
        Dialect::Postgres => text.to_lowercase(),
    };
    let mut pattern = String::from("%");
    for letter in small.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "%"
}

/// How following the chain went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum AuditFollow {
    /// There is more of it.
    More,
    /// Its end was reached, and it is what the journal says.
    End,
    /// It breaks after the last entry that was followed, or at it.
    Broken(String),
}

impl Conn {
    /// Newest first; the page's key is the number to go on from.
    pub async fn audit_list(
        &mut self,
        filter: AuditFilter<'_>,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditEntry>, Error> {
        let newest = match before {
            Some(before) => before.saturating_sub(1),
            None => self.audit_head().await?.0,
        };
        let oldest_looked = filter.text.map(|_| newest.saturating_sub(TEXT_LOOKS));
        let first = match filter.since {
            Some(since) => Some(self.audit_first_since(since).await?),
            None => None,
        };
        let mut select = Select::new(concat!("SELECT ", columns!(), " FROM audit_entry"))
            .and_some("actor_name =", filter.actor)
            .and_some("object_kind =", filter.object_kind.map(ObjectKind::label))
            .and_some("project_id =", filter.project)
            .and_some("source =", filter.source)
            .and_some("time_created >=", filter.since)
            .and_some("time_created <", filter.until)
            .and_some("sequence >=", first)
            .and_some("sequence >", oldest_looked)
            .and_some("sequence <", before);
        select = match filter.action.map(actions) {
            None => select,
            Some(Actions::One(action)) => select.and_value("action =", action),
            Some(Actions::Between(first, end)) => {
                select.and_value("action >=", first).and_value("action <", end.as_str())
            }
        };
        if let Some(object) = filter.object {
            select = select.and_either("object_id =", "object_name =", object);
        }
        if let Some(text) = filter.text {
            let words = "LOWER(actor_name || ' ' || action || ' ' || object_name || ' ' || object_id || ' ' || request_id || ' ' || source || ' ' || detail)";
            select = select.and_like(words, pattern(text, self.dialect()));
        }
        let (sql, params) = select.page("sequence DESC", limit);
        let rows = self.query(sql, params).await?;
        let entries = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let mut page = Page::from_rows(entries, limit, |e| e.sequence.to_string());
        if let (None, Some(oldest)) = (&page.next, oldest_looked.filter(|oldest| *oldest > 0)) {
            page.next = Some((oldest + 1).to_string());
        }
        Ok(page)
    }

    /// Entries after number `after`, oldest first.
    pub async fn audit_after(&mut self, after: u64, limit: u64) -> Result<Vec<AuditEntry>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM audit_entry"))
            .and_value("sequence >", after)
            .first("sequence", limit);
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// The number of the first entry that is not before `since`, or of the one to come. Clocks of
    /// servers differ, so later entries may be before it; earlier ones are not after it.
    pub async fn audit_first_since(&mut self, since: Timestamp) -> Result<u64, Error> {
        let row = self
            .query_one(
                "SELECT MIN(sequence) FROM audit_entry WHERE time_created >= $1",
                params![since],
            )
            .await?;
        let found = match row {
            Some(row) => row.columns("audit_entry").opt_int()?,
            None => None,
        };
        match found.map(u64::try_from) {
            Some(Ok(sequence)) => Ok(sequence),
            _ => Ok(self.audit_head().await?.0 + 1),
        }
    }

    /// Recomputes the whole chain, page by page. Entries that are appended meanwhile may be included.
    pub async fn audit_verify(&mut self) -> Result<AuditVerdict, Error> {
        let mut chain = AuditChain::default();
        loop {
            match self.audit_follow(&mut chain, None).await? {
                AuditFollow::More => {}
                AuditFollow::Broken(problem) => return Ok(broken(&chain, problem)),
                AuditFollow::End => {
                    return Ok(AuditVerdict {
                        is_intact: true,
                        entries: chain.count,
                        first_bad: None,
                        problem: None,
                        head: hex(&chain.hash),
                        anchors: 0,
                    });
                }
            }
        }
    }

    /// Follows a chain for a page at most, and past where it was seen before, if it was.
    pub async fn audit_follow(
        &mut self,
        chain: &mut AuditChain,
        seen: Option<&AuditChain>,
    ) -> Result<AuditFollow, Error> {
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
                return Ok(AuditFollow::Broken(problem));
            }
            if seen.is_some_and(|seen| seen.count == chain.count && seen.hash != chain.hash) {
                let problem = "it is not what it was when the chain was last followed";
                return Ok(AuditFollow::Broken(problem.to_owned()));
            }
        }
        if rows.len() as u64 == PAGE {
            return Ok(AuditFollow::More);
        }
        let (sequence, hash) = self.audit_head().await?;
        if sequence > chain.count && self.audit_has_after(chain.count).await? {
            return Ok(AuditFollow::More);
        }
        let there = chain.count;
        let expected = seen.map_or(0, |seen| seen.count).max(sequence);
        if expected != there {
            let problem = format!("{expected} entries should exist, but {there} do");
            return Ok(AuditFollow::Broken(problem));
        }
        if hash != chain.hash {
            let problem = "the newest hash is not the journal's".to_owned();
            return Ok(AuditFollow::Broken(problem));
        }
        Ok(AuditFollow::End)
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

    /// The number and the hash of the newest entry.
    pub async fn audit_head(&mut self) -> Result<(u64, Vec<u8>), Error> {
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
            hash = AuditChain::link(&previous, &entry, sequence);
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
                entry.digest_before,
                entry.digest_after,
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
