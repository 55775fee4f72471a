//! Objects of modules: tables with fields, and methods that their class has.
//!
//! A result of a method carries its object on, so that calls can be chained; a chain stops where one of them failed.

use mlua::{Lua, MultiValue, Result, Table, Value};

use super::super::Installer;
use super::tool::one;

/// A kind of object of a module.
#[derive(Clone)]
pub(super) struct Class {
    pub module: &'static str,
    pub name: &'static str,
    pub methods: Table,
    meta: Table,
    /// The last result of each object.
    last: Table,
}

impl Class {
    pub fn new(lua: &Lua, module: &'static str, name: &'static str) -> Result<Class> {
        let (methods, meta, last) = (lua.create_table()?, lua.create_table()?, lua.create_table()?);
        meta.raw_set("__index", &methods)?;
        let weak = lua.create_table()?;
        weak.raw_set("__mode", "k")?;
        last.set_metatable(Some(weak))?;
        Ok(Class { module, name, methods, meta, last })
    }

    /// An object with these fields.
    pub fn object(&self, fields: Table) -> Result<Table> {
        fields.set_metatable(Some(self.meta.clone()))?;
        Ok(fields)
    }

    /// The object that a method was called on, and the other arguments.
    pub fn receiver(&self, method: &str, mut args: MultiValue) -> Result<(Table, MultiValue)> {
        match args.pop_front() {
            Some(Value::Table(object)) => Ok((object, args)),
            _ => Err(mlua::Error::runtime(format!(
                "{} {}:{method} is called with a colon, as in object:{method}()",
                self.module, self.name
            ))),
        }
    }

    /// A method that only computes.
    pub fn pure(
        &self,
        lua: &Lua,
        name: &'static str,
        f: impl Fn(&Lua, Table, MultiValue) -> Result<MultiValue> + 'static,
    ) -> Result<()> {
        let class = self.clone();
        self.installer(lua).pure_with_any(name, move |lua, args: MultiValue| {
            let (object, args) = class.receiver(name, args)?;
            f(lua, object, args)
        })
    }

    /// A method that acts.
    pub fn act<F>(
        &self,
        lua: &Lua,
        name: &'static str,
        f: impl Fn(Lua, Table, MultiValue) -> F + Clone + 'static,
    ) -> Result<()>
    where
        F: Future<Output = Result<MultiValue>> + 'static,
    {
        let class = self.clone();
        self.installer(lua).act_async(name, move |lua, args: MultiValue| {
            let received = class.receiver(name, args);
            let f = f.clone();
            async move {
                let (object, args) = received?;
                f(lua, object, args).await
            }
        })
    }

    /// A method that says where to say where something is done.
    pub fn stays_here(&self, lua: &Lua) -> Result<()> {
        self.pure(lua, "delegate_to", |_, _, _| {
            Err(mlua::Error::runtime("it acts where its task runs; give the task `delegate_to`"))
        })
    }

    pub fn method(&self, name: &str) -> Result<mlua::Function> {
        self.methods.raw_get(name)
    }

    pub fn replace(&self, name: &str, method: mlua::Function) -> Result<()> {
        self.methods.raw_set(name, method)
    }

    /// What makes methods that are not there: `function(methods, name)`.
    pub fn fallback(&self, lua: &Lua, make: mlua::Function) -> Result<()> {
        let meta = lua.create_table()?;
        meta.raw_set("__index", make)?;
        self.methods.set_metatable(Some(meta))
    }

    /// A method that gives the last result of the object.
    pub fn remembers(&self, lua: &Lua) -> Result<()> {
        let last = self.last.clone();
        self.pure(lua, "result", move |lua, object, _| one(lua, last.raw_get::<Value>(object)?))
    }

    pub fn last(&self, object: &Table) -> Result<Option<Table>> {
        self.last.raw_get(object)
    }

    /// Lets a result go on with its object.
    pub fn carry(&self, lua: &Lua, object: &Table, result: &Table) -> Result<()> {
        let failed: Option<String> = result.raw_get("error")?;
        let failed = failed.map(|error| format!("{} {}: {error}", self.module, self.name));
        let meta: Table =
            lua.load(include_str!("carry.luau")).set_name("=[result]").call((object, failed))?;
        result.set_metatable(Some(meta))?;
        self.last.raw_set(object, result)
    }

    pub fn installer<'a>(&self, lua: &'a Lua) -> Installer<'a> {
        Installer { lua, table: self.methods.clone(), module: self.module }
    }
}
