//! What is left out of a backup: `*` and `?` stand for anything within one name.

/// Patterns of names, and of whole paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns {
    names: Vec<Vec<u8>>,
    paths: Vec<Vec<u8>>,
}

impl Patterns {
    /// A pattern with a `/` in it is of the whole path.
    pub fn new(patterns: &[String]) -> Patterns {
        let mut all = Patterns::default();
        for pattern in patterns {
            match pattern.contains('/') {
                true => all.paths.push(hostler_model::node_backup::path_within(pattern)),
                false => all.names.push(pattern.clone().into_bytes()),
            }
        }
        all
    }

    /// `path` is without the `/` in front.
    pub fn fits(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        self.names.iter().any(|pattern| fits(pattern, name))
            || self.paths.iter().any(|pattern| path_fits(pattern, path))
    }
}

fn path_fits(pattern: &[u8], path: &[u8]) -> bool {
    let mut names = path.split(|byte| *byte == b'/');
    let mut parts = pattern.split(|byte| *byte == b'/');
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some(part), Some(name)) if fits(part, name) => {}
            _ => return false,
        }
    }
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // Where to go on when what follows the last star does not fit after all.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, eaten)) => {
                    star = Some((at, eaten + 1));
                    p = at + 1;
                    n = eaten + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_whole_paths_are_left_out() {
        let out =
            |pattern: &str, path: &str| Patterns::new(&[pattern.to_owned()]).fits(path.as_bytes());
        for (pattern, path) in [
            ("*.tmp", "srv/a/b.tmp"),
            ("*.tmp", "srv/.b.tmp"),
            ("cache", "home/x/cache"),
            ("/srv/*/cache", "srv/a/cache"),
            ("/srv/a", "srv/a"),
            ("srv/a?/x", "srv/ab/x"),
            ("*", "anything"),
        ] {
            assert!(out(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.tmp", "srv/tmp"),
            ("/srv/*", "srv/a/b"),
            ("/srv/*", "srv"),
            ("/a", "srv/a"),
            ("cache", "home/cache2"),
        ] {
            assert!(!out(pattern, path), "{pattern} {path}");
        }
        assert!(!out(&"*a".repeat(30), &"a".repeat(2000).replace("aa", "ab")));
    }
}
