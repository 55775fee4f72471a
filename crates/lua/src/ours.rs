//! What interpreters are furnished with that is written in the language itself.
//!
//! Compiling it would take longer than everything else that is done for a short workflow, so it is compiled beforehand:
//! beside each file lies what the interpreter makes of it, written by `cargo xtask gen`. A test compares the two, so
//! that a change of the file, or another version of the interpreter, is noticed.

use mlua::chunk::{ChunkMode, Compiler};
use mlua::{FromLuaMulti, IntoLuaMulti, Lua, Result};

/// A file of our own, and what it was compiled to.
pub(crate) struct Ours {
    /// What it is called in messages.
    name: &'static str,
    /// Where it lies below the root of the repository.
    path: &'static str,
    source: &'static str,
    code: &'static [u8],
}

macro_rules! ours {
    ($($id:ident = $name:literal, $file:literal;)*) => {
        $(pub(crate) const $id: Ours = Ours {
            name: $name,
            path: concat!("crates/lua/src/", $file, ".luau"),
            source: include_str!(concat!($file, ".luau")),
            code: include_bytes!(concat!($file, ".luauc")),
        };)*
        const ALL: &[Ours] = &[$($id),*];
    };
}

ours! {
    ACT = "=[act]", "modules/act";
    BUILDER = "=[builder]", "define/builder";
    CATCH = "=[catch]", "catch";
    TEXT = "=[text]", "modules/as_text";
    THIS = "=[this]", "body/this";
}

impl Ours {
    /// Calls it.
    pub fn call<R: FromLuaMulti>(&self, lua: &Lua, arguments: impl IntoLuaMulti) -> Result<R> {
        lua.load(self.code).set_name(self.name).set_mode(ChunkMode::Binary).call(arguments)
    }
}

/// What is compiled beforehand: the path of each file below the root of the repository, and what it has to contain.
pub fn compiled() -> std::result::Result<Vec<(String, Vec<u8>)>, String> {
    let one = |ours: &Ours| {
        let code = compiler().compile(ours.source).map_err(|error| error.to_string())?;
        Ok((format!("{}c", ours.path), code))
    };
    ALL.iter().map(one).collect()
}

/// What is given again when a step runs must not be looked up when its file is loaded. What is ours instead of the
/// language's must not be called as the language's.
pub(crate) fn compiler() -> Compiler {
    Compiler::new()
        .set_optimization_level(1)
        .set_debug_level(1)
        .set_mutable_globals(["secrets", "values", "Values"])
        .set_disabled_builtins(["tonumber"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compiled_beforehand_is_what_the_files_say() {
        for ours in ALL {
            let code = compiler().compile(ours.source).unwrap();
            assert!(code == ours.code, "{} is not current: run `cargo xtask gen`", ours.path);
        }
    }
}
