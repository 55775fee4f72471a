//! What managers answer, read.

use super::ask::{Found, Installed};

/// `name<TAB>version` lines.
pub fn tabbed(text: &str) -> Vec<Installed> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(name, version)| Installed::new(name, version)).collect()
}

/// `name<TAB>version<TAB>state` lines of dpkg; only what is really installed.
pub fn dpkg(text: &str) -> Vec<Installed> {
    let installed = text.lines().filter_map(|line| {
        let mut parts = line.split('\t');
        let (name, version, state) = (parts.next()?, parts.next()?, parts.next()?);
        (state.as_bytes().get(1) == Some(&b'i')).then(|| Installed::new(name, version))
    });
    installed.collect()
}

/// `name version` lines of pacman.
pub fn spaced(text: &str) -> Vec<Installed> {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(name, version)| Installed::new(name, version.trim())).collect()
}

/// `name-1.2-r3` as apk writes it.
pub fn apk_name(word: &str) -> Option<Installed> {
    let mut parts = word.rsplitn(3, '-');
    let (release, version, name) = (parts.next()?, parts.next()?, parts.next()?);
    let is_release = release.strip_prefix('r').is_some_and(|r| r.parse::<u32>().is_ok());
    is_release.then(|| Installed::new(name, format!("{version}-{release}")))
}

/// The first word of every line, as apk writes packages.
pub fn apk(text: &str) -> Vec<Installed> {
    text.lines().filter_map(|line| apk_name(line.split_whitespace().next()?)).collect()
}

/// `name - description` lines of apt-cache and apk.
pub fn dashed(text: &str) -> Vec<Found> {
    let lines = text.lines().filter_map(|line| line.split_once(" - "));
    lines.map(|(name, about)| Found::new(name.trim(), None, about.trim())).collect()
}

pub fn apk_search(text: &str) -> Vec<Found> {
    let found = dashed(text).into_iter().map(|found| match apk_name(&found.name) {
        Some(package) => Found::new(package.name, Some(package.version), found.description),
        None => found,
    });
    found.collect()
}

/// `name.arch : description` lines of dnf and yum.
pub fn dnf_search(text: &str) -> Vec<Found> {
    let found = text.lines().filter(|line| !line.starts_with('=')).filter_map(|line| {
        let (name, about) = line.trim().split_once([':', '\t'])?;
        let name = name.trim();
        let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
        let is_name = !name.is_empty() && !name.contains(' ');
        is_name.then(|| Found::new(name, None, about.trim_start_matches(':').trim()))
    });
    found.collect()
}

/// `repo/name version` lines of pacman, each with an indented description below.
pub fn pacman_search(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for line in text.lines() {
        if line.starts_with(char::is_whitespace) {
            if let Some(last) = found.last_mut() {
                last.description.push_str(line.trim());
            }
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(name), version) = (words.next(), words.next()) else { continue };
        let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
        found.push(Found::new(name, version.map(str::to_owned), ""));
    }
    found
}

/// The columns `S | Name | Summary | Type` of zypper.
pub fn zypper_search(text: &str) -> Vec<Found> {
    let found = text.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        match columns.as_slice() {
            [_, "Name", ..] => None,
            [_, name, about, ..] if !name.is_empty() => Some(Found::new(*name, None, *about)),
            _ => None,
        }
    });
    found.collect()
}

/// Names behind a word at the beginning of lines: `Inst` and `Remv` of apt's simulations.
pub fn apt_simulated(text: &str, word: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    lines.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
}

/// What is there and comes newer.
fn newer(name: &str, before: &str, after: &str) -> Found {
    let before = match before {
        "" => String::new(),
        before => format!("from {before}"),
    };
    Found::new(name, Some(after.to_owned()).filter(|after| !after.is_empty()), before)
}

/// `Inst name [old] (new origin [arch])` lines of apt's simulations.
pub fn apt_updates(text: &str) -> Vec<Found> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("Inst "));
    let found = lines.filter_map(|line| {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let before = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let after = rest.split_once('(').and_then(|(_, rest)| rest.split([' ', ')']).next());
        let before = before.map_or("", |(before, _)| before);
        (!name.is_empty()).then(|| newer(name, before, after.unwrap_or_default()))
    });
    found.collect()
}

/// `name old -> new` lines of pacman.
pub fn pacman_updates(text: &str) -> Vec<Found> {
    let found = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        Some(match (words.next(), words.next(), words.next()) {
            (Some(before), Some("->"), Some(after)) => newer(name, before, after),
            _ => newer(name, "", ""),
        })
    });
    found.collect()
}

/// The columns `S | Repository | Name | Current Version | Available Version | Arch` of zypper.
pub fn zypper_updates(text: &str) -> Vec<Found> {
    let found = text.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        match columns.as_slice() {
            [_, _, "Name", ..] | [_, _, "", ..] => None,
            [_, _, name, before, after, ..] => Some(newer(name, before, after)),
            [_, _, name, ..] => Some(newer(name, "", "")),
            _ => None,
        }
    });
    found.collect()
}

/// `name.arch version repo` lines of dnf and yum.
pub fn dnf_updates(text: &str) -> Vec<Found> {
    let lines = text.lines().take_while(|line| !line.starts_with("Obsoleting"));
    let named = lines.filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [name, after, _] => name.rsplit_once('.').map(|(name, _)| newer(name, "", after)),
            _ => None,
        }
    });
    named.collect()
}

/// The third column of zypper's lists of updates and of what is not needed.
pub fn zypper_names(text: &str) -> Vec<String> {
    let named = text.lines().filter_map(|line| {
        let name = line.split('|').nth(2)?.trim();
        (!name.is_empty() && name != "Name").then(|| name.to_owned())
    });
    named.collect()
}

/// The first word of every line.
pub fn first_words(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// `  Depends: name` lines of apt-cache, alternatives and virtual ones included.
pub fn apt_depends(text: &str) -> Vec<String> {
    let named = text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches('|');
        let name = line.strip_prefix("Depends:").or_else(|| line.strip_prefix("PreDepends:"))?;
        Some(name.trim().trim_matches(['<', '>']).to_owned())
    });
    distinct(named)
}

/// `Depends On : a  b>=2` of pacman.
pub fn pacman_depends(text: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with("Depends On"));
    let words = line.and_then(|line| line.split_once(':')).map_or("", |(_, words)| words);
    distinct(words.split_whitespace().filter(|word| *word != "None").map(bare))
}

/// What `rpm` requires, without what the format of the package itself needs.
pub fn rpm_requires(text: &str) -> Vec<String> {
    let named = text.lines().map(str::trim).filter(|line| !line.is_empty());
    distinct(named.filter(|line| !line.starts_with("rpmlib(")).map(bare))
}

/// The lines below the heading of `apk info -R`.
pub fn apk_depends(text: &str) -> Vec<String> {
    let named = text.lines().filter(|line| !line.ends_with(':')).map(str::trim);
    distinct(named.filter(|line| !line.is_empty()).map(bare))
}

/// A name without the versions it must have.
fn bare(text: &str) -> String {
    text.split(['<', '>', '=', ' ', '~']).next().unwrap_or_default().to_owned()
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !name.is_empty() && !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[Installed]) -> Vec<String> {
        found.iter().map(|f| format!("{} {}", f.name, f.version)).collect()
    }

    fn told(found: &[Found]) -> Vec<String> {
        let version = |f: &Found| f.version.clone().unwrap_or_default();
        found.iter().map(|f| format!("{}|{}|{}", f.name, version(f), f.description)).collect()
    }

    #[test]
    fn installed_packages_are_read() {
        let text = "nginx\t1.2\tii \nold\t1.0\trc \nheld\t3\thi \nbad\n";
        assert_eq!(names(&dpkg(text)), ["nginx 1.2", "held 3"]);
        assert_eq!(names(&tabbed("bash\t5.1-2\npackage x is not installed\n")), ["bash 5.1-2"]);
        assert_eq!(names(&spaced("bash 5.2.1-1\n")), ["bash 5.2.1-1"]);
        let text = "musl-1.2.4-r2 x86_64 {musl} (MIT) [installed]\nalpine-keys-2.4-r1 x\n?\n";
        assert_eq!(names(&apk(text)), ["musl 1.2.4-r2", "alpine-keys 2.4-r1"]);
    }

    #[test]
    fn searches_are_read() {
        assert_eq!(told(&dashed("nginx - small - fast\n")), ["nginx||small - fast"]);
        assert_eq!(told(&apk_search("nginx-1.24-r1 - HTTP\n")), ["nginx|1.24-r1|HTTP"]);
        let text = "==== Name Matched ====\nnginx.x86_64 : A server\n nginx-mod.noarch\tA part\n";
        assert_eq!(told(&dnf_search(text)), ["nginx||A server", "nginx-mod||A part"]);
        let text = "extra/nginx 1.24-1\n    A server\nextra/x 2\n";
        assert_eq!(told(&pacman_search(text)), ["nginx|1.24-1|A server", "x|2|"]);
        let text = "S | Name  | Summary  | Type\n--+---+---+---\ni | nginx | A server | package\n";
        assert_eq!(told(&zypper_search(text)), ["nginx||A server"]);
    }

    #[test]
    fn what_is_pending_is_read() {
        let text = "Inst a [1] (2 x)\nConf a (2)\nRemv b [1]\nInstx\n";
        assert_eq!(apt_simulated(text, "Inst"), ["a"]);
        assert_eq!(apt_simulated(text, "Remv"), ["b"]);
        let text =
            "\nbash.x86_64   5.1   base\nlong line with many words\nObsoleting Packages\nx.y 1 b\n";
        assert_eq!(told(&dnf_updates(text)), ["bash|5.1|"]);
        let text = "S | Repository | Name | Version\n--+--+--+--\nv | base | bash | 5\n";
        assert_eq!(zypper_names(text), ["bash"]);
        assert_eq!(first_words("a 1 -> 2\nb\n\n"), ["a", "b"]);
        assert_eq!(
            told(&apt_updates(
                "Reading\nInst vim [2:9.0-1] (2:9.1-1 Debian:12/stable [amd64])\nInst new (1.0 x [all])\nConf vim (2:9.1-1 x)\nInst odd\n"
            )),
            ["vim|2:9.1-1|from 2:9.0-1", "new|1.0|", "odd||"]
        );
        assert_eq!(told(&pacman_updates("a 1-1 -> 2-1\nb\n\n")), ["a|2-1|from 1-1", "b||"]);
        let text = "S | Repository | Name | Current Version | Available Version | Arch\n--+--+--\nv | oss | bash | 5.1 | 5.2 | x86_64\n";
        assert_eq!(told(&zypper_updates(text)), ["bash|5.2|from 5.1"]);
    }

    #[test]
    fn dependencies_are_read() {
        let text = "nginx\n  Depends: libc6\n |Depends: a\n  Depends: <virtual>\n  Suggests: x\n  PreDepends: libc6\n";
        assert_eq!(apt_depends(text), ["libc6", "a", "virtual"]);
        assert_eq!(
            pacman_depends("Name : x\nDepends On      : glibc  pcre2>=10\n"),
            ["glibc", "pcre2"]
        );
        assert!(pacman_depends("Depends On : None\n").is_empty());
        let text = "libc.so.6()(64bit)\nbash >= 4\nrpmlib(FileDigests) <= 4\n\n";
        assert_eq!(rpm_requires(text), ["libc.so.6()(64bit)", "bash"]);
        assert_eq!(
            apk_depends("nginx-1.2-r0 depends on:\npcre2\nso:libc.musl>=1\n\n"),
            ["pcre2", "so:libc.musl"]
        );
    }
}
