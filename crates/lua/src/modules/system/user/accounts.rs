//! Users.

use std::time::Duration;

use hostler_host::accounts::{self, Account, User};
use hostler_host::{Finished, Host, Password, Primitive, is_root};
use mlua::{Lua, MultiValue, Value};
use serde_json::{Value as Json, json};

use crate::modules::exec::result;
use crate::modules::system::given::Given;
use crate::modules::system::machine::{Changing, Trouble, asking, changing, host, json, troubled};
use crate::modules::{Ended, Installer, acting};

/// Programs that run as somebody else end after this.
const RUN_MAX: Duration = Duration::from_secs(3600);

pub(super) fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    changing(
        module,
        "create",
        "username; password password_update uid gid home shell groups exact_groups comment system create_home no_create_home expiry",
        create,
    )?;
    changing(module, "delete", "username remove_home", |given: Given, host: Host| async move {
        let user = User { remove_home: given.is("remove_home")?, ..named(&given)? };
        Ok(user.absent(&host).await?)
    })?;
    changing(
        module,
        "modify",
        "username; uid gid home move_home shell groups exact_groups comment expiry lock unlock",
        modify,
    )?;
    changing(module, "set_shell", "username shell", |given: Given, host: Host| async move {
        altered(&host, User { shell: Some(given.text("shell")?), ..named(&given)? }).await
    })?;
    changing(module, "set_home", "username home move", |given: Given, host: Host| async move {
        let (home, move_home) = (Some(given.text("home")?), given.is("move")?);
        altered(&host, User { home, move_home, ..named(&given)? }).await
    })?;
    changing(module, "set_comment", "username comment", |given: Given, host: Host| async move {
        altered(&host, User { comment: Some(given.text("comment")?), ..named(&given)? }).await
    })?;
    changing(module, "set_expiry", "username date", |given: Given, host: Host| async move {
        altered(&host, User { expiry: Some(given.text("date")?), ..named(&given)? }).await
    })?;
    changing(
        module,
        "set_primary_group",
        "username group",
        |given: Given, host: Host| async move {
            altered(&host, User { gid: Some(given.text("group")?), ..named(&given)? }).await
        },
    )?;
    changing(module, "lock", "username", |given: Given, host: Host| async move {
        Ok(accounts::lock(&host, &given.text("username")?).await?)
    })?;
    changing(module, "unlock", "username", |given: Given, host: Host| async move {
        Ok(accounts::unlock(&host, &given.text("username")?).await?)
    })?;
    changing(module, "set_password", "username password", |given: Given, host: Host| async move {
        let password = Password::new(given.text("password")?);
        Ok(accounts::set_password(&host, &given.text("username")?, &password).await?)
    })?;
    changing(module, "expire_password", "username", |given: Given, host: Host| async move {
        Ok(accounts::expire_password(&host, &given.text("username")?).await?)
    })?;
    looking(module)?;
    module.act_async("run_as", run_as)
}

/// Something that is known about a user.
type Field = fn(&Account) -> Json;

fn looking(module: &mut Installer<'_>) -> mlua::Result<()> {
    asking(module, "exists", "username", |given: Given, host: Host| async move {
        let name = given.text("username")?;
        let is_there = accounts::find_user(&host, &name).await?.is_some();
        let words = if is_there { "there is a user" } else { "there is no user" };
        Ok(vec![json!(is_there), json!(format!("{words} {name}"))])
    })?;
    let fields: [(&'static str, Field); 6] = [
        ("get_info", info),
        ("get_uid", |user| json!(user.uid)),
        ("get_gid", |user| json!(user.gid)),
        ("get_home", |user| json!(user.home)),
        ("get_shell", |user| json!(user.shell)),
        ("get_comment", |user| json!(user.comment)),
    ];
    for (name, field) in fields {
        asking(module, name, "username", move |given: Given, host: Host| async move {
            Ok(vec![field(&found(&given, &host).await?)])
        })?;
    }
    asking(module, "list", "system", |given: Given, host: Host| async move {
        let wanted = given.flag("system")?;
        let mut listed = Vec::new();
        for user in accounts::users(&host).await? {
            let is_system = accounts::is_system_user(&host, &user).await?;
            if wanted.is_none_or(|wanted| wanted == is_system) {
                listed.push(info(&user));
            }
        }
        Ok(vec![Json::Array(listed)])
    })?;
    asking(module, "is_system_user", "username", |given: Given, host: Host| async move {
        let user = found(&given, &host).await?;
        Ok(vec![json!(accounts::is_system_user(&host, &user).await?)])
    })?;
    asking(module, "is_locked", "username", |given: Given, host: Host| async move {
        Ok(vec![json!(accounts::is_locked(&host, &given.text("username")?).await?)])
    })?;
    asking(module, "get_groups", "username", |given: Given, host: Host| async move {
        Ok(vec![json!(accounts::groups_of(&host, &given.text("username")?).await?)])
    })?;
    asking(module, "get_current", "", |_, host: Host| async move {
        Ok(vec![info(&accounts::current(&host).await?)])
    })?;
    asking(module, "is_root", "", |_, _| async move { Ok(vec![json!(is_root())]) })?;
    asking(module, "get_last_login", "username", |given: Given, host: Host| async move {
        let name = given.text("username")?;
        let last = accounts::last_login(&host, &name).await?;
        Ok(vec![json!(last.ok_or_else(|| Trouble::new(format!("{name} never logged in")))?)])
    })?;
    asking(module, "get_failed_logins", "username", |given: Given, host: Host| async move {
        Ok(vec![json(&accounts::failed_logins(&host, &given.text("username")?).await?)])
    })?;
    asking(module, "validate_username", "username", |given: Given, _| async move {
        let name = given.text("username")?;
        Ok(match accounts::validate_username(&name) {
            Ok(()) => vec![json!(true), json!(format!("{name} can be used"))],
            Err(error) => vec![json!(false), json!(error.to_string())],
        })
    })
}

fn named(given: &Given) -> mlua::Result<User> {
    Ok(User::named(given.text("username")?))
}

async fn altered(host: &Host, user: User) -> Result<Changing, Trouble> {
    Ok(user.modify(host).await?.into())
}

async fn found(given: &Given, host: &Host) -> Result<Account, Trouble> {
    let name = given.text("username")?;
    let absent =
        || Trouble::new(format!("there is no user `{name}`; create it first, or check the name"));
    accounts::find_user(host, &name).await?.ok_or_else(absent)
}

fn info(user: &Account) -> Json {
    json!({
        "username": user.username,
        "uid": user.uid,
        "gid": user.gid,
        "name": user.full_name(),
        "home": user.home,
        "shell": user.shell,
        "comment": user.comment,
    })
}

/// What both making and changing are told.
fn described(given: &Given) -> mlua::Result<User> {
    let groups = given.texts("groups")?;
    let groups = groups.iter().flat_map(|names| names.split(',')).map(str::trim);
    Ok(User {
        uid: given.number("uid")?,
        gid: given.maybe("gid")?,
        home: given.maybe("home")?,
        shell: given.maybe("shell")?,
        groups: groups.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        exact_groups: given.is("exact_groups")?,
        comment: given.maybe("comment")?,
        expiry: given.maybe("expiry")?,
        ..named(given)?
    })
}

async fn create(given: Given, host: Host) -> Result<Changing, Trouble> {
    let create_home = match (given.flag("create_home")?, given.is("no_create_home")?) {
        (_, true) => Some(false),
        (told, false) => told,
    };
    let always = given.word("password_update", &["on_create", "always"])? == Some("always");
    let user = User {
        password: given.maybe("password")?.map(Password::new),
        password_update: match always {
            true => accounts::PasswordUpdate::Always,
            false => accounts::PasswordUpdate::OnCreate,
        },
        system: given.is("system")?,
        create_home,
        ..described(&given)?
    };
    let changing = Changing::from(user.present(&host).await?);
    Ok(changing.with("username", user.username.clone()))
}

async fn modify(given: Given, host: Host) -> Result<Changing, Trouble> {
    let locked = match (given.is("lock")?, given.is("unlock")?) {
        (true, true) => return Err(given.misuse("has both `lock` and `unlock`; keep one").into()),
        (true, false) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let user = User { move_home: given.is("move_home")?, locked, ..described(&given)? };
    altered(&host, user).await
}

/// A line is given to the shell of the machine by that program's own argument, not put together from parts.
async fn run_as(lua: Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let given = Given::read("user.run_as".into(), "username command", args)?;
    let name = given.text("username")?;
    let argv = match given.value("command") {
        Value::Table(_) => given.texts("command")?,
        _ => vec!["/bin/sh".to_owned(), "-c".to_owned(), given.text("command")?],
    };
    let finished = if acting().check {
        acting().say(&format!("to be done: as {name}: {}", argv.join(" ")));
        Finished { code: Some(0), ..Finished::default() }
    } else {
        match accounts::run_as(&host(), &name, &argv, RUN_MAX).await {
            Ok(finished) => finished,
            Err(error) => return troubled(&lua, error.into()),
        }
    };
    let ended = Ended {
        status: Some(std::os::unix::process::ExitStatusExt::from_raw(
            finished.code.map_or(9, |code| code << 8),
        )),
        stdout: finished.stdout,
        stderr: finished.stderr,
        lost: 0,
        is_timeout: false,
    };
    mlua::IntoLuaMulti::into_lua_multi((true, result(&lua, &ended)?), &lua)
}
