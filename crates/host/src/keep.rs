//! Directories that are never removed with everything in them, whoever asks: a slip in a path must not cost a
//! machine, a home or the directory somebody works in.

use std::path::{Component, Path, PathBuf};

/// At the top of a machine.
const INDISPENSABLE: &[&str] = &[
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "root", "run",
    "sbin", "srv", "sys", "tmp", "usr", "var",
];
/// Below these, the directories right in them are parts of the system too.
const CROWDED: &[&str] = &["/home", "/usr", "/var", "/lib", "/boot"];

/// Why this directory is not removed, or `None`. `places` are directories that are in use: of whoever asks, where it
/// began, its home; they and those above them stay. Looks at the path as it stands: resolve links first.
pub fn kept_because(path: &Path, places: &[PathBuf]) -> Option<String> {
    let path = plain(path);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_part = match path.parent().map(|above| above.to_str()) {
        None => true,
        Some(Some("/")) => INDISPENSABLE.contains(&name),
        Some(above) => above.is_some_and(|above| CROWDED.contains(&above)),
    };
    if is_part || !path.is_absolute() {
        return Some(format!(
            "{} is not removed, because the machine needs it; name a directory further below",
            path.display()
        ));
    }
    let used = places.iter().map(|place| plain(place)).find(|place| place.starts_with(&path))?;
    Some(match used == path {
        true => format!("{} is not removed, because it is in use", path.display()),
        false => format!(
            "{} is not removed, because {} is in it and in use",
            path.display(),
            used.display()
        ),
    })
}

/// Without `.` and `..`, as far as the words go.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_system_stay() {
        for path in [
            "/",
            "/etc",
            "/etc/",
            "//var",
            "/./etc",
            "/usr",
            "/usr/bin",
            "/usr/local",
            "/var/lib",
            "/home",
            "/boot/efi",
            "/tmp",
            "/tmp/..",
            "/srv/../etc",
            "",
            "etc",
        ] {
            assert!(kept_because(Path::new(path), &[]).is_some(), "{path}");
        }
        for path in ["/srv/app", "/tmp/x", "/data", "/etc/nginx", "/var/lib/app"] {
            assert_eq!(kept_because(Path::new(path), &[]), None, "{path}");
        }
    }

    #[test]
    fn what_is_in_use_stays_with_all_above_it() {
        let places = [PathBuf::from("/srv/app/work")];
        for path in ["/srv/app/work", "/srv/app", "/srv/app/work/."] {
            assert!(kept_because(Path::new(path), &places).is_some(), "{path}");
        }
        for path in ["/srv/app/work/build", "/srv/app/other", "/srv/app/workshop"] {
            assert_eq!(kept_because(Path::new(path), &places), None, "{path}");
        }
    }
}
