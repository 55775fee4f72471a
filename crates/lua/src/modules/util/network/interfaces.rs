//! Interfaces of the machine and its own address.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use mlua::{Lua, Result, Table};
use nix::net::if_::InterfaceFlags;

/// What is known about an interface.
#[derive(Debug, Default)]
pub(super) struct Interface {
    mac: Option<String>,
    mtu: Option<u32>,
    is_up: bool,
    is_loopback: bool,
    addresses: Vec<IpAddr>,
}

pub(super) fn all() -> std::result::Result<BTreeMap<String, Interface>, String> {
    let found = nix::ifaddrs::getifaddrs()
        .map_err(|error| format!("the interfaces cannot be listed: {error}"))?;
    let mut all: BTreeMap<String, Interface> = BTreeMap::new();
    for entry in found {
        let interface = all.entry(entry.interface_name.clone()).or_insert_with(|| Interface {
            mtu: mtu(&entry.interface_name),
            ..Interface::default()
        });
        interface.is_up = entry.flags.contains(InterfaceFlags::IFF_UP);
        interface.is_loopback = entry.flags.contains(InterfaceFlags::IFF_LOOPBACK);
        let Some(address) = entry.address else { continue };
        if let Some(v4) = address.as_sockaddr_in() {
            interface.addresses.push(IpAddr::V4(v4.ip()));
        } else if let Some(v6) = address.as_sockaddr_in6() {
            interface.addresses.push(IpAddr::V6(v6.ip()));
        } else if let Some(mac) = address.as_link_addr().and_then(|link| link.addr()) {
            let bytes: Vec<String> = mac.iter().map(|byte| format!("{byte:02x}")).collect();
            interface.mac = Some(bytes.join(":"));
        }
    }
    Ok(all)
}

fn mtu(name: &str) -> Option<u32> {
    std::fs::read_to_string(format!("/sys/class/net/{name}/mtu")).ok()?.trim().parse().ok()
}

pub(super) fn table(lua: &Lua, all: &BTreeMap<String, Interface>) -> Result<Table> {
    let list = lua.create_table()?;
    for (name, interface) in all {
        let table = lua.create_table()?;
        table.set("name", name.as_str())?;
        table.set("mac", interface.mac.as_deref())?;
        table.set("mtu", interface.mtu)?;
        table.set("is_up", interface.is_up)?;
        table.set("is_loopback", interface.is_loopback)?;
        let addresses = interface.addresses.iter().map(IpAddr::to_string);
        table.set("addresses", lua.create_sequence_from(addresses)?)?;
        list.push(table)?;
    }
    Ok(list)
}

/// The address with which others are reached. Nothing is sent: a route is all that is asked for.
pub(super) async fn own() -> std::result::Result<String, String> {
    let tries: [(SocketAddr, SocketAddr); 2] = [
        (([0, 0, 0, 0], 0).into(), ([192, 0, 2, 1], 9).into()),
        (([0_u16; 8], 0).into(), ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9).into()),
    ];
    for (from, to) in tries {
        let Ok(socket) = tokio::net::UdpSocket::bind(from).await else { continue };
        if socket.connect(to).await.is_ok()
            && let Ok(address) = socket.local_addr()
        {
            return Ok(address.ip().to_string());
        }
    }
    let mut found = all()?
        .into_values()
        .filter(|interface| interface.is_up && !interface.is_loopback)
        .flat_map(|interface| interface.addresses);
    match found.next() {
        Some(address) => Ok(address.to_string()),
        None => Err("the machine has no address besides loopback".to_owned()),
    }
}
