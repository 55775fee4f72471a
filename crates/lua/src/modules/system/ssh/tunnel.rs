//! Ways through another machine: a port here that leads to one there, for as long as the step lasts.
//!
//! A tunnel is an `ssh` beside the body. It is there when its port takes connections, and it is gone when it is closed,
//! when the step ends, or when the other machine hangs up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use mlua::{IntoLuaMulti, Lua, MultiValue, Table, Value};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::client::{Client, started};
use super::remote::read;
use crate::modules::system::given::Given;
use crate::modules::system::machine::{Trouble, troubled};
use crate::modules::{Installer, acting, tasks};

/// How often one looks whether it is there.
const PAUSE: Duration = Duration::from_millis(50);
/// How long it has to come up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The tunnels of a step, by their local ports.
#[derive(Default)]
struct Tunnels(RefCell<BTreeMap<u16, Open>>);

struct Open {
    close: oneshot::Sender<()>,
    closed: oneshot::Receiver<()>,
}

pub(super) fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    module.act_async("create_tunnel", |lua: Lua, args: MultiValue| async move {
        let takes = "client local_port remote_host remote_port";
        let given = read("create_tunnel", takes, args)?;
        match create(&given).await {
            Ok(port) => {
                let table = lua.create_table()?;
                table.raw_set("local_port", port)?;
                table.raw_set("address", format!("127.0.0.1:{port}"))?;
                table.into_lua_multi(&lua)
            }
            Err(trouble) => troubled(&lua, trouble),
        }
    })?;
    module.act_async("close_tunnel", |lua: Lua, tunnel: Table| async move {
        let port = tunnel.raw_get::<Option<u16>>("local_port")?;
        let port = port.ok_or_else(|| {
            mlua::Error::runtime("ssh.close_tunnel needs what `ssh.create_tunnel` gave")
        })?;
        let open = tasks().kept::<Tunnels>().0.borrow_mut().remove(&port);
        let was_open = open.is_some();
        if let Some(Open { close, closed }) = open {
            let _it_may_have_ended = close.send(());
            let _whoever_sends_is_gone_by_then = closed.await;
        }
        was_open.into_lua_multi(&lua)
    })?;
    module.act("enable_agent_forward", |_, client: Table| Client::forward_agent(&client))
}

async fn create(given: &Given) -> Result<u16, Trouble> {
    let client = Client::of(given)?;
    let host = given.text("remote_host")?;
    let far: u16 =
        given.number("remote_port")?.ok_or_else(|| given.misuse("needs `remote_port`"))?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b".-_:%".contains(&b);
    if host.is_empty() || host.starts_with('-') || !host.bytes().all(is_plain) {
        return Err(given
            .misuse("cannot use such a `remote_host`; write a name or an address")
            .into());
    }
    let near = match given.number::<u16>("local_port")?.unwrap_or(0) {
        0 => {
            free_port().await.map_err(|error| Trouble::new(format!("no port is free: {error}")))?
        }
        port => port,
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let way = format!("127.0.0.1:{near}:{host}:{far}");
    if acting().check {
        acting().say(&format!("to be done: a tunnel through {}: {way}", client.name()));
        return Ok(near);
    }
    let order = client.tunnel(&way);
    let said: Rc<RefCell<Option<String>>> = Rc::default();
    let ((close, asked), (done, closed)) = (oneshot::channel::<()>(), oneshot::channel());
    tasks().spawn({
        let said = Rc::clone(&said);
        async move {
            tokio::select! {
                _ = asked => {}
                ended = started("ssh", order) => *said.borrow_mut() = Some(match ended {
                    Ok(ended) => String::from_utf8_lossy(&ended.stderr).trim().to_owned(),
                    Err(Trouble::Failure(words)) => words,
                    Err(Trouble::Misuse(error)) => error.to_string(),
                }),
            }
            let _nobody_may_wait = done.send(());
        }
    });
    let there = async {
        loop {
            if let Some(said) = said.borrow().clone() {
                return Err(Trouble::new(format!(
                    "the tunnel through {} failed: {said}",
                    client.name()
                )));
            }
            if TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, near))).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    match tokio::time::timeout(PATIENCE, there).await {
        Ok(there) => there?,
        Err(_) => {
            drop(close);
            return Err(Trouble::new(format!(
                "port {near} takes no connections after {PATIENCE:?}"
            )));
        }
    }
    tasks().kept::<Tunnels>().0.borrow_mut().insert(near, Open { close, closed });
    Ok(near)
}

async fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    Ok(listener.local_addr()?.port())
}

impl Client {
    /// Lets programs there use the keys of the agent here.
    fn forward_agent(client: &Table) -> mlua::Result<bool> {
        match client.raw_get::<Value>(super::client::MARK)? {
            Value::Table(options) => {
                options.raw_push("ForwardAgent=yes")?;
                Ok(true)
            }
            _ => Err(mlua::Error::runtime(
                "ssh.enable_agent_forward needs a client; `ssh.connect` gives one",
            )),
        }
    }
}
