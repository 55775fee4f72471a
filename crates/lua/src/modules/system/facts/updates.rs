//! What package managers say beside names and versions: which newer ones wait, and what a package is.
//!
//! Only what the machine knows already is looked at; nothing is fetched.

use hostler_host::package::{self, Manager};
use hostler_host::{Call, Host};
use serde::Serialize;

use crate::modules::system::machine::Trouble;

/// A newer version that waits.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Update {
    name: String,
    version: String,
}

/// What a package is.
#[derive(Debug, Default, PartialEq)]
pub(super) struct About {
    pub architecture: Option<String>,
    pub description: Option<String>,
}

pub(super) async fn waiting(host: &Host, manager: Manager) -> Result<Vec<Update>, Trouble> {
    let words: &[&str] = match manager {
        Manager::Apt => &["apt", "list", "--upgradable"],
        Manager::Dnf => &["dnf", "--cacheonly", "--quiet", "check-update"],
        Manager::Yum => &["yum", "--cacheonly", "--quiet", "check-update"],
        Manager::Pacman => &["pacman", "-Qu"],
        Manager::Zypper => &["zypper", "--no-refresh", "--quiet", "list-updates"],
        Manager::Apk => &["apk", "list", "--upgradable"],
    };
    if !host.has(words[0]) {
        return Ok(Vec::new());
    }
    // Some of them say with their exit code that there is something.
    let ended = host.attempt(Call::new(words[0]).args(words[1..].iter().copied())).await?;
    Ok(ended.text().lines().filter_map(|line| update(manager, line)).collect())
}

fn update(manager: Manager, line: &str) -> Option<Update> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, version) = match (manager, words.as_slice()) {
        // vim/stable 2:9.1 amd64 [upgradable from: 2:9.0]
        (Manager::Apt, [name, version, _, "[upgradable", ..]) => {
            (name.split('/').next()?, *version)
        }
        // vim.x86_64  2:9.1-1  updates
        (Manager::Dnf | Manager::Yum, [name, version, _]) if name.contains('.') => {
            (name.rsplit_once('.')?.0, *version)
        }
        // vim 9.0-1 -> 9.1-1
        (Manager::Pacman, [name, _, "->", version, ..]) => (*name, *version),
        // v | Updates | vim | 9.0-1 | 9.1-1 | x86_64
        (Manager::Zypper, ["v", "|", ..]) => {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (*cells.get(2)?, *cells.get(4)?)
        }
        // vim-9.1-r0 x86_64 {vim} (Vim) [upgradable from: vim-9.0-r0]
        (Manager::Apk, [full, .., "[upgradable", "from:", _]) => {
            let (rest, release) = full.rsplit_once('-')?;
            let (name, version) = rest.rsplit_once('-')?;
            return Some(Update { name: name.to_owned(), version: format!("{version}-{release}") });
        }
        _ => return None,
    };
    Some(Update { name: name.to_owned(), version: version.to_owned() })
}

pub(super) async fn about(host: &Host, name: &str) -> Result<About, Trouble> {
    Ok(read(&package::info(host, name).await.unwrap_or_default()))
}

fn read(text: &str) -> About {
    let field = |names: &[&str]| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is = names.iter().any(|known| known.eq_ignore_ascii_case(name.trim()));
            (is && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    About {
        architecture: field(&["Architecture", "Arch"]),
        description: field(&["Description", "Description-en", "Summary"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manager_is_understood() {
        for (manager, line) in [
            (Manager::Apt, "vim/stable,now 9.1-1 amd64 [upgradable from: 2:9.0]"),
            (Manager::Dnf, "vim.x86_64      9.1-1      updates"),
            (Manager::Yum, "vim.noarch 9.1-1 base"),
            (Manager::Pacman, "vim 9.0-1 -> 9.1-1"),
            (Manager::Zypper, "v | Updates | vim  | 9.0-1 | 9.1-1 | x86_64"),
            (Manager::Apk, "vim-9.1-1 x86_64 {vim} (Vim) [upgradable from: vim-9.0-r0]"),
        ] {
            let expected = Update { name: "vim".into(), version: "9.1-1".into() };
            assert_eq!(update(manager, line), Some(expected), "{line}");
        }
        assert_eq!(update(Manager::Apt, "Listing... Done"), None);
        assert_eq!(
            update(Manager::Zypper, "S | Repository | Name | Current | Available | Arch"),
            None
        );
        assert_eq!(update(Manager::Dnf, "Obsoleting Packages"), None);
    }

    #[test]
    fn what_a_package_is_stands_in_its_fields() {
        let about = read("Package: vim\nArchitecture: amd64\nDescription: an editor\n more\n");
        assert_eq!(about.architecture.as_deref(), Some("amd64"));
        assert_eq!(about.description.as_deref(), Some("an editor"));
        assert_eq!(read("Summary     : an editor").description.as_deref(), Some("an editor"));
        assert_eq!(read("nothing"), About::default());
    }
}
