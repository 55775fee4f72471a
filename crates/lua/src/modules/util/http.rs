//! `http`: requests, and their answers as tables.

use std::collections::BTreeMap;

use mlua::{FromLua, Lua, Result, Table, Value};

use super::given::{Span, Text, would};
use super::web::{Reply, Request};
use crate::modules::{Described, Installer, Module, as_text};
use crate::value::{from_json, to_json, words};

pub(crate) const MODULE: Module = Module {
    name: "http",
    about: "Requests. They take 30 seconds at most if nothing else is said, follow 10 redirections, use the proxies in the environment of the step, and take answers of up to 64 MiB. The result has `status_code`, `status`, `body`, `headers` (found however they are written), `success` (2xx) and, where the answer is JSON, `json`; it can be used as the text of its body. An answer that says no is a result too; `nil, error` is when there was none. In check mode only GET and HEAD are sent.",
    functions: &[
        Described {
            name: "get",
            signature: "(url[, headers | { headers, timeout }]) -> result | nil, error",
            about: "Asks for something.",
            example: "local r, why = http.get('http://127.0.0.1:1/', { timeout = 2 })\nassert(r == nil and why:find('127.0.0.1:1'))",
        },
        Described {
            name: "head",
            signature: "(url[, headers | { headers, timeout }]) -> result | nil, error",
            about: "Asks for the headers only.",
            example: "assert(http.head('http://127.0.0.1:1/') == nil)",
        },
        Described {
            name: "delete",
            signature: "(url[, headers | { headers, timeout }]) -> result | nil, error",
            about: "Asks to remove something.",
            example: "assert(http.delete('http://127.0.0.1:1/x') == nil)",
        },
        Described {
            name: "post",
            signature: "(url[, body[, headers | { headers, timeout }]]) -> result | nil, error",
            about: "Sends something: a text, or a table as JSON.",
            example: "assert(http.post('http://127.0.0.1:1/', { a = 1 }) == nil)",
        },
        Described {
            name: "put",
            signature: "(url[, body[, headers | { headers, timeout }]]) -> result | nil, error",
            about: "Puts something in its place.",
            example: "assert(http.put('http://127.0.0.1:1/', 'x', { ['Content-Type'] = 'text/plain' }) == nil)",
        },
        Described {
            name: "patch",
            signature: "(url[, body[, headers | { headers, timeout }]]) -> result | nil, error",
            about: "Changes something.",
            example: "assert(http.patch('http://127.0.0.1:1/', { a = 1 }) == nil)",
        },
        Described {
            name: "request",
            signature: "({ url, method, body, json, headers, query, timeout }) -> result | nil, error",
            about: "Any request. `query` is a table that is added to the URL, `json` a value that is sent as JSON.",
            example: "assert(http.request({ url = 'http://127.0.0.1:1/', method = 'POST', json = { 1 }, query = { q = 'a b' }, timeout = 2 }) == nil)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    for (name, method) in [("get", "GET"), ("head", "HEAD"), ("delete", "DELETE")] {
        module.act_async(name, move |lua, (url, options): (Text, Option<Table>)| async move {
            let mut request = Request::new(method, &url.lossy());
            options.as_ref().map_or(Ok(()), |options| configure(&lua, &mut request, options))?;
            sent(lua, request).await
        })?;
    }
    for (name, method) in [("post", "POST"), ("put", "PUT"), ("patch", "PATCH")] {
        module.act_async(
            name,
            move |lua, (url, body, options): (Text, Value, Option<Table>)| async move {
                let mut request = Request::new(method, &url.lossy());
                options
                    .as_ref()
                    .map_or(Ok(()), |options| configure(&lua, &mut request, options))?;
                fill(&lua, &mut request, body)?;
                sent(lua, request).await
            },
        )?;
    }
    module.act_async("request", |lua, options: Table| async move {
        let request = described(&lua, &options)?;
        sent(lua, request).await
    })
}

/// A table of headers, or one that says more than that.
fn configure(lua: &Lua, request: &mut Request, options: &Table) -> Result<()> {
    let timeout: Value = options.get("timeout")?;
    let headers: Value = options.get("headers")?;
    let is_more = headers.is_table() || !timeout.is_nil();
    if !is_more {
        request.headers = pairs(options)?;
        return Ok(());
    }
    if let Value::Table(headers) = headers {
        request.headers = pairs(&headers)?;
    }
    if !timeout.is_nil() {
        request.timeout = Span::from_lua(timeout, lua)?.duration();
    }
    Ok(())
}

/// Headers of a table; one that is sent several times has a list.
pub(super) fn pairs(table: &Table) -> Result<Vec<(String, Vec<u8>)>> {
    let mut pairs = Vec::new();
    table.for_each(|name: String, value: Value| {
        match value {
            Value::Table(several) if several.raw_len() > 0 => {
                for one in several.sequence_values::<Value>() {
                    pairs.push((name.clone(), words(&one?)?.into_bytes()));
                }
            }
            value => pairs.push((name, words(&value)?.into_bytes())),
        }
        Ok(())
    })?;
    Ok(pairs)
}

/// Puts a value in as JSON, and says so unless something else is said.
fn fill_json(request: &mut Request, value: &Value) -> Result<()> {
    request.body = Some(to_json(value)?.to_string().into_bytes());
    let is_said = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if !is_said {
        let json = ("Content-Type".to_owned(), b"application/json".to_vec());
        request.headers.push(json);
    }
    Ok(())
}

fn fill(lua: &Lua, request: &mut Request, body: Value) -> Result<()> {
    match body {
        Value::Nil => {}
        Value::Table(table) if table.metatable().is_none() => {
            fill_json(request, &Value::Table(table))?;
        }
        body => request.body = Some(Text::from_lua(body, lua)?.0),
    }
    Ok(())
}

fn described(lua: &Lua, options: &Table) -> Result<Request> {
    let Some(url) = options.get::<Option<Text>>("url")? else {
        return Err(mlua::Error::runtime("http.request: say which `url` is meant"));
    };
    let method = options.get::<Option<String>>("method")?.unwrap_or_else(|| "GET".to_owned());
    let mut request = Request::new(&method.to_uppercase(), &url.lossy());
    if let Some(headers) = options.get::<Option<Table>>("headers")? {
        request.headers = pairs(&headers)?;
    }
    if let Some(timeout) = options.get::<Option<Span>>("timeout")? {
        request.timeout = timeout.duration();
    }
    if let Some(query) = options.get::<Option<BTreeMap<String, Value>>>("query")?
        && let Ok(mut url) = url::Url::parse(&request.url)
    {
        for (name, value) in query {
            url.query_pairs_mut().append_pair(&name, &words(&value)?);
        }
        request.url = url.into();
    }
    fill(lua, &mut request, options.get("body")?)?;
    match options.get::<Value>("json")? {
        Value::Nil => {}
        json => fill_json(&mut request, &json)?,
    }
    Ok(request)
}

async fn sent(lua: Lua, request: Request) -> Result<(Option<Table>, Option<String>)> {
    if !request.is_harmless() && would(|| format!("send {} {}", request.method, request.url)) {
        let reply = Reply {
            status: 0,
            reason: "not sent: check mode".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        let table = result(&lua, reply)?;
        table.set("success", true)?;
        return Ok((Some(table), None));
    }
    match request.send().await {
        Ok(reply) => Ok((Some(result(&lua, reply)?), None)),
        Err(why) => Ok((None, Some(why))),
    }
}

fn result(lua: &Lua, reply: Reply) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("status_code", reply.status)?;
    table.set("status", reply.reason)?;
    table.set("success", (200..300).contains(&reply.status))?;
    let headers = lua.create_table()?;
    let mut is_json = false;
    for (name, value) in &reply.headers {
        is_json |= name == "Content-Type" && String::from_utf8_lossy(value).contains("json");
        let mut value = value.clone();
        if let Some(before) = headers.raw_get::<Option<Text>>(name.as_str())? {
            value = [before.0, value].join(b", ".as_slice());
        }
        headers.raw_set(name.as_str(), lua.create_string(&value)?)?;
    }
    table.set("headers", by_any_case(lua, headers)?)?;
    if is_json && let Ok(json) = serde_json::from_slice(&reply.body) {
        table.set("json", from_json(lua, &json)?)?;
    }
    table.set("body", lua.create_string(&reply.body)?)?;
    as_text(lua, &table, "body")?;
    Ok(table)
}

/// Headers that are found however their names are written.
pub(super) fn by_any_case(lua: &Lua, headers: Table) -> Result<Table> {
    lua.load(include_str!("headers.luau")).set_name("=[headers]").call(headers)
}
