//! Finds what a run left, without being led astray. Everything here blocks.
//!
//! A file is taken when it is a plain one and belongs to whom the working directory belongs to, or has
//! no second name: a program that may not read a file of somebody else can give it a second name in its
//! own directory, but must not get it read by the agent.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hostler_model::Output;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::inner;
use super::pattern::{fits, is_pattern};

/// How many files may fit one path.
const FOUND_MAX: usize = 1000;
const ARCHIVED_MAX: usize = 1_000_000;

/// Something that was found.
#[derive(Debug)]
pub enum Found {
    File(File),
    /// A directory, open.
    Directory(OwnedFd),
    /// In words.
    Unfit(String),
}

/// What there is of these outputs, by name.
pub fn gather(work: &Path, outputs: &[Output]) -> io::Result<BTreeMap<String, Found>> {
    let root = inner::open_dir(work)?;
    let owner = rustix::fs::fstat(&root)?.st_uid;
    let mut gathered = BTreeMap::new();
    for output in outputs {
        let parts: Vec<&str> =
            output.path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let mut looking = Looking { owner, found: Vec::new(), is_full: false };
        looking.look(root.try_clone()?, &parts, String::new())?;
        let name = output.name.clone().unwrap_or_else(|| output.path.clone());
        if looking.is_full {
            let why = format!("more than {FOUND_MAX} files fit; keep their directory instead");
            gathered.entry(name).or_insert(Found::Unfit(why));
            continue;
        }
        match looking.found.len() {
            0 => {
                gathered
                    .entry(name)
                    .or_insert_with(|| Found::Unfit("there is no such file".into()));
            }
            1 if !parts.iter().any(|part| is_pattern(part)) => {
                for (_, found) in looking.found {
                    gathered.entry(name.clone()).or_insert(found);
                }
            }
            _ => {
                for (path, found) in looking.found {
                    let name = match &output.name {
                        Some(name) => format!("{name}/{path}"),
                        None => path,
                    };
                    gathered.entry(name).or_insert(found);
                }
            }
        }
    }
    Ok(gathered)
}

struct Looking {
    owner: u32,
    found: Vec<(String, Found)>,
    is_full: bool,
}

impl Looking {
    fn look(&mut self, dir: OwnedFd, parts: &[&str], path: String) -> io::Result<()> {
        let Some((part, rest)) = parts.split_first() else {
            self.found.push((path, Found::Directory(dir)));
            return Ok(());
        };
        let names = match is_pattern(part) {
            true => fitting(&dir, part)?,
            false => vec![(*part).to_owned()],
        };
        for name in names {
            if self.found.len() >= FOUND_MAX {
                self.is_full = true;
                return Ok(());
            }
            let Ok(c_name) = inner::c_string(name.as_ref()) else { continue };
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            if rest.is_empty() {
                let found = self.take(&dir, &c_name);
                self.found.extend(found.map(|found| (path, found)));
            } else if let Ok(inside) = inner::enter(&dir, &c_name) {
                self.look(inside, rest, path)?;
            }
        }
        Ok(())
    }

    fn take(&self, dir: &OwnedFd, name: &CString) -> Option<Found> {
        let kind = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(_) => return None,
        };
        Some(match kind {
            FileType::Directory => match inner::enter(dir, name) {
                Ok(inside) => Found::Directory(inside),
                Err(e) => Found::Unfit(e.to_string()),
            },
            FileType::RegularFile => match open_file(dir, name, self.owner) {
                Ok(file) => Found::File(file),
                Err(e) => Found::Unfit(e.to_string()),
            },
            FileType::Symlink => Found::Unfit("it is a symbolic link".to_owned()),
            _ => Found::Unfit("it is neither a file nor a directory".to_owned()),
        })
    }
}

/// Names in a directory, in order.
fn names(dir: impl AsFd) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let name = std::ffi::OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn fitting(dir: &OwnedFd, pattern: &str) -> io::Result<Vec<String>> {
    let names = names(dir)?.into_iter().filter_map(|name| name.into_string().ok());
    Ok(names.filter(|name| fits(pattern, name)).collect())
}

/// A plain file, which may be read in the name of the directory's owner.
fn open_file(dir: impl AsFd, name: &CString, owner: u32) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no plain file"));
    }
    if stat.st_uid != owner && stat.st_nlink > 1 {
        return Err(io::Error::other("it belongs to somebody else and has a second name"));
    }
    Ok(File::from(fd))
}

/// Writes a directory as a tar archive: directories, plain files and symbolic links as such. What else
/// there is, or cannot be read, is left out.
pub fn archive(dir: &OwnedFd, into: &mut File) -> io::Result<()> {
    let owner = rustix::fs::fstat(dir)?.st_uid;
    let mut builder = tar::Builder::new(io::BufWriter::with_capacity(256 << 10, into));
    let mut left = ARCHIVED_MAX;
    add(&mut builder, dir, &PathBuf::new(), owner, &mut left, 0)?;
    io::Write::flush(builder.get_mut())?;
    builder.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(())
}

fn add(
    builder: &mut tar::Builder<impl io::Write>,
    dir: &OwnedFd,
    path: &Path,
    owner: u32,
    left: &mut usize,
    depth: usize,
) -> io::Result<()> {
    if depth > inner::DEPTH_MAX {
        return Err(io::Error::other("the directory is too deep"));
    }
    for name in names(dir)? {
        *left = left.checked_sub(1).ok_or_else(|| io::Error::other("it has too many files"))?;
        let inside = path.join(&name);
        let Ok(name) = inner::c_string(&name) else { continue };
        let Ok(stat) = rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let Ok(entered) = inner::enter(dir, &name) else { continue };
                let mut header = header_of(&stat, tar::EntryType::Directory, 0);
                builder.append_data(&mut header, &inside, io::empty())?;
                add(builder, &entered, &inside, owner, left, depth + 1)?;
            }
            FileType::RegularFile => {
                let Ok(file) = open_file(dir, &name, owner) else { continue };
                let stat = rustix::fs::fstat(&file)?;
                let size = u64::try_from(stat.st_size).unwrap_or_default();
                let mut header = header_of(&stat, tar::EntryType::Regular, size);
                // As many bytes as were promised, whatever becomes of the file meanwhile.
                let exact = file.take(size).chain(io::repeat(0)).take(size);
                builder.append_data(&mut header, &inside, exact)?;
            }
            FileType::Symlink => {
                let Ok(target) = rustix::fs::readlinkat(dir, &name, Vec::new()) else { continue };
                let target = PathBuf::from(std::ffi::OsStr::from_bytes(target.to_bytes()));
                let mut header = header_of(&stat, tar::EntryType::Symlink, 0);
                builder.append_link(&mut header, &inside, &target)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn header_of(stat: &Stat, kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(stat.st_mode & 0o777);
    header.set_size(size);
    header.set_mtime(u64::try_from(stat.st_mtime).unwrap_or_default());
    header.set_uid(0);
    header.set_gid(0);
    header
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use hostler_model::OutputWhen;

    use super::*;

    fn output(path: &str, name: Option<&str>) -> Output {
        Output { path: path.into(), name: name.map(Into::into), when: OutputWhen::Success }
    }

    fn found(work: &Path, outputs: &[Output]) -> Vec<(String, String)> {
        let words = |found: Found| match found {
            Found::File(mut file) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                text
            }
            Found::Directory(_) => "directory".to_owned(),
            Found::Unfit(why) => format!("! {why}"),
        };
        let gathered = gather(work, outputs).unwrap();
        gathered.into_iter().map(|(name, found)| (name, words(found))).collect()
    }

    fn pair(name: &str, words: &str) -> (String, String) {
        (name.to_owned(), words.to_owned())
    }

    #[test]
    fn outputs_are_found_by_path_and_pattern() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path();
        std::fs::create_dir_all(work.join("out/deep")).unwrap();
        for (path, text) in [("a.txt", "A"), ("out/1.log", "one"), ("out/2.log", "two")] {
            std::fs::write(work.join(path), text).unwrap();
        }
        let all = found(work, &[output("a.txt", None), output("./out//deep", Some("kept"))]);
        assert_eq!(all, [pair("a.txt", "A"), pair("kept", "directory")]);
        let logs = found(work, &[output("out/*.log", None), output("o?t/1*", Some("again"))]);
        let expected =
            [pair("again/out/1.log", "one"), pair("out/1.log", "one"), pair("out/2.log", "two")];
        assert_eq!(logs, expected);
        let missing = found(work, &[output("nothing", None), output("*.nothing", Some("n"))]);
        assert!(missing.iter().all(|(_, words)| words.contains("no such file")), "{missing:?}");
    }

    #[test]
    fn nothing_is_read_through_links() {
        let outer = tempfile::tempdir().unwrap();
        let (work, other) = (outer.path().join("work"), outer.path().join("other"));
        std::fs::create_dir(&work).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("secret"), "secret").unwrap();
        symlink(&other, work.join("dir")).unwrap();
        symlink(other.join("secret"), work.join("file")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            work.join("pipe"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let outputs = [
            output("dir/secret", None),
            output("file", None),
            output("pipe", None),
            output("d*/s*", None),
        ];
        for (name, words) in found(&work, &outputs) {
            assert!(words.starts_with('!'), "{name}: {words}");
        }
        let mut packed = tempfile::tempfile().unwrap();
        std::fs::write(work.join("mine"), "mine").unwrap();
        archive(&inner::open_dir(&work).unwrap(), &mut packed).unwrap();
        io::Seek::rewind(&mut packed).unwrap();
        let mut names = Vec::new();
        for entry in tar::Archive::new(packed).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            names.push((entry.path().unwrap().display().to_string(), text));
        }
        assert_eq!(names, [pair("dir", ""), pair("file", ""), pair("mine", "mine")]);
    }
}
