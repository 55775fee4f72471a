//! MIME messages of several texts, as cloud-init reads them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// One text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    text: String,
    /// After `text/`.
    subtype: String,
    filename: Option<String>,
}

impl Part {
    /// What is not said is told by the name of the file, up to its ending; plain text otherwise.
    pub(super) fn new(text: String, subtype: Option<&str>, filename: Option<&str>) -> Part {
        let stem = || filename.map(|name| name.rsplit_once('.').map_or(name, |(stem, _)| stem));
        let subtype =
            subtype.filter(|subtype| !subtype.is_empty()).or_else(stem).unwrap_or("plain");
        let clean =
            |text: &str| text.chars().filter(|c| !c.is_control() && *c != '"').collect::<String>();
        Part { text, subtype: clean(subtype), filename: filename.map(clean) }
    }

    fn written(&self) -> String {
        let Part { text, subtype, filename } = self;
        let (charset, encoding) =
            if text.is_ascii() { ("us-ascii", "7bit") } else { ("utf-8", "base64") };
        let body = if text.is_ascii() { text.clone() } else { wrapped(&STANDARD.encode(text)) };
        let disposition = filename
            .as_ref()
            .map(|name| format!("Content-Disposition: attachment; filename=\"{name}\"\n"))
            .unwrap_or_default();
        format!(
            "Content-Type: text/{subtype}; charset=\"{charset}\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: {encoding}\n{disposition}\n{body}"
        )
    }
}

fn wrapped(text: &str) -> String {
    let lines: Vec<&str> =
        text.as_bytes().chunks(76).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    lines.join("\n")
}

/// A message. The boundary is made of what stands between, so that the same texts are the same message.
pub(super) fn written(parts: &[Part]) -> String {
    let bodies: Vec<String> = parts.iter().map(Part::written).collect();
    let mut boundary =
        format!("==============={}==", blake3::hash(bodies.concat().as_bytes()).to_hex());
    while bodies.iter().any(|body| body.contains(&boundary)) {
        boundary = format!("==============={}==", blake3::hash(boundary.as_bytes()).to_hex());
    }
    let mut out =
        format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\nMIME-Version: 1.0\n\n");
    for body in &bodies {
        out.push_str(&format!("--{boundary}\n{body}\n"));
    }
    out + &format!("--{boundary}--\n")
}

/// The texts of a message; nothing where it is none.
pub(super) fn parts_of(message: &str) -> Vec<Part> {
    let message = message.replace("\r\n", "\n");
    let Some((head, body)) = message.split_once("\n\n") else { return Vec::new() };
    let Some(boundary) = parameter(&header(head, "content-type"), "boundary") else {
        return Vec::new();
    };
    let mark = format!("--{boundary}");
    let mut sections = format!("\n{body}");
    if let Some(end) = sections.find(&format!("\n{mark}--")) {
        sections.truncate(end);
    }
    sections.split(&format!("\n{mark}\n")).skip(1).map(part_of).collect()
}

fn part_of(section: &str) -> Part {
    let (head, body) = section.split_once("\n\n").unwrap_or((section, ""));
    let kind = header(head, "content-type");
    let subtype = kind
        .split(';')
        .next()
        .and_then(|kind| kind.trim().split_once('/'))
        .map(|(_, subtype)| subtype.to_owned());
    let filename = parameter(&header(head, "content-disposition"), "filename");
    let packed: String = body.split_whitespace().collect();
    let is_packed = header(head, "content-transfer-encoding").eq_ignore_ascii_case("base64");
    let unpacked = is_packed
        .then(|| STANDARD.decode(packed).ok())
        .flatten()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    Part::new(unpacked.unwrap_or_else(|| body.to_owned()), subtype.as_deref(), filename.as_deref())
}

/// A header with the lines that it goes on in; nothing where it is not there.
fn header(head: &str, name: &str) -> String {
    let unfolded = head.replace("\n ", " ").replace("\n\t", " ");
    let found = unfolded.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    });
    found.unwrap_or_default()
}

fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|piece| {
        let (key, value) = piece.trim().split_once('=')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_can_be_read_again() {
        let parts = vec![
            Part::new("#!/bin/sh\necho hi\n".to_owned(), Some("x-shellscript"), Some("a.sh")),
            Part::new("grüße\n".to_owned(), Some("cloud-config"), None),
            Part::new(String::new(), None, Some("part-handler.py")),
            Part::new("--=====\n\n--x".to_owned(), None, None),
        ];
        let message = written(&parts);
        assert!(message.starts_with("Content-Type: multipart/mixed; boundary=\"==============="));
        assert_eq!(parts_of(&message), parts);
        assert_eq!(parts_of(&message.replace('\n', "\r\n")), parts);
        assert_eq!(written(&parts), message);
        assert_eq!(parts[2].subtype, "part-handler");
    }

    #[test]
    fn what_is_no_message_has_no_parts() {
        for text in ["", "no message", "a: b\n\nbody", "Content-Type: text/plain\n\nbody"] {
            assert!(parts_of(text).is_empty(), "{text}");
        }
    }
}
