//! `net`: requests as older files make them, and downloads.

use std::path::Path;

use futures::StreamExt;
use mlua::{Lua, LuaString, Result, Table, Value};
use tokio::io::AsyncWriteExt;

use super::fs::told;
use super::given::{Span, Text, place, would};
use super::http::{by_any_case, pairs};
use super::web::{LONG_TIMEOUT, Request};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "net",
    about: "Requests as older files make them, with the bounds of `http`, and downloads.",
    functions: &[
        Described {
            name: "http_get",
            signature: "(url[, headers]) -> body, status, headers, error",
            about: "Asks for something. Each header is a list of its values.",
            example: "local body, status, headers, why = net.http_get('http://127.0.0.1:1/')\nassert(body == nil and status == nil and why)",
        },
        Described {
            name: "http_post",
            signature: "(url, body[, headers]) -> body, status, headers, error",
            about: "Sends something.",
            example: "local body, _, _, why = net.http_post('http://127.0.0.1:1/', 'x', { ['Content-Type'] = 'text/plain' })\nassert(body == nil and why)",
        },
        Described {
            name: "download",
            signature: "(url, path[, { headers, timeout }]) -> nil | error",
            about: "Puts an answer into a file, of any size, in an hour at most if nothing else is said. The file is there when all of it is; what was there before stays until then.",
            example: "local why = net.download('http://127.0.0.1:1/', 'a')\nassert(why and not fs.exists('a'))",
        },
    ],
    install,
};

type Answer = (Option<LuaString>, Option<u16>, Option<Table>, Option<String>);

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("http_get", |lua, (url, headers): (Text, Option<Table>)| async move {
        let mut request = Request::new("GET", &url.lossy());
        request.headers = headers.as_ref().map_or(Ok(Vec::new()), pairs)?;
        sent(lua, request).await
    })?;
    module.act_async(
        "http_post",
        |lua, (url, body, headers): (Text, Option<Text>, Option<Table>)| async move {
            let mut request = Request::new("POST", &url.lossy());
            request.headers = headers.as_ref().map_or(Ok(Vec::new()), pairs)?;
            request.body = Some(body.map_or_else(Vec::new, |body| body.0));
            sent(lua, request).await
        },
    )?;
    module.act_async(
        "download",
        |_, (url, path, options): (Text, Text, Option<Table>)| async move {
            let mut request = Request::new("GET", &url.lossy());
            request.timeout = LONG_TIMEOUT;
            if let Some(options) = options {
                if let Some(timeout) = options.get::<Option<Span>>("timeout")? {
                    request.timeout = timeout.duration();
                }
                if let Value::Table(headers) = options.get("headers")? {
                    request.headers = pairs(&headers)?;
                }
            }
            Ok(download(request, &path).await.err())
        },
    )
}

async fn sent(lua: Lua, request: Request) -> Result<Answer> {
    if !request.is_harmless() && would(|| format!("send {} {}", request.method, request.url)) {
        return Ok((Some(lua.create_string("")?), Some(0), Some(lua.create_table()?), None));
    }
    let reply = match request.send().await {
        Ok(reply) => reply,
        Err(why) => return Ok((None, None, None, Some(why))),
    };
    let headers = lua.create_table()?;
    for (name, value) in &reply.headers {
        let values = match headers.raw_get::<Option<Table>>(name.as_str())? {
            Some(values) => values,
            None => lua.create_table()?,
        };
        values.push(lua.create_string(value)?)?;
        headers.raw_set(name.as_str(), values)?;
    }
    let headers = by_any_case(&lua, headers)?;
    Ok((Some(lua.create_string(&reply.body)?), Some(reply.status), Some(headers), None))
}

async fn download(request: Request, path: &Text) -> std::result::Result<(), String> {
    let path = place(path)?;
    let url = request.url.clone();
    if would(|| format!("download {url} to {}", path.display())) {
        return Ok(());
    }
    let response = request.begin().await?;
    if !response.status().is_success() {
        return Err(format!("{url} answers {}; nothing was written", response.status()));
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", uuid::Uuid::new_v4().simple()));
    let part = Part(path.with_file_name(name));
    let mut file = tokio::fs::File::create(&part.0).await.map_err(told("write", &part.0))?;
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| super::web::told("GET", &url, &error))?;
        file.write_all(&piece).await.map_err(told("write", &part.0))?;
    }
    file.flush().await.map_err(told("write", &part.0))?;
    tokio::fs::rename(&part.0, &path).await.map_err(told("write", &path))
}

/// A file that is not complete; it is removed unless it was renamed.
struct Part(std::path::PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _it_may_be_renamed = std::fs::remove_file(Path::new(&self.0));
    }
}
