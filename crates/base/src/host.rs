//! What this machine calls itself.

/// The machine's host name; `localhost` where it has none that others could use.
pub fn host_name() -> String {
    let name = rustix::system::uname();
    let is_usable = |name: &&str| {
        (1..=253).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
    };
    name.nodename().to_str().ok().filter(is_usable).unwrap_or("localhost").to_owned()
}
