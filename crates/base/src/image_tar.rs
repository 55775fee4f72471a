//! Container images as files: the tar stream that `docker save` makes.
//!
//! Only the small documents inside are of interest: which image there is, and the names that came with
//! it. Names are taken away before an engine takes the file in: otherwise whoever made the file could have
//! any name on the node mean another image. They are taken away in place, each document padded to its old
//! length, so that nothing of a large file is copied; the layers, which the image's configuration knows by
//! digest, are not touched. When this is interrupted, documents that were done stay done.
//!
//! An engine has a reader of its own, and what that finds is what counts. So a file that two readers could
//! understand differently is refused: a document under a name that is not plainly its own, a link where a
//! document belongs, content where none belongs, holes, extended headers that are not well formed.

use std::io::{self, Read, Seek, SeekFrom, Write};

use serde_json::Value;

pub(crate) const BLOCK: usize = 512;
/// The most that a document inside may be.
const DOCUMENT_MAX: u64 = 4 << 20;
/// The most that is looked at; an image has a few entries for each of its layers.
const ENTRIES_MAX: usize = 100_000;

/// The most that a header about the next entry may be.
const HEADER_MAX: u64 = 1 << 20;

const MANIFEST: &str = "manifest.json";
const REPOSITORIES: &str = "repositories";
const INDEX: &str = "index.json";
const DOCUMENTS: [&str; 3] = [MANIFEST, REPOSITORIES, INDEX];
/// How image layouts carry names.
const NAMING: [&str; 2] = ["io.containerd.image.name", "org.opencontainers.image.ref.name"];

#[derive(Debug, thiserror::Error)]
pub enum ImageTarError {
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
    #[error(
        "it is compressed; give the plain file that `docker save` makes, so that of the next version only what changed has to travel"
    )]
    Compressed,
    #[error("it is no image: {0}; make the file with `docker save IMAGE`")]
    NoImage(&'static str),
    #[error("it holds {0} images; save one at a time")]
    Several(usize),
}

/// An image in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageTar {
    /// Names that came with it, such as `debian:12`.
    pub names: Vec<String>,
}

/// What image a file holds.
pub fn look(file: &mut (impl Read + Seek)) -> Result<ImageTar, ImageTarError> {
    let documents = documents(file)?;
    let manifest = documents.iter().rfind(|document| document.name == MANIFEST);
    let manifest = manifest.ok_or(ImageTarError::NoImage("it has no manifest.json"))?;
    let Value::Array(images) = &manifest.content else {
        return Err(ImageTarError::NoImage("its manifest.json is no list"));
    };
    let [image] = images.as_slice() else { return Err(ImageTarError::Several(images.len())) };
    let names = image["RepoTags"].as_array().into_iter().flatten();
    Ok(ImageTar { names: names.filter_map(Value::as_str).map(str::to_owned).collect() })
}

/// Takes the names away.
pub fn forget_names(file: &mut (impl Read + Write + Seek)) -> Result<(), ImageTarError> {
    look(file)?;
    for document in documents(file)? {
        let mut text = serde_json::to_vec(&nameless(&document)).map_err(io::Error::from)?;
        if text.len() > document.length {
            return Err(ImageTarError::NoImage(
                "its documents are not as `docker save` writes them",
            ));
        }
        text.resize(document.length, b' ');
        file.seek(SeekFrom::Start(document.offset))?;
        file.write_all(&text)?;
    }
    file.flush()?;
    Ok(())
}

/// The document without names. It is written anew even where there is none in it: a key that is there
/// twice, which one reader overlooks, is there once then.
fn nameless(document: &Document) -> Value {
    let mut content = document.content.clone();
    match document.name.as_str() {
        REPOSITORIES => content = Value::Object(serde_json::Map::new()),
        _ => forget(&mut content),
    }
    content
}

/// Engines do not care how the letters of a key are written, nor here where it stands.
fn forget(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Object(fields) => {
            fields.retain(|key, _| !NAMING.contains(&key.as_str()));
            for (key, field) in fields {
                match key.to_uppercase().as_str() {
                    "REPOTAGS" => *field = Value::Null,
                    _ => forget(field),
                }
            }
        }
        _ => {}
    }
}

struct Document {
    name: String,
    offset: u64,
    length: usize,
    content: Value,
}

fn documents(file: &mut (impl Read + Seek)) -> Result<Vec<Document>, ImageTarError> {
    let broken = || ImageTarError::NoImage("it is no tar file, or breaks off");
    let end = file.seek(SeekFrom::End(0))?;
    let (mut at, mut found, mut said) = (0, Vec::new(), Said::default());
    for _ in 0..ENTRIES_MAX {
        if at >= end {
            return Ok(found);
        }
        let read = content(file, at, BLOCK as u64)?;
        if at == 0 && is_compressed(&read) {
            return Err(ImageTarError::Compressed);
        }
        let header: [u8; BLOCK] = read.try_into().map_err(|_| broken())?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(found);
        }
        if !is_sound(&header) {
            return Err(broken());
        }
        let kind = header[156];
        let is_about_next = matches!(kind, b'x' | b'g' | b'L' | b'K');
        let own_size = number(&header[124..136]).ok_or_else(broken)?;
        let size = if is_about_next { own_size } else { said.size.unwrap_or(own_size) };
        let offset = at + BLOCK as u64;
        at = size
            .checked_next_multiple_of(BLOCK as u64)
            .and_then(|size| size.checked_add(offset))
            .filter(|next| *next <= end)
            .ok_or_else(broken)?;
        if is_about_next {
            if size > HEADER_MAX {
                return Err(ImageTarError::NoImage("a header in it is too long"));
            }
            let bytes = content(file, offset, size)?;
            said.take_in(kind, &bytes).map_err(ImageTarError::NoImage)?;
            continue;
        }
        let said = std::mem::take(&mut said);
        let name = said.long_name.or(said.path).unwrap_or_else(|| name(&header));
        let is_file = matches!(kind, 0 | b'0') && !name.ends_with('/');
        let Some(name) = document(&name, kind, is_file, size).map_err(ImageTarError::NoImage)?
        else {
            continue;
        };
        if size > DOCUMENT_MAX {
            return Err(ImageTarError::NoImage("a document in it is too large"));
        }
        let bytes = content(file, offset, size)?;
        let content = serde_json::from_slice(&bytes)
            .map_err(|_| ImageTarError::NoImage("a document in it is no JSON"))?;
        found.push(Document { name, offset, length: bytes.len(), content });
    }
    Err(ImageTarError::NoImage("it has too many entries"))
}

/// Which document an entry is, if any; `Err` says in words why an engine might see another.
fn document(
    name: &str,
    kind: u8,
    is_file: bool,
    size: u64,
) -> Result<Option<String>, &'static str> {
    let has_content = is_file || !matches!(kind, 0 | b'0'..=b'6');
    if !has_content && size > 0 {
        return Err("an entry has content that it should not have");
    }
    if kind == b'S' {
        return Err("it has sparse files");
    }
    let parts: Vec<&str> =
        name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err("a name in it leads elsewhere");
    }
    let known = parts.last().filter(|last| DOCUMENTS.contains(*last));
    match (known, parts.len()) {
        (None, _) => Ok(None),
        (Some(known), 1) if is_file => Ok(Some((*known).to_owned())),
        (Some(_), 1) => Err("a document in it is no plain file"),
        (Some(_), _) => Err("a document in it is not where it belongs"),
    }
}

/// What headers before an entry say about it.
#[derive(Default)]
struct Said {
    /// As GNU tar writes it; this one wins.
    long_name: Option<String>,
    path: Option<String>,
    size: Option<u64>,
}

impl Said {
    fn take_in(&mut self, kind: u8, bytes: &[u8]) -> Result<(), &'static str> {
        match kind {
            b'L' => {
                let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
                self.long_name = Some(String::from_utf8_lossy(name).into_owned());
            }
            b'x' => (self.path, self.size) = extended(bytes)?,
            b'g' => *self = Said::default(),
            _ => {}
        }
        Ok(())
    }
}

/// What an extended header says of the next entry's name and size: `LENGTH key=value\n`, any number of them.
fn extended(records: &[u8]) -> Result<(Option<String>, Option<u64>), &'static str> {
    const BROKEN: &str = "a header in it is broken";
    let (mut path, mut size, mut rest) = (None, None, records);
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ').ok_or(BROKEN)?;
        let length = std::str::from_utf8(&rest[..space]).ok().and_then(|text| text.parse().ok());
        let length: usize =
            length.filter(|n| (space + 2..=rest.len()).contains(n)).ok_or(BROKEN)?;
        let (record, after) = rest.split_at(length);
        let pair = record[space + 1..].strip_suffix(b"\n").ok_or(BROKEN)?;
        let equals = pair.iter().position(|byte| *byte == b'=').ok_or(BROKEN)?;
        let (key, value) = (&pair[..equals], &pair[equals + 1..]);
        match key {
            b"path" if value.contains(&0) => return Err(BROKEN),
            b"path" => path = Some(String::from_utf8_lossy(value).into_owned()),
            b"size" => {
                let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                size = Some(number.ok_or(BROKEN)?);
            }
            key if key.starts_with(b"GNU.sparse.") => return Err("it has sparse files"),
            _ => {}
        }
        rest = after;
    }
    Ok((path, size))
}

fn content(file: &mut (impl Read + Seek), offset: u64, size: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.by_ref().take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn is_compressed(header: &[u8]) -> bool {
    let magics: [&[u8]; 4] = [b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"];
    magics.iter().any(|magic| header.starts_with(magic))
}

/// Whether a header is what its checksum says.
pub(crate) fn is_sound(header: &[u8; BLOCK]) -> bool {
    let sum = header.iter().enumerate().map(|(i, byte)| match i {
        148..156 => u64::from(b' '),
        _ => u64::from(*byte),
    });
    number(&header[148..156]) == Some(sum.sum())
}

fn name(header: &[u8; BLOCK]) -> String {
    let text = |field: &[u8]| {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    match header[257..262] == *b"ustar" && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    }
}

/// A number in a header: octal digits, or bytes where the first bit says so.
fn number(field: &[u8]) -> Option<u64> {
    if field.first().is_some_and(|byte| byte & 0x80 != 0) {
        let (high, low) = field.split_at(field.len().checked_sub(8)?);
        let is_small = high.iter().skip(1).all(|byte| *byte == 0);
        return is_small.then(|| u64::from_be_bytes(low.try_into().unwrap_or_default()));
    }
    let text = std::str::from_utf8(field).ok()?.trim_matches(|c: char| c == ' ' || c == '\0');
    u64::from_str_radix(text, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = kind;
        header[257..262].copy_from_slice(b"ustar");
        header[148..156].fill(b' ');
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let mut bytes = header.to_vec();
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    fn tar(entries: &[(&str, &str)]) -> Cursor<Vec<u8>> {
        let mut bytes: Vec<u8> =
            entries.iter().flat_map(|(name, text)| entry(name, b'0', text.as_bytes())).collect();
        bytes.resize(bytes.len() + 2 * BLOCK, 0);
        Cursor::new(bytes)
    }

    const ONE: &str = r#"[{"Config":"a.json","RepoTags":["debian:12","x/y:1"],"Layers":["l"]}]"#;

    #[test]
    fn names_are_found_and_taken_away() {
        let index = r#"{"manifests":[{"digest":"d","annotations":{"io.containerd.image.name":"debian:12","k":"v"}}]}"#;
        let repositories = r#"{"debian":{"12":"aa"}}"#;
        let layer = "manifest.json debian:12".repeat(100);
        let mut file = tar(&[
            ("l", &layer),
            ("./manifest.json", ONE),
            ("repositories", repositories),
            ("index.json", index),
        ]);
        let before = file.get_ref().len();
        assert_eq!(look(&mut file).unwrap().names, ["debian:12", "x/y:1"]);
        forget_names(&mut file).unwrap();
        assert_eq!(file.get_ref().len(), before);
        assert_eq!(look(&mut file).unwrap().names, [""; 0]);
        let after = documents(&mut file).unwrap();
        assert_eq!(after[0].content[0]["Config"], "a.json");
        assert_eq!(after[1].content, serde_json::json!({}));
        assert_eq!(after[2].content["manifests"][0]["annotations"], serde_json::json!({"k": "v"}));
        let text = String::from_utf8_lossy(file.get_ref()).into_owned();
        assert_eq!(text.matches("debian:12").count(), 100, "layers are as they were");
        let once = file.get_ref().clone();
        forget_names(&mut file).unwrap();
        assert_eq!(*file.get_ref(), once);
    }

    #[test]
    fn what_is_no_image_is_told() {
        let two = format!("[{0},{0}]", &ONE[1..ONE.len() - 1]);
        assert!(matches!(look(&mut tar(&[(MANIFEST, &two)])), Err(ImageTarError::Several(2))));
        assert!(matches!(look(&mut tar(&[(MANIFEST, "[]")])), Err(ImageTarError::Several(0))));
        for bad in [tar(&[]), tar(&[("a", "b")]), tar(&[(MANIFEST, "{")]), tar(&[(MANIFEST, "{}")])]
        {
            assert!(matches!(look(&mut bad.clone()), Err(ImageTarError::NoImage(_))));
        }
        for length in [3, 600] {
            let gzip = [b"\x1f\x8b".as_slice(), &vec![7; length]].concat();
            assert!(matches!(look(&mut Cursor::new(gzip)), Err(ImageTarError::Compressed)));
        }
        for text in ["", "short", &"x".repeat(2000)] {
            let mut file = Cursor::new(text.as_bytes().to_vec());
            assert!(look(&mut file).is_err());
        }
        let mut cut = tar(&[("l", "long"), (MANIFEST, ONE)]).into_inner();
        cut.truncate(3 * BLOCK + 10);
        assert!(look(&mut Cursor::new(cut)).is_err());
    }

    #[test]
    fn sizes_may_stand_before_an_entry() {
        let said = b"18 size=123456789\n12 path=abc\n";
        assert_eq!(extended(said), Ok((Some("abc".to_owned()), Some(123_456_789))));
        for broken in ["19 size=123456789\n", "0 a=b\n", "6 a=b", "5 ab\n", "x", "10 size=-1\n"] {
            assert!(extended(broken.as_bytes()).is_err(), "{broken}");
        }
        let mut bytes = entry("x", b'x', said);
        bytes.extend(entry(MANIFEST, b'0', ONE.as_bytes()));
        assert!(look(&mut Cursor::new(bytes)).is_err(), "it cannot be that large");
        let mut field = [0; 12];
        field[0] = 0x80;
        field[11] = 9;
        assert_eq!(number(&field), Some(9));
        assert_eq!(number(b"0000017\0"), Some(15));
        assert_eq!(number(b"00008"), None);
    }

    /// Files in which an engine would find a document, with names in it, that was not looked at.
    #[test]
    fn a_document_that_only_an_engine_would_see_is_refused() {
        let evil = ONE.as_bytes();
        let pax = |records: &str| entry("p", b'x', records.as_bytes());
        let with_size = |name: &str, kind: u8, size: usize, inside: Vec<u8>| {
            let mut bytes = entry(name, kind, &vec![0; size]);
            bytes.truncate(BLOCK);
            bytes.extend(inside);
            bytes
        };
        let hidden = entry(MANIFEST, b'0', evil);
        let cases: Vec<(&str, Vec<u8>)> = vec![
            ("above", entry("a/../manifest.json", b'0', evil)),
            ("below", entry("d/manifest.json", b'0', evil)),
            ("a link", entry(MANIFEST, b'2', b"")),
            ("a hard link", entry(MANIFEST, b'1', b"")),
            ("contiguous", entry(MANIFEST, b'7', evil)),
            ("sparse", entry("s", b'S', evil)),
            ("sparse by header", [pax("22 GNU.sparse.major=1\n"), entry("a", b'0', b"")].concat()),
            ("in a link", with_size("l", b'2', hidden.len(), hidden.clone())),
            ("in a directory", with_size("d/", b'0', hidden.len(), hidden.clone())),
            ("in a pipe", with_size("p", b'6', hidden.len(), hidden.clone())),
            ("a broken header", [pax("99 path=manifest.json\n"), entry("a", b'0', evil)].concat()),
        ];
        let plain = entry(MANIFEST, b'0', b"[{\"RepoTags\":null}]");
        for (name, case) in cases {
            for mut file in [
                Cursor::new([plain.clone(), case.clone()].concat()),
                Cursor::new([case.clone(), plain.clone()].concat()),
            ] {
                let refused = look(&mut file);
                assert!(matches!(refused, Err(ImageTarError::NoImage(_))), "{name}: {refused:?}");
                assert!(forget_names(&mut file).is_err(), "{name}");
            }
        }
        // Under another spelling of its own name it is looked at like any other.
        let long = [entry("L", b'L', b"./manifest.json\0"), entry("a", b'0', evil)].concat();
        let extended = [pax("22 path=manifest.json\n"), entry("a", b'0', evil)].concat();
        let comment = "35 comment=x\n22 path=nothing.json\n\n";
        let in_comment = [pax(comment), entry(MANIFEST, b'0', evil)].concat();
        for bytes in [long, extended, in_comment, entry("/./manifest.json", b'0', evil)] {
            let mut file = Cursor::new([plain.clone(), bytes].concat());
            assert_eq!(look(&mut file).unwrap().names, ["debian:12", "x/y:1"]);
            forget_names(&mut file).unwrap();
            assert!(!String::from_utf8_lossy(file.get_ref()).contains("debian:12"));
        }
    }

    #[test]
    fn names_are_taken_away_however_they_are_written() {
        let manifests = [
            r#"[{"repotags":["debian:12"],"RepoTags":[]}]"#,
            r#"[{"REPOTAGS":["debian:12"]}]"#,
            r#"[{"RepoTag\u017f":["debian:12"]}]"#,
            r#"[{"RepoTags":["debian:12"],"RepoTags":null}]"#,
        ];
        let annotated = r#"{"io.containerd.image.name":"debian:12"}"#;
        let indexes = [
            format!(r#"{{"Manifests":[{{"Annotations":{annotated}}}]}}"#),
            format!(r#"{{"manifests":[{{"annotations":{annotated},"annotations":{{}}}}]}}"#),
        ];
        for manifest in manifests {
            for index in &indexes {
                let mut file = tar(&[(MANIFEST, manifest), (INDEX, index)]);
                forget_names(&mut file).unwrap();
                let text = String::from_utf8_lossy(file.get_ref()).into_owned();
                assert!(!text.contains("debian:12"), "{text}");
            }
        }
    }
}
