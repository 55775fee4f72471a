//! `export`: what a step gives to whoever asked for its execution.

use mlua::{Result, Table, Value};
use serde_json::Value as Json;

use super::{Described, Installer, Module, acting, callable};
use crate::value::to_json;

pub(crate) const MODULE: Module = Module {
    name: "export",
    about: "What a step gives to whoever asked for its execution: `export({ version = \"1.2\" })`. Later values replace earlier ones of the same name.",
    functions: &[Described {
        name: "values",
        signature: "(table) -> true",
        about: "The same as `export(table)`.",
        example: "export({ version = '1.2', hosts = { 'a', 'b' } })\nexport.values({ version = '1.3' })\nassert(not pcall(export, { 'no name' }))",
    }],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act("values", |_, table: Table| {
        let Json::Object(values) = to_json(&Value::Table(table))? else {
            return Err(mlua::Error::runtime(
                "export needs a table of names and values: export({ version = \"1.2\" })",
            ));
        };
        acting().exported.borrow_mut().extend(values);
        Ok(true)
    })?;
    callable(module, "values")
}
