//! Container images as files: the tar stream that `docker save` makes.
//!
//! Only the small documents inside are of interest: which image there is, and the names that came with
//! it. Names are taken away before an engine takes the file in: otherwise whoever made the file could have
//! any name on the node mean another image. They are taken away in place, each document padded to its old
//! length, so that nothing of a large file is copied; the layers, which the image's configuration knows by
//! digest, are not touched. When this is interrupted, documents that were done stay done.

use std::io::{self, Read, Seek, SeekFrom, Write};

use serde_json::Value;

pub(crate) const BLOCK: usize = 512;
/// The most that a document inside may be.
const DOCUMENT_MAX: u64 = 4 << 20;
/// The most that is looked at; an image has a few entries for each of its layers.
const ENTRIES_MAX: usize = 100_000;

const MANIFEST: &str = "manifest.json";
const REPOSITORIES: &str = "repositories";
const INDEX: &str = "index.json";
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
        let Some(plain) = nameless(&document) else { continue };
        let mut text = serde_json::to_vec(&plain).map_err(io::Error::from)?;
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

/// The document without names; `None` when it has none.
fn nameless(document: &Document) -> Option<Value> {
    let mut content = document.content.clone();
    match document.name.as_str() {
        MANIFEST => {
            for image in content.as_array_mut()? {
                if let Some(names) = image.get_mut("RepoTags") {
                    *names = Value::Null;
                }
            }
        }
        REPOSITORIES => content = Value::Object(serde_json::Map::new()),
        _ => {
            for manifest in content.get_mut("manifests")?.as_array_mut()? {
                if let Some(Value::Object(notes)) = manifest.get_mut("annotations") {
                    notes.retain(|key, _| !NAMING.contains(&key.as_str()));
                }
            }
        }
    }
    (content != document.content).then_some(content)
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
    let (mut at, mut found, mut next_size) = (0, Vec::new(), None);
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
        let size = match next_size.take() {
            Some(size) => size,
            None => number(&header[124..136]).ok_or_else(broken)?,
        };
        let offset = at + BLOCK as u64;
        at = size
            .checked_next_multiple_of(BLOCK as u64)
            .and_then(|size| size.checked_add(offset))
            .filter(|next| *next <= end)
            .ok_or_else(broken)?;
        let name = name(&header);
        match header[156] {
            b'x' if size <= DOCUMENT_MAX => {
                next_size = extended_size(&content(file, offset, size)?);
            }
            0 | b'0' if [MANIFEST, REPOSITORIES, INDEX].contains(&name.as_str()) => {
                if size > DOCUMENT_MAX {
                    return Err(ImageTarError::NoImage("a document in it is too large"));
                }
                let bytes = content(file, offset, size)?;
                let content = serde_json::from_slice(&bytes)
                    .map_err(|_| ImageTarError::NoImage("a document in it is no JSON"))?;
                found.push(Document { name, offset, length: bytes.len(), content });
            }
            _ => {}
        }
    }
    Err(ImageTarError::NoImage("it has too many entries"))
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
    let whole = match header[257..262] == *b"ustar" && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    };
    whole.trim_start_matches("./").to_owned()
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

/// What an extended header says of the next entry's size: `LENGTH size=NUMBER\n` among others.
fn extended_size(records: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(records);
    let mut sizes = text.lines().filter_map(|line| line.split_once(' ')?.1.strip_prefix("size="));
    sizes.next_back()?.parse().ok()
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
        let mut bytes = entry("x", b'x', b"19 size=123456789\n11 path=abc\n");
        bytes.extend(entry(MANIFEST, b'0', ONE.as_bytes()));
        assert_eq!(extended_size(b"19 size=123456789\n11 path=abc\n"), Some(123_456_789));
        assert!(look(&mut Cursor::new(bytes)).is_err(), "it cannot be that large");
        let mut field = [0; 12];
        field[0] = 0x80;
        field[11] = 9;
        assert_eq!(number(&field), Some(9));
        assert_eq!(number(b"0000017\0"), Some(15));
        assert_eq!(number(b"00008"), None);
    }
}
