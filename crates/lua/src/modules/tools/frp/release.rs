//! Getting a release of frp: the archive and the published sums, checked, unpacked, put into place.

use std::path::Path;

use mlua::{Lua, MultiValue, Result};

use super::super::super::acting;
use super::super::arguments::Arguments;
use super::super::tool::{Call, Program, find, one, refused, settled};

const HINT: &str = "install it with the machine's packages";
static CURL: Program = Program::new("curl", HINT);
static TAR: Program = Program::new("tar", HINT);
static SUM: Program = Program::new("sha256sum", HINT);
static FRPS: Program = Program::new("frps", "frp.install gets it");

const RELEASES: &str = "https://github.com/fatedier/frp/releases";

pub(super) async fn install(lua: &Lua, args: &Arguments) -> Result<MultiValue> {
    let url = args.text("url")?.unwrap_or_else(|| RELEASES.to_owned());
    let dest = acting().path(&args.text("dest")?.unwrap_or_else(|| "/usr/local/bin".to_owned()));
    let version = args.text("version")?.unwrap_or_else(|| "latest".to_owned());
    match get(&url, &version, &dest).await {
        Err(why) => refused(lua, &why),
        Ok((changed, version)) => {
            let message = match (changed, acting().check) {
                (false, _) => format!("frp {version} is in {}", dest.display()),
                (true, true) => format!("would install frp {version} into {}", dest.display()),
                (true, false) => format!("frp {version} was installed into {}", dest.display()),
            };
            let table = settled(lua, changed, &message)?;
            table.raw_set("version", version)?;
            one(lua, table)
        }
    }
}

async fn get(url: &str, version: &str, dest: &Path) -> std::result::Result<(bool, String), String> {
    let version = match version {
        "latest" => latest(url).await?,
        version => version.trim_start_matches('v').to_owned(),
    };
    if !version.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)) {
        return Err(format!("`{version}` is no version"));
    }
    if is_there(&version, dest).await {
        return Ok((false, version));
    }
    if acting().check {
        return Ok((true, version));
    }
    let folder = dest.join(format!(".frp-{version}"));
    let made = unpack(url, &version, dest, &folder).await;
    let _it_may_not_be_there = tokio::fs::remove_dir_all(&folder).await;
    made.map(|()| (true, version))
}

async fn is_there(version: &str, dest: &Path) -> bool {
    let path = dest.join("frps");
    if find(&acting(), &path.to_string_lossy()).is_none() {
        return false;
    }
    let mut call = Call::new(&FRPS, ["--version"]);
    call.path = Some(path);
    call.text().await.is_ok_and(|said| said == version)
}

/// The version that the address of the latest release leads to.
async fn latest(url: &str) -> std::result::Result<String, String> {
    let place = format!("{url}/latest");
    let words = ["-fsSL", "-o", "/dev/null", "-w", "%{url_effective}", "--", &place];
    let lead = Call::new(&CURL, words).text().await?;
    match lead.rsplit('/').next().and_then(|tag| tag.strip_prefix('v')) {
        Some(version) => Ok(version.to_owned()),
        None => Err(format!("{lead} names no version; say which one")),
    }
}

async fn unpack(
    url: &str,
    version: &str,
    dest: &Path,
    folder: &Path,
) -> std::result::Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    tokio::fs::create_dir_all(folder).await.map_err(told)?;
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "arm" => "arm",
        other => return Err(format!("frp has no release for {other}")),
    };
    let stem = format!("frp_{version}_linux_{machine}");
    let archive = format!("{stem}.tar.gz");
    for name in [archive.as_str(), "frp_sha256_checksums.txt"] {
        let from = format!("{url}/download/v{version}/{name}");
        Call::new(&CURL, ["-fsSL", "-o", name, "--", &from]).at(folder).text().await?;
    }
    let sums =
        tokio::fs::read_to_string(folder.join("frp_sha256_checksums.txt")).await.map_err(told)?;
    let wanted = sums.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let wanted = wanted.map(|(sum, name)| (sum, name.trim().trim_start_matches('*')));
    let wanted = wanted.filter(|(_, name)| *name == archive).map(|(sum, _)| sum.to_owned()).next();
    let said = Call::new(&SUM, [archive.as_str()]).at(folder).text().await?;
    let is = said.split_whitespace().next().unwrap_or_default().to_owned();
    if wanted.as_ref() != Some(&is) {
        let wanted = wanted.unwrap_or_else(|| "none".to_owned());
        return Err(format!("{archive} is not what was published: its sum is {is}, not {wanted}"));
    }
    Call::new(&TAR, ["-xzf", archive.as_str(), "--no-same-owner"]).at(folder).text().await?;
    for program in ["frps", "frpc"] {
        tokio::fs::rename(folder.join(&stem).join(program), dest.join(program))
            .await
            .map_err(|error| format!("{program} could not be put into place: {error}"))?;
    }
    Ok(())
}
