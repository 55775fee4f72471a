//! How hard a password is to guess.
//!
//! Every character counts for as much as the kinds of characters allow, less where it repeats or follows on the one
//! before; what everybody tries first counts for nothing.

use serde_json::{Value as Json, json};

/// What is tried first.
const COMMON: [&str; 24] = [
    "password", "passw0rd", "letmein", "welcome", "qwerty", "qwertz", "azerty", "abc123",
    "iloveyou", "admin", "root", "login", "dragon", "monkey", "football", "baseball", "sunshine",
    "princess", "master", "shadow", "superman", "trustno1", "changeme", "secret",
];

const WORDS: [&str; 5] = ["very weak", "weak", "fair", "strong", "very strong"];

pub(super) fn judged(password: &str) -> Json {
    let entropy = entropy(password);
    let score = [28.0, 40.0, 60.0, 80.0].iter().filter(|least| entropy >= **least).count();
    let length = password.chars().count();
    let mut suggestions = Vec::new();
    if score < WORDS.len() - 1 {
        if is_common(password) {
            suggestions.push("it is one of those that are tried first");
        }
        if length < 12 {
            suggestions.push("make it longer: 12 characters at least, better a few words");
        }
        let lacks = |is: fn(char) -> bool| !password.chars().any(is);
        if lacks(|c| c.is_lowercase()) || lacks(|c| c.is_uppercase()) {
            suggestions.push("use small and capital letters");
        }
        if lacks(|c| c.is_ascii_digit()) {
            suggestions.push("use digits");
        }
        if !password.chars().any(|c| !c.is_alphanumeric()) {
            suggestions.push("use other characters");
        }
    }
    json!({
        "score": score,
        "strength": WORDS[score],
        "entropy": (entropy * 10.0).round() / 10.0,
        "length": length,
        "suggestions": suggestions,
    })
}

/// Whether hardly anything is left beside a word that everybody tries.
fn is_common(password: &str) -> bool {
    let plain = password.to_lowercase();
    let letters = plain.trim_matches(|c: char| !c.is_alphabetic());
    let is = |word: &&str| *word == plain || *word == letters;
    COMMON.iter().any(is) || plain.chars().all(|c| c.is_ascii_digit()) && plain.len() < 10
}

fn entropy(password: &str) -> f64 {
    if password.is_empty() || is_common(password) {
        return 0.0;
    }
    let has = |is: fn(char) -> bool| password.chars().any(is);
    let kinds: [(bool, f64); 5] = [
        (has(|c| c.is_ascii_lowercase()), 26.0),
        (has(|c| c.is_ascii_uppercase()), 26.0),
        (has(|c| c.is_ascii_digit()), 10.0),
        (has(|c| c.is_ascii() && !c.is_ascii_alphanumeric()), 33.0),
        (has(|c| !c.is_ascii()), 100.0),
    ];
    let pool: f64 = kinds.iter().filter(|(is_used, _)| *is_used).map(|(_, size)| size).sum();
    let each = pool.log2();
    let mut before: Option<char> = None;
    password
        .chars()
        .map(|c| {
            let step = before.map(|before| i64::from(u32::from(c)) - i64::from(u32::from(before)));
            before = Some(c);
            if step.is_some_and(|step| step.abs() <= 1) { 1.0 } else { each }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_and_less_regular_is_harder() {
        for (password, expected) in [
            ("", 0),
            ("password", 0),
            ("Password123!", 0),
            ("12345678", 0),
            ("aaaaaaaaaaaaaaaaaaaa", 0),
            ("abcdefghijkl", 0),
            ("gk3f", 0),
            ("gk3fQ!", 1),
            ("gk3fQ!w", 2),
            ("gk3fQ!w9mp", 3),
            ("gk3fQ!w9mpXv7", 4),
        ] {
            assert_eq!(judged(password)["score"], expected, "{password}: {}", judged(password));
        }
    }
}
