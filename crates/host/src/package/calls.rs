//! What each manager is told: a table.

use std::time::Duration;

use super::Manager;
use crate::call::Call;

const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Keep what somebody changed; wait for whoever else holds the lock.
const APT: &[&str] = &[
    "-q",
    "-y",
    "-o",
    "Dpkg::Options::=--force-confdef",
    "-o",
    "Dpkg::Options::=--force-confold",
    "-o",
    "DPkg::Lock::Timeout=300",
];

fn changing(manager: Manager) -> Call {
    let call = Call::new(manager.program()).privileged().timeout(TIMEOUT);
    match manager {
        Manager::Apt => call.env("DEBIAN_FRONTEND", "noninteractive").args(APT.iter().copied()),
        Manager::Dnf | Manager::Yum => call.args(["-q", "-y"]),
        Manager::Zypper => call.args(["--non-interactive", "--quiet"]),
        Manager::Pacman | Manager::Apk => call,
    }
}

pub fn update(manager: Manager) -> Call {
    let call = changing(manager);
    match manager {
        Manager::Apt | Manager::Apk => call.arg("update"),
        Manager::Dnf | Manager::Yum => call.arg("makecache"),
        Manager::Pacman => call.arg("-Sy"),
        Manager::Zypper => call.arg("refresh"),
    }
}

pub fn install(manager: Manager, names: &[String]) -> Call {
    let call = changing(manager);
    let call = match manager {
        Manager::Apt | Manager::Dnf | Manager::Yum | Manager::Zypper => call.arg("install"),
        Manager::Pacman => call.args(["-S", "--noconfirm", "--needed"]),
        Manager::Apk => call.arg("add"),
    };
    call.args(names)
}

pub fn install_local(manager: Manager, path: &str, is_untrusted: bool) -> Call {
    let call = changing(manager);
    let call = match (manager, is_untrusted) {
        (Manager::Apt, true) => call.args(["--allow-unauthenticated", "install"]),
        (Manager::Apt, false) => call.arg("install"),
        (Manager::Dnf | Manager::Yum, true) => call.args(["--nogpgcheck", "install"]),
        (Manager::Dnf | Manager::Yum, false) => call.arg("install"),
        (Manager::Zypper, true) => call.args(["--no-gpg-checks", "install"]),
        (Manager::Zypper, false) => call.arg("install"),
        (Manager::Pacman, _) => call.args(["-U", "--noconfirm"]),
        (Manager::Apk, true) => call.args(["add", "--allow-untrusted"]),
        (Manager::Apk, false) => call.arg("add"),
    };
    call.arg(path)
}

pub fn remove(manager: Manager, names: &[String], is_purge: bool) -> Call {
    let call = changing(manager);
    let call = match (manager, is_purge) {
        (Manager::Apt, true) => call.arg("purge"),
        (Manager::Apt | Manager::Dnf | Manager::Yum | Manager::Zypper, _) => call.arg("remove"),
        (Manager::Pacman, true) => call.args(["-Rn", "--noconfirm"]),
        (Manager::Pacman, false) => call.args(["-R", "--noconfirm"]),
        (Manager::Apk, true) => call.args(["del", "--purge"]),
        (Manager::Apk, false) => call.arg("del"),
    };
    call.args(names)
}

pub fn upgrade(manager: Manager) -> Call {
    let call = changing(manager);
    match manager {
        Manager::Apt | Manager::Dnf | Manager::Apk => call.arg("upgrade"),
        Manager::Yum | Manager::Zypper => call.arg("update"),
        Manager::Pacman => call.args(["-Su", "--noconfirm"]),
    }
}

/// Those that are installed are brought up to date, and no others.
pub fn upgrade_some(manager: Manager, names: &[String]) -> Call {
    let call = changing(manager);
    let call = match manager {
        Manager::Apt => call.args(["install", "--only-upgrade"]),
        Manager::Dnf => call.arg("upgrade"),
        Manager::Yum | Manager::Zypper => call.arg("update"),
        Manager::Pacman => call.args(["-S", "--noconfirm", "--needed"]),
        Manager::Apk => call.args(["add", "--upgrade"]),
    };
    call.args(names)
}

pub fn clean(manager: Manager) -> Call {
    let call = changing(manager);
    match manager {
        Manager::Apt => call.arg("clean"),
        Manager::Dnf | Manager::Yum => call.args(["clean", "all"]),
        Manager::Pacman => call.args(["-Scc", "--noconfirm"]),
        Manager::Zypper => call.args(["clean", "--all"]),
        Manager::Apk => call.args(["cache", "clean"]),
    }
}

/// The names are for managers that have to be told.
pub fn autoremove(manager: Manager, names: &[String]) -> Call {
    let call = changing(manager);
    match manager {
        Manager::Apt | Manager::Dnf | Manager::Yum => call.arg("autoremove"),
        Manager::Pacman => call.args(["-Rns", "--noconfirm"]).args(names),
        Manager::Zypper => call.args(["remove", "--clean-deps"]).args(names),
        Manager::Apk => call.arg("del").args(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(call: Call) -> String {
        assert!(call.is_privileged && call.timeout == TIMEOUT);
        call.argv().join(" ").replace(&APT.join(" "), "APT")
    }

    #[test]
    fn every_manager_is_told_the_same() {
        let names = ["a".to_owned(), "b".to_owned()];
        let table = [
            (
                Manager::Apt,
                [
                    "apt-get APT update",
                    "apt-get APT install a b",
                    "apt-get APT remove a b",
                    "apt-get APT purge a b",
                    "apt-get APT upgrade",
                    "apt-get APT clean",
                    "apt-get APT autoremove",
                    "apt-get APT install /p",
                    "apt-get APT --allow-unauthenticated install /p",
                ],
            ),
            (
                Manager::Dnf,
                [
                    "dnf -q -y makecache",
                    "dnf -q -y install a b",
                    "dnf -q -y remove a b",
                    "dnf -q -y remove a b",
                    "dnf -q -y upgrade",
                    "dnf -q -y clean all",
                    "dnf -q -y autoremove",
                    "dnf -q -y install /p",
                    "dnf -q -y --nogpgcheck install /p",
                ],
            ),
            (
                Manager::Yum,
                [
                    "yum -q -y makecache",
                    "yum -q -y install a b",
                    "yum -q -y remove a b",
                    "yum -q -y remove a b",
                    "yum -q -y update",
                    "yum -q -y clean all",
                    "yum -q -y autoremove",
                    "yum -q -y install /p",
                    "yum -q -y --nogpgcheck install /p",
                ],
            ),
            (
                Manager::Pacman,
                [
                    "pacman -Sy",
                    "pacman -S --noconfirm --needed a b",
                    "pacman -R --noconfirm a b",
                    "pacman -Rn --noconfirm a b",
                    "pacman -Su --noconfirm",
                    "pacman -Scc --noconfirm",
                    "pacman -Rns --noconfirm a b",
                    "pacman -U --noconfirm /p",
                    "pacman -U --noconfirm /p",
                ],
            ),
            (
                Manager::Zypper,
                [
                    "zypper --non-interactive --quiet refresh",
                    "zypper --non-interactive --quiet install a b",
                    "zypper --non-interactive --quiet remove a b",
                    "zypper --non-interactive --quiet remove a b",
                    "zypper --non-interactive --quiet update",
                    "zypper --non-interactive --quiet clean --all",
                    "zypper --non-interactive --quiet remove --clean-deps a b",
                    "zypper --non-interactive --quiet install /p",
                    "zypper --non-interactive --quiet --no-gpg-checks install /p",
                ],
            ),
            (
                Manager::Apk,
                [
                    "apk update",
                    "apk add a b",
                    "apk del a b",
                    "apk del --purge a b",
                    "apk upgrade",
                    "apk cache clean",
                    "apk del a b",
                    "apk add /p",
                    "apk add --allow-untrusted /p",
                ],
            ),
        ];
        for (manager, expected) in table {
            let said = [
                update(manager),
                install(manager, &names),
                remove(manager, &names, false),
                remove(manager, &names, true),
                upgrade(manager),
                clean(manager),
                autoremove(manager, &names),
                install_local(manager, "/p", false),
                install_local(manager, "/p", true),
            ];
            assert_eq!(said.map(words), expected, "{manager}");
        }
        let some = Manager::ALL.map(|manager| words(upgrade_some(manager, &names)));
        assert_eq!(
            some,
            [
                "apt-get APT install --only-upgrade a b",
                "dnf -q -y upgrade a b",
                "yum -q -y update a b",
                "pacman -S --noconfirm --needed a b",
                "zypper --non-interactive --quiet update a b",
                "apk add --upgrade a b",
            ]
        );
        let apt = update(Manager::Apt);
        assert!(apt.env.contains(&("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())));
    }
}
