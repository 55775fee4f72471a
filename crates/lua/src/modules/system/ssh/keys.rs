//! Keys: pairs of them, and those that let people in.

use std::path::{Path, PathBuf};

use hostler_host::authorized_keys::{self, AuthorizedKey, Key};
use hostler_host::{Change, Host, Outcome};
use mlua::{Lua, MultiValue};
use serde_json::{Map, Value as Json, json};

use super::client::{SHORT, started};
use crate::modules::system::given::Given;
use crate::modules::system::machine::{Trouble, asking, changing, done, troubled, wanted};
use crate::modules::{Installer, Order, acting};

pub(super) fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    for (name, is_present) in [("add_authorized_key", true), ("remove_authorized_key", false)] {
        changing(
            module,
            name,
            "user key; comment options",
            move |given: Given, host: Host| async move {
                let key = AuthorizedKey {
                    user: given.text("user")?,
                    key: given.text("key")?,
                    comment: given.maybe("comment")?,
                    options: given.maybe("options")?,
                };
                wanted(&host, is_present, &key).await
            },
        )?;
    }
    asking(module, "list_authorized_keys", "user", |given: Given, host: Host| async move {
        let shown = |key: &Key| json!({ "type": key.kind, "key": key.key, "comment": key.comment, "options": key.options });
        let keys = authorized_keys::list(&host, &given.text("user")?).await?;
        Ok(vec![keys.iter().map(shown).collect()])
    })?;
    asking(module, "key_exists", "user key", |given: Given, host: Host| async move {
        let found =
            authorized_keys::exists(&host, &given.text("user")?, &given.text("key")?).await?;
        Ok(vec![json!(found)])
    })?;
    asking(module, "load_private_key", "path", |given: Given, _| async move {
        Ok(vec![json!(true), load(&given.path("path")?).await?])
    })?;
    module.act_async("generate_keypair", generate)
}

async fn keygen(arguments: &[&str]) -> Result<String, Trouble> {
    let argv = std::iter::once("ssh-keygen").chain(arguments.iter().copied());
    let mut order = Order { program: argv.map(Into::into).collect(), ..Order::default() };
    order.prepare(&acting());
    order.timeout = Some(SHORT);
    let ended = started("ssh-keygen", order).await?;
    match ended.is_success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        false => {
            let said = [&ended.stderr[..], &ended.stdout[..]].concat();
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            Err(Trouble::new(format!("ssh-keygen: {said}")))
        }
    }
}

async fn load(path: &Path) -> Result<Json, Trouble> {
    let shown = path.display().to_string();
    let text = tokio::fs::read(path).await;
    let text = text.map_err(|error| Trouble::new(format!("{shown} cannot be read: {error}")))?;
    if !String::from_utf8_lossy(&text).contains("PRIVATE KEY-----") {
        return Err(Trouble::new(format!(
            "{shown} is no private key; name the file without `.pub`"
        )));
    }
    let said = keygen(&["-l", "-f", &shown]).await?;
    let words: Vec<&str> = said.split_whitespace().collect();
    let [bits, fingerprint, comment @ .., kind] = words.as_slice() else {
        return Err(Trouble::new(format!("ssh-keygen said what cannot be read: {said}")));
    };
    Ok(json!({
        "path": shown,
        "bits": bits.parse::<u32>().unwrap_or_default(),
        "fingerprint": fingerprint,
        "comment": comment.join(" "),
        "type": kind.trim_matches(['(', ')']).to_lowercase(),
    }))
}

async fn generate(lua: Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let given = Given::read("ssh.generate_keypair".into(), "path; type bits comment", args)?;
    match made(&given).await {
        Ok((outcome, fields)) => done(&lua, &outcome, &fields),
        Err(trouble) => troubled(&lua, trouble),
    }
}

async fn made(given: &Given) -> Result<(Outcome, Map<String, Json>), Trouble> {
    let path = given.path("path")?;
    let public = PathBuf::from(format!("{}.pub", path.display()));
    let kind = given.word("type", &["ed25519", "ecdsa", "rsa"])?.unwrap_or("ed25519");
    let shown = path.display().to_string();
    let outcome = if tokio::fs::try_exists(&path).await.unwrap_or(false) {
        Outcome::unchanged(format!("{shown} is there already"))
    } else {
        let diff = vec![Change::added(shown.as_str(), format!("a key of type {kind}"))];
        let message = format!("a pair of keys is made at {shown}");
        if acting().check {
            let message = format!("to be done: {message}");
            acting().say(&message);
            Outcome { changed: true, message, diff, output: String::new() }
        } else {
            if let Some(folder) = path.parent() {
                tokio::fs::create_dir_all(folder).await.map_err(|error| {
                    Trouble::new(format!("{} cannot be made: {error}", folder.display()))
                })?;
            }
            let bits = given.number::<u32>("bits")?.map(|bits| bits.to_string());
            let comment = given.maybe("comment")?.unwrap_or_default();
            let mut arguments = vec!["-q", "-t", kind, "-N", "", "-C", &comment, "-f", &shown];
            if let Some(bits) = &bits {
                arguments.extend(["-b", bits]);
            }
            let output = keygen(&arguments).await?;
            Outcome { changed: true, message, diff, output }
        }
    };
    let text = tokio::fs::read_to_string(&public).await.ok();
    let mut fields = Map::new();
    fields.insert("path".to_owned(), json!(shown));
    fields.insert("public_path".to_owned(), json!(public));
    fields.insert("public_key".to_owned(), json!(text.map(|text| text.trim().to_owned())));
    Ok((outcome, fields))
}
