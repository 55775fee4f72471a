//! Variables in values: `$NAME`, `${NAME}`, `${NAME:-default}` and the other forms of Compose.

use crate::environment::{Variables, is_variable};

/// What happened on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incident {
    /// Nobody has set it; it is empty.
    Unset(String),
    /// The file says that it has to be set, and why.
    Required(String, String),
    /// `${` without an end, or with something that is no variable.
    Malformed(String),
}

/// `$$` is a dollar sign. What cannot be understood stays as it is.
pub fn interpolate(text: &str, variables: &Variables, incidents: &mut Vec<Incident>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(inner) = after.strip_prefix('{') {
            let Some(end) = closing(inner) else {
                incidents.push(Incident::Malformed(rest[at..].to_owned()));
                out.push_str(&rest[at..]);
                return out;
            };
            let expression = &inner[..end];
            match braced(expression, variables, incidents) {
                Some(value) => out.push_str(&value),
                None => {
                    incidents.push(Incident::Malformed(format!("${{{expression}}}")));
                    out.push_str(&format!("${{{expression}}}"));
                }
            }
            rest = &inner[end + 1..];
        } else {
            let name = leading_name(after);
            if name.is_empty() {
                out.push('$');
            } else {
                out.push_str(&plain(name, variables, incidents));
            }
            rest = &after[name.len()..];
        }
    }
    out.push_str(rest);
    out
}

/// Where the brace that fits is; defaults may hold further braces.
fn closing(inner: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if is_variable(&text[..end]) { &text[..end] } else { "" }
}

fn plain(name: &str, variables: &Variables, incidents: &mut Vec<Incident>) -> String {
    variables.get(name).cloned().unwrap_or_else(|| {
        incidents.push(Incident::Unset(name.to_owned()));
        String::new()
    })
}

fn braced(
    expression: &str,
    variables: &Variables,
    incidents: &mut Vec<Incident>,
) -> Option<String> {
    let name = leading_name(expression);
    let rest = &expression[name.len()..];
    if name.is_empty() {
        return None;
    }
    if rest.is_empty() {
        return Some(plain(name, variables, incidents));
    }
    let (is_empty_unset, rest) = match rest.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let value = variables.get(name).filter(|value| !is_empty_unset || !value.is_empty());
    let operator = rest.chars().next()?;
    let other = &rest[operator.len_utf8()..];
    match (operator, value) {
        ('-', Some(value)) | ('?', Some(value)) => Some(value.clone()),
        ('-', None) | ('+', Some(_)) => Some(interpolate(other, variables, incidents)),
        ('+', None) => Some(String::new()),
        ('?', None) => {
            incidents.push(Incident::Required(name.to_owned(), other.to_owned()));
            Some(String::new())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_filled_in() {
        let variables: Variables =
            [("A", "a"), ("EMPTY", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        for (text, expected, count) in [
            ("$A-${A}.$$A", "a-a.$A", 0),
            ("${B:-x}${B-y}${EMPTY:-z}${EMPTY-w}", "xyz", 0),
            ("${B:-${A}-${C:-d}}", "a-d", 0),
            ("${A:+set}${B:+set}${EMPTY+set}", "setset", 0),
            ("$B|${B}", "|", 2),
            ("${B:?say why}", "", 1),
            ("${A", "${A", 1),
            ("${A!x} $ $1", "${A!x} $ $1", 1),
        ] {
            let mut incidents = Vec::new();
            assert_eq!(interpolate(text, &variables, &mut incidents), expected, "{text}");
            assert_eq!(incidents.len(), count, "{text}: {incidents:?}");
        }
    }
}
