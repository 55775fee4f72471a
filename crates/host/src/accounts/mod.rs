//! Users, groups, who belongs where, and who may log in.
//!
//! What there is, is read from `/etc/passwd`, `/etc/group` and `/etc/shadow` below the host's root, and
//! where a name is not in them, asked of `getent`, which knows directories too. What changes goes
//! through the programs of shadow-utils (`useradd`, `usermod`, ..), which lock and rebuild what has to
//! be. A password is given to `chpasswd` on its standard input and to nothing else.

mod database;
mod names;

mod group;
mod login;
mod overview;
mod user;

pub use database::{
    Account, GroupEntry, current, find_group, find_user, group_members, groups, groups_of,
    is_system_user, users,
};
pub use group::{Group, Member};
pub use login::{
    FailedLogins, expire_password, failed_logins, is_locked, last_login, lock, run_as,
    set_password, unlock,
};
pub use names::validate_username;
pub use overview::{Profile, profiles};
pub use user::{PasswordUpdate, User};

pub(crate) use database::{group_name, manner_of, user_name};
pub(crate) use names::account_name;

const SHADOW_UTILS: &str =
    "install shadow-utils (the package is `passwd`, `shadow-utils` or `shadow`)";
