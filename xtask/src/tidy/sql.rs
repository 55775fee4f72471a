//! SQL stays in the subset that SQLite, PostgreSQL and CockroachDB share.
//!
//! Looked at are string literals in `crates/store` and the files in `schema/`. Keywords are matched in
//! capitals, as we write them, so that a column may be called `sequence` and a message may speak of a
//! trigger; functions are matched however they are written.

use super::Report;
use super::rust_text::string_literals;
use crate::Tree;
use crate::tree::extension;

const KEYWORDS: &[(&str, &str)] = &[
    ("LISTEN", "CockroachDB and SQLite have no LISTEN; poll, and wake by hint"),
    ("NOTIFY", "CockroachDB and SQLite have no NOTIFY; poll, and wake by hint"),
    ("SKIP LOCKED", "not a correctness device here; claim with a conditional UPDATE"),
    ("SERIAL", "ids are UUIDv7 made by the caller"),
    ("BIGSERIAL", "ids are UUIDv7 made by the caller"),
    ("SMALLSERIAL", "ids are UUIDv7 made by the caller"),
    ("AUTOINCREMENT", "ids are UUIDv7 made by the caller"),
    ("AUTO_INCREMENT", "ids are UUIDv7 made by the caller"),
    ("IDENTITY", "ids are UUIDv7 made by the caller"),
    ("SEQUENCE", "number rows from a head row, inside the transaction"),
    ("TRIGGER", "say it in the code that writes the row"),
    ("CREATE TYPE", "SQL enums cannot be changed alike everywhere; use TEXT and CHECK"),
    ("ENUM", "SQL enums cannot be changed alike everywhere; use TEXT and CHECK"),
    ("CURRENT_TIMESTAMP", "the caller passes the time in"),
    ("CURRENT_TIME", "the caller passes the time in"),
    ("CURRENT_DATE", "the caller passes the time in"),
    ("LOCK TABLE", "CockroachDB and SQLite have no LOCK TABLE; rely on serialisable transactions"),
];

const FUNCTIONS: &[(&str, &str)] = &[
    ("NOW(", "the caller passes the time in"),
    ("CLOCK_TIMESTAMP(", "the caller passes the time in"),
    ("UNIXEPOCH(", "the caller passes the time in"),
    ("RANDOM(", "the caller passes random values in"),
    ("GEN_RANDOM_UUID(", "ids are UUIDv7 made by the caller"),
    ("NEXTVAL(", "number rows from a head row, inside the transaction"),
    ("PG_ADVISORY", "CockroachDB and SQLite have no advisory locks; use a lease row"),
    ("PG_TRY_ADVISORY", "CockroachDB and SQLite have no advisory locks; use a lease row"),
    ("PG_NOTIFY(", "CockroachDB and SQLite have no NOTIFY; poll, and wake by hint"),
];

/// The one question that is about the database's own clock: how far it is from ours.
const CLOCK_IS_ASKED: &str = "crates/store/src/vitals.rs";

pub fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts() {
        if path.starts_with("crates/store/") && extension(path) == "rs" {
            for (line, literal) in string_literals(text) {
                look(path, line, literal, report);
            }
        } else if path.starts_with("schema/") && extension(path) == "sql" {
            for (number, line) in text.lines().enumerate() {
                let code = line.split("--").next().unwrap_or_default();
                look(path, number + 1, code, report);
            }
        }
    }
}

fn look(path: &str, line: usize, sql: &str, report: &mut Report) {
    let capitals = sql.to_ascii_uppercase();
    let found = KEYWORDS
        .iter()
        .filter(|(word, _)| has_word(sql, word))
        .chain(FUNCTIONS.iter().filter(|(f, _)| has_start(&capitals, f)))
        .filter(|(word, _)| path != CLOCK_IS_ASKED || *word != "CLOCK_TIMESTAMP(");
    for (word, advice) in found {
        report.find("sql", format!("{path}:{line}"), format!("`{word}`: {advice}"));
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether the text has the word, beginning where no longer word is under way.
fn has_start(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(is_part))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        let mut report = Report::default();
        check(&Tree::of([(path, text)]), &mut report);
        report.findings.len()
    }

    #[test]
    fn every_banned_word_is_found_in_both_places() {
        for (word, _) in KEYWORDS.iter().chain(FUNCTIONS) {
            let code = format!("fn f() {{ q(\"SELECT {word} x\") }}");
            assert!(findings("crates/store/src/a.rs", &code) >= 1, "{word}");
            assert!(findings("schema/0001/sqlite/up1.sql", word) >= 1, "{word}");
        }
    }

    #[test]
    fn code_comments_and_longer_words_are_fine() {
        let code =
            "enum A {} // NOW() LISTEN\nfn g() { rand::random(); q(\"BEGIN SERIALIZABLE\"); }";
        assert_eq!(findings("crates/store/src/a.rs", code), 0);
        assert_eq!(findings("crates/store/src/a.rs", "\"what triggers it\""), 0);
        let schema = "sequence BIGINT, serial TEXT, -- no SERIAL here";
        assert_eq!(findings("schema/a.sql", schema), 0);
        assert_eq!(findings("crates/base/src/a.rs", "\"LISTEN\""), 0);
    }
}
