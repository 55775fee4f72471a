//! Accounts of this machine: who this process is, and how it becomes somebody else.

use std::collections::BTreeMap;
use std::ffi::CString;

use nix::unistd::{Gid, Uid, User};

/// An account of this machine.
#[derive(Clone, Debug)]
pub struct Account {
    pub name: String,
    user: User,
}

impl Account {
    /// The account of that name; an error says why there is none.
    pub fn find(name: &str) -> Result<Account, String> {
        match User::from_name(name) {
            Ok(Some(user)) => Ok(Account { name: name.to_owned(), user }),
            Ok(None) => Err(format!("there is no user `{name}` on this machine")),
            Err(error) => Err(format!("the user `{name}` cannot be looked up: {}", error.desc())),
        }
    }

    /// Whether this process is of that user already.
    pub fn is_own(&self) -> bool {
        self.user.uid == Uid::effective()
    }

    /// Whether somebody else's process is of that user.
    pub fn is(&self, uid: u32) -> bool {
        self.user.uid.as_raw() == uid
    }

    pub fn ids(&self) -> (u32, u32) {
        (self.user.uid.as_raw(), self.user.gid.as_raw())
    }

    /// What its programs see of themselves.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        BTreeMap::from([
            ("HOME".to_owned(), text(&self.user.dir)),
            ("LOGNAME".to_owned(), self.name.clone()),
            ("SHELL".to_owned(), text(&self.user.shell)),
            ("USER".to_owned(), self.name.clone()),
        ])
    }

    /// Makes this process one of that user, with all groups of it, for ever. Only root can, and only before there
    /// are threads.
    pub fn take_on(&self) -> Result<(), String> {
        let failed =
            |error: nix::errno::Errno| format!("cannot become `{}`: {}", self.name, error.desc());
        let name = CString::new(self.name.as_str()).map_err(|error| error.to_string())?;
        let gid: Gid = self.user.gid;
        nix::unistd::initgroups(&name, gid).map_err(failed)?;
        nix::unistd::setgid(gid).map_err(failed)?;
        nix::unistd::setuid(self.user.uid).map_err(failed)
    }
}

/// Whether this process may become somebody else.
pub fn is_root() -> bool {
    Uid::effective().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_name() {
        let root = Account::find("root").unwrap();
        assert_eq!(root.is_own(), is_root());
        assert!(root.is(0) && root.variables()["USER"] == "root");
        let told = Account::find("nobody-like-this").unwrap_err();
        assert!(told.contains("no user `nobody-like-this`"), "{told}");
    }
}
