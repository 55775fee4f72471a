//! `notifications`: messages to people.
//!
//! Each service is a table with `send`, which can also be called itself. Addresses with a token in them are secrets: no
//! error tells them.

use std::time::Duration;

use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result, Table, Value};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value as Json, json};

use super::email::{Cover, Letter};
use super::{Described, Installer, Module, acting};
use crate::modules::util::client;
use crate::value::{to_json, words};

pub(crate) const MODULE: Module = Module {
    name: "notifications",
    about: "Messages to people. Every function gives true, or false and what went wrong; `notifications.slack{...}` is the same as `notifications.slack.send{...}`. In check mode nothing is sent.",
    functions: FUNCTIONS,
    install,
};

pub(crate) const NOTIFICATION: Module = Module {
    name: "notification",
    about: "The same as `notifications`.",
    functions: ALIASED,
    install,
};

pub(crate) const NOTIFY: Module =
    Module { name: "notify", about: "The same as `notifications`.", functions: ALIASED, install };

const FUNCTIONS: &[Described] = &[
    Described {
        name: "slack.send",
        signature: "{ webhook_url, message, pipeline, error_details, channel, username } -> true | false, error",
        about: "To a channel of Slack, by its incoming webhook.",
        example: "local ok, err = notifications.slack.send({ webhook_url = 'http://127.0.0.1:9/secret', message = 'deployed' })\nassert(ok == false and err and not err:find('secret'))\nlocal ok, err = notifications.slack.send({ message = 'deployed' })\nassert(not ok and err:find('webhook_url'))",
    },
    Described {
        name: "ntfy.send",
        signature: "{ server = \"https://ntfy.sh\", topic, message, title, priority, tags, token } -> true | false, error",
        about: "To a topic of ntfy.",
        example: "local ok, err = notifications.ntfy.send({ server = 'http://127.0.0.1:9', topic = 'builds', message = 'done' })\nassert(not ok and err)",
    },
    Described {
        name: "webhook.send",
        signature: "{ url, payload, headers, method = \"POST\" } -> true | false, error",
        about: "To any address: a table as JSON, a text as it is.",
        example: "local ok, err = notifications.webhook.send({ url = 'http://127.0.0.1:9/', payload = { text = 'done' } })\nassert(not ok and err)",
    },
    Described {
        name: "teams.send",
        signature: "{ webhook_url, message, title } -> true | false, error",
        about: "To a channel of Microsoft Teams, by its webhook.",
        example: "local ok, err = notifications.teams.send({ webhook_url = 'http://127.0.0.1:9/', message = 'done' })\nassert(not ok and err)",
    },
    Described {
        name: "discord.send",
        signature: "{ webhook_url, message, username } -> true | false, error",
        about: "To a channel of Discord, by its webhook.",
        example: "local ok, err = notifications.discord.send({ webhook_url = 'http://127.0.0.1:9/', message = 'done' })\nassert(not ok and err)",
    },
    Described {
        name: "telegram.send",
        signature: "{ token, chat_id, message, server = \"https://api.telegram.org\" } -> true | false, error",
        about: "To a chat of Telegram, by a bot.",
        example: "local ok, err = notifications.telegram.send({ server = 'http://127.0.0.1:9', token = 'x', chat_id = 1, message = 'done' })\nassert(not ok and err)",
    },
    Described {
        name: "email.send",
        signature: "{ server, port, tls = \"starttls\", username, password, from, to, subject, message } -> true | false, error",
        about: "A letter, given to a server of mail. `to` is an address or a list of them; `tls` is `starttls` (port 587), `tls` (port 465) or `none` (port 25, without a password).",
        example: "local ok, err = notifications.email.send({ server = '127.0.0.1', port = 9, tls = 'none', from = 'ci@example.org', to = 'ann@example.org', subject = 'done', message = 'It is deployed.' })\nassert(ok == false and err)",
    },
];

const ALIASED: &[Described] = &[
    Described {
        name: "slack.send",
        signature: " -- as `notifications.slack.send`",
        about: "The same as `notifications.slack.send`; `slack` can be called like a function, too.",
        example: "assert(notification.slack.send and notify.slack.send)\nassert(not notify.slack({ message = 'x' }) and not notification.slack({ message = 'x' }))",
    },
    Described {
        name: "ntfy.send",
        signature: " -- as `notifications.ntfy.send`",
        about: "The same as `notifications.ntfy.send`; `ntfy` can be called like a function, too.",
        example: "assert(notification.ntfy.send and notify.ntfy.send)\nassert(not notify.ntfy({ message = 'x' }) and not notification.ntfy({ message = 'x' }))",
    },
    Described {
        name: "webhook.send",
        signature: " -- as `notifications.webhook.send`",
        about: "The same as `notifications.webhook.send`; `webhook` can be called like a function, too.",
        example: "assert(notification.webhook.send and notify.webhook.send)\nassert(not notify.webhook({ message = 'x' }) and not notification.webhook({ message = 'x' }))",
    },
    Described {
        name: "teams.send",
        signature: " -- as `notifications.teams.send`",
        about: "The same as `notifications.teams.send`; `teams` can be called like a function, too.",
        example: "assert(notification.teams.send and notify.teams.send)\nassert(not notify.teams({ message = 'x' }) and not notification.teams({ message = 'x' }))",
    },
    Described {
        name: "discord.send",
        signature: " -- as `notifications.discord.send`",
        about: "The same as `notifications.discord.send`; `discord` can be called like a function, too.",
        example: "assert(notification.discord.send and notify.discord.send)\nassert(not notify.discord({ message = 'x' }) and not notification.discord({ message = 'x' }))",
    },
    Described {
        name: "telegram.send",
        signature: " -- as `notifications.telegram.send`",
        about: "The same as `notifications.telegram.send`; `telegram` can be called like a function, too.",
        example: "assert(notification.telegram.send and notify.telegram.send)\nassert(not notify.telegram({ message = 'x' }) and not notification.telegram({ message = 'x' }))",
    },
    Described {
        name: "email.send",
        signature: " -- as `notifications.email.send`",
        about: "The same as `notifications.email.send`; `email` can be called like a function, too.",
        example: "assert(notification.email.send and notify.email.send)\nassert(not notify.email({ message = 'x' }) and not notification.email({ message = 'x' }))",
    },
];

/// A message to a service, or a letter.
enum Sent {
    Request(Message),
    Letter(Letter),
}

/// Where a message goes, and as what.
struct Message {
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    body: Body,
}

enum Body {
    Json(Json),
    Text(String),
}

impl Message {
    fn post(url: String, body: Body) -> Message {
        Message { method: Method::POST, url, headers: Vec::new(), body }
    }
}

type Read = fn(&Fields) -> std::result::Result<Sent, String>;

const SERVICES: [(&str, Read); 7] = [
    ("slack", |fields| slack(fields).map(Sent::Request)),
    ("ntfy", |fields| ntfy(fields).map(Sent::Request)),
    ("webhook", |fields| webhook(fields).map(Sent::Request)),
    ("teams", |fields| teams(fields).map(Sent::Request)),
    ("discord", |fields| discord(fields).map(Sent::Request)),
    ("telegram", |fields| telegram(fields).map(Sent::Request)),
    ("email", |fields| email(fields).map(Sent::Letter)),
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    for (name, read) in SERVICES {
        let service = module.lua.create_table()?;
        let mut inner =
            Installer { lua: module.lua, table: service.clone(), module: "notifications" };
        inner.act_async("send", move |lua, given: Value| async move {
            let Value::Table(given) = given else {
                return Err(mlua::Error::runtime(format!(
                    "notifications.{name}.send needs a table: {{ message = ... }}"
                )));
            };
            match read(&Fields(given)) {
                Ok(message) => send(&lua, name, message).await,
                Err(problem) => {
                    (false, format!("notifications.{name}: {problem}")).into_lua_multi(&lua)
                }
            }
        })?;
        callable_by_send(module.lua, &service)?;
        module.table.raw_set(name, service)?;
    }
    Ok(())
}

fn callable_by_send(lua: &Lua, service: &Table) -> Result<()> {
    let send: Function = service.raw_get("send")?;
    let call: Function = lua
        .load("local send = ... return function(_, ...) return send(...) end")
        .set_name("=[send]")
        .call(send)?;
    let meta = lua.create_table()?;
    meta.set("__call", call)?;
    service.set_metatable(Some(meta))
}

/// What a message is made of.
struct Fields(Table);

impl Fields {
    fn word(&self, name: &str) -> Option<String> {
        let value: Value = self.0.get(name).ok()?;
        if value.is_nil() { None } else { words(&value).ok().filter(|word| !word.is_empty()) }
    }
    fn needed(&self, name: &str) -> std::result::Result<String, String> {
        self.word(name).ok_or_else(|| format!("it needs `{name}`"))
    }
    fn json(&self, name: &str) -> Json {
        self.0.get::<Value>(name).and_then(|value| to_json(&value)).unwrap_or(Json::Null)
    }
}

fn without_nulls(mut json: Json) -> Json {
    if let Json::Object(fields) = &mut json {
        fields.retain(|_, value| !value.is_null());
    }
    json
}

fn slack(fields: &Fields) -> std::result::Result<Message, String> {
    let mut text = fields.needed("message")?;
    if let Some(pipeline) = fields.word("pipeline") {
        text = format!("*{pipeline}*\n{text}");
    }
    if let Some(details) = fields.word("error_details") {
        text = format!("{text}\n```{details}```");
    }
    let body = json!({ "text": text, "channel": fields.word("channel"), "username": fields.word("username") });
    Ok(Message::post(fields.needed("webhook_url")?, Body::Json(without_nulls(body))))
}

fn ntfy(fields: &Fields) -> std::result::Result<Message, String> {
    let server = fields.word("server").unwrap_or_else(|| "https://ntfy.sh".to_owned());
    let priority = match fields.json("priority") {
        Json::String(word) => Some(match word.as_str() {
            "min" => 1,
            "low" => 2,
            "default" | "normal" => 3,
            "high" => 4,
            "max" | "urgent" => 5,
            other => other
                .parse()
                .map_err(|_| "`priority` is 1 to 5, or min, low, default, high, max")?,
        }),
        Json::Number(number) => number.as_u64(),
        _ => None,
    };
    let body = json!({
        "topic": fields.needed("topic")?,
        "message": fields.needed("message")?,
        "title": fields.word("title"),
        "priority": priority,
        "tags": match fields.json("tags") {
            Json::String(tags) => json!(tags.split(',').map(str::trim).collect::<Vec<_>>()),
            tags => tags,
        },
    });
    let mut message = Message::post(server, Body::Json(without_nulls(body)));
    if let Some(token) = fields.word("token") {
        message.headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
    }
    Ok(message)
}

fn webhook(fields: &Fields) -> std::result::Result<Message, String> {
    let payload = [fields.json("payload"), fields.json("body"), fields.json("message")];
    let body = match payload.into_iter().find(|payload| !payload.is_null()) {
        Some(Json::String(text)) => Body::Text(text),
        Some(json) => Body::Json(json),
        None => return Err("it needs `payload`".to_owned()),
    };
    let url = fields.word("url").or_else(|| fields.word("webhook_url"));
    let mut message = Message::post(url.ok_or("it needs `url`")?, body);
    if let Some(method) = fields.word("method") {
        message.method = Method::from_bytes(method.to_uppercase().as_bytes())
            .map_err(|_| format!("`{method}` is no method"))?;
    }
    if let Json::Object(headers) = fields.json("headers") {
        message.headers.extend(headers.into_iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name, value)
        }));
    }
    Ok(message)
}

fn teams(fields: &Fields) -> std::result::Result<Message, String> {
    let mut blocks = Vec::new();
    if let Some(title) = fields.word("title") {
        blocks.push(json!({ "type": "TextBlock", "text": title, "weight": "bolder", "size": "medium", "wrap": true }));
    }
    blocks.push(json!({ "type": "TextBlock", "text": fields.needed("message")?, "wrap": true }));
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    });
    let attachment =
        json!({ "contentType": "application/vnd.microsoft.card.adaptive", "content": card });
    let body = json!({ "type": "message", "attachments": [attachment] });
    Ok(Message::post(fields.needed("webhook_url")?, Body::Json(body)))
}

fn discord(fields: &Fields) -> std::result::Result<Message, String> {
    let body = json!({ "content": fields.needed("message")?, "username": fields.word("username") });
    Ok(Message::post(fields.needed("webhook_url")?, Body::Json(without_nulls(body))))
}

fn telegram(fields: &Fields) -> std::result::Result<Message, String> {
    let server = fields.word("server").unwrap_or_else(|| "https://api.telegram.org".to_owned());
    let token =
        fields.word("token").or_else(|| fields.word("bot_token")).ok_or("it needs `token`")?;
    let body = json!({
        "chat_id": fields.needed("chat_id")?,
        "text": fields.needed("message")?,
        "parse_mode": fields.word("parse_mode"),
    });
    let url = format!("{}/bot{token}/sendMessage", server.trim_end_matches('/'));
    Ok(Message::post(url, Body::Json(without_nulls(body))))
}

fn email(fields: &Fields) -> std::result::Result<Letter, String> {
    let (cover, usual) = match fields.word("tls").as_deref() {
        None | Some("starttls") => (Cover::Start, 587),
        Some("tls") => (Cover::Whole, 465),
        Some("none") => (Cover::None, 25),
        Some(other) => return Err(format!("`{other}` is no `tls`: starttls, tls or none")),
    };
    let port = match fields.word("port") {
        None => usual,
        Some(port) => port.parse().map_err(|_| format!("`{port}` is no port"))?,
    };
    let to = match fields.json("to") {
        Json::Array(list) => list.iter().filter_map(|to| to.as_str().map(str::to_owned)).collect(),
        _ => vec![fields.needed("to")?],
    };
    let login = match fields.word("username") {
        None => None,
        Some(user) => Some((user, fields.needed("password")?)),
    };
    let letter = Letter {
        server: fields.word("server").or_else(|| fields.word("host")).ok_or("it needs `server`")?,
        port,
        cover,
        login,
        from: fields.needed("from")?,
        to,
        subject: fields.word("subject").unwrap_or_default(),
        text: fields.word("message").or_else(|| fields.word("body")).ok_or("it needs `message`")?,
    };
    letter.check().map(|()| letter)
}

const PATIENCE: Duration = Duration::from_secs(15);

async fn send(lua: &Lua, service: &str, message: Sent) -> Result<MultiValue> {
    let on = acting();
    if on.check {
        on.say(&format!("would send a message by {service}"));
        return true.into_lua_multi(lua);
    }
    let sent = match message {
        Sent::Request(message) => deliver(message).await,
        Sent::Letter(letter) => letter.send().await,
    };
    match sent {
        Ok(()) => true.into_lua_multi(lua),
        Err(error) => (false, format!("notifications.{service}: {error}")).into_lua_multi(lua),
    }
}

async fn deliver(message: Message) -> std::result::Result<(), String> {
    let client = client(&acting(), PATIENCE)?;
    let mut request: RequestBuilder = client.request(message.method, &message.url);
    for (name, value) in message.headers {
        request = request.header(name, value);
    }
    request = match message.body {
        Body::Json(json) => request.json(&json),
        Body::Text(text) => request.body(text),
    };
    let answer = request.send().await.map_err(reason)?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let told = answer.text().await.unwrap_or_default();
    let told: String = told.chars().take(200).collect();
    Err(format!("it was answered with {status}: {told}"))
}

/// What went wrong, down to the cause, without the address.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
