//! `secrets`: what a step was trusted with.
//!
//! The table itself is made with the other globals of a file (`define`), because files look into it while they are
//! defined; here it is described.

use super::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "secrets",
    about: "Secrets that the execution was given, by their names: `secrets.TOKEN` is one, or nothing. They are in memory only, and scrubbed from what steps print. While a file is defined nobody knows them.",
    functions: &[Described {
        name: "get",
        signature: "(name) -> text | nil, error",
        about: "A secret, or why there is none.",
        example: "local token, err = secrets.get('TOKEN')\nlog.info(token or err)\nlog.info(secrets.TOKEN or 'there is none')",
    }],
    install,
};

fn install(_: &mut Installer<'_>) -> mlua::Result<()> {
    Ok(())
}
