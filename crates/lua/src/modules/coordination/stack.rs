//! `stack`: the stack that a step belongs to, its outputs and its resources.

use mlua::{IntoLuaMulti, Lua, MultiValue, Result, Table, Value};
use serde_json::{Map, Value as Json};

use super::services::{Resource, ResourceSpec, ServiceError};
use super::{Described, Installer, Module, services};
use crate::value::{from_json, to_json};

pub(crate) const MODULE: Module = Module {
    name: "stack",
    about: "The stack that a step belongs to, its outputs and its resources. `stack(\"name\")` at the top of a file says which one that is.",
    functions: &[
        Described {
            name: "get_name",
            signature: "() -> name | nil",
            about: "The name of the stack; nil when the step belongs to none.",
            example: "assert(stack.get_name() == 'example')",
        },
        Described {
            name: "get_id",
            signature: "() -> id | nil",
            about: "The id of the stack.",
            example: "assert(#stack.get_id() == 36)",
        },
        Described {
            name: "get_status",
            signature: "() -> status | nil",
            about: "How it is with the stack: `created`, `running`, `completed` or `failed`.",
            example: "assert(stack.get_status() == 'running')",
        },
        Described {
            name: "set_output",
            signature: "(key, value) -> true | false, error",
            about: "Says what an output of the stack is.",
            example: "assert(stack.set_output('url', 'https://example.org'))",
        },
        Described {
            name: "get_output",
            signature: "(key) -> value | nil",
            about: "What an output of the stack is.",
            example: "stack.set_output('hosts', { 'a', 'b' })\nassert(stack.get_output('hosts')[2] == 'b' and stack.get_output('none') == nil)",
        },
        Described {
            name: "register_resource",
            signature: "{ type, name, module, properties, dependencies } -> \"created\" | \"changed\" | \"unchanged\", resource",
            about: "Says what a resource of the stack is to be, and tells whether that is new. Raises when the step belongs to no stack.",
            example: "local r = { type = 'file', name = 'motd', module = 'file_ops', properties = { mode = '644' } }\nlocal found, resource = stack.register_resource(r)\nassert(found == 'created' and resource.state == 'pending' and #resource.checksum == 64)\nassert(stack.register_resource(r) == 'unchanged')\nr.properties.mode = '600'\nassert(stack.register_resource(r) == 'changed')",
        },
        Described {
            name: "get_resource",
            signature: "(type, name) -> resource | nil",
            about: "A resource: `id`, `stack_id`, `type`, `name`, `module`, `state`, `checksum`, `properties`, `dependencies`.",
            example: "stack.register_resource({ type = 'file', name = 'motd', properties = { mode = '644' } })\nassert(stack.get_resource('file', 'motd').properties.mode == '644')",
        },
        Described {
            name: "update_resource",
            signature: "(type, name, { state, error }) -> true | false, error",
            about: "Says how it is with a resource: its state is `pending`, `applied`, `failed` or `drift`.",
            example: "stack.register_resource({ type = 'file', name = 'motd' })\nassert(stack.update_resource('file', 'motd', { state = 'applied' }))\nassert(stack.get_resource('file', 'motd').state == 'applied')\nassert(not stack.update_resource('file', 'none', { state = 'applied' }))",
        },
        Described {
            name: "delete_resource",
            signature: "(type, name) -> true | false, error",
            about: "Forgets a resource.",
            example: "stack.register_resource({ type = 'file', name = 'motd' })\nassert(stack.delete_resource('file', 'motd') and not stack.delete_resource('file', 'motd'))",
        },
        Described {
            name: "resource_exists",
            signature: "(type, name) -> boolean",
            about: "Whether there is such a resource.",
            example: "assert(not stack.resource_exists('file', 'motd'))",
        },
    ],
    install,
};

const STATES: [&str; 4] = ["pending", "applied", "failed", "drift"];

fn raised(error: ServiceError) -> mlua::Error {
    mlua::Error::runtime(error.to_string())
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    for name in ["get_name", "get_id", "get_status"] {
        module.act_async(name, move |_, ()| async move {
            let stack = services().stack().await.map_err(raised)?;
            Ok(stack.map(|stack| match name {
                "get_name" => stack.name,
                "get_id" => stack.id,
                _ => stack.status,
            }))
        })?;
    }
    module.act_async("set_output", |lua, (key, value): (String, Value)| async move {
        answer(&lua, services().stack_output_set(&key, to_json(&value)?).await.map(|()| true), &key)
    })?;
    module.act_async("get_output", |lua, key: String| async move {
        match services().stack().await.map_err(raised)? {
            Some(stack) => from_json(&lua, stack.outputs.get(&key).unwrap_or(&Json::Null)),
            None => Ok(Value::Nil),
        }
    })?;
    module.act_async("register_resource", |lua, wanted: Table| async move {
        let (registered, resource) =
            services().resource_register(read(&wanted)?).await.map_err(raised)?;
        (registered.label(), shown(&lua, &resource)?).into_lua_multi(&lua)
    })?;
    module.act_async("get_resource", |lua, (kind, name): (String, String)| async move {
        match services().resource_get(&kind, &name).await.map_err(raised)? {
            Some(resource) => shown(&lua, &resource),
            None => Ok(Value::Nil),
        }
    })?;
    module.act_async(
        "update_resource",
        |lua, (kind, name, told): (String, String, Table)| async move {
            let state: Option<String> = told.get("state")?;
            if let Some(state) = &state
                && !STATES.contains(&state.as_str())
            {
                return Err(mlua::Error::runtime(format!(
                    "stack.update_resource: state is one of {}",
                    STATES.join(", ")
                )));
            }
            let updated = services().resource_update(&kind, &name, state, told.get("error")?).await;
            answer(&lua, updated.map(|resource| resource.is_some()), &format!("{kind} `{name}`"))
        },
    )?;
    module.act_async("delete_resource", |lua, (kind, name): (String, String)| async move {
        let deleted = services().resource_delete(&kind, &name).await;
        answer(&lua, deleted, &format!("{kind} `{name}`"))
    })?;
    module.act_async("resource_exists", |_, (kind, name): (String, String)| async move {
        Ok(services().resource_get(&kind, &name).await.map_err(raised)?.is_some())
    })
}

fn answer(
    lua: &Lua,
    outcome: std::result::Result<bool, ServiceError>,
    what: &str,
) -> Result<MultiValue> {
    match outcome {
        Ok(true) => true.into_lua_multi(lua),
        Ok(false) => (false, format!("the stack has no {what}")).into_lua_multi(lua),
        Err(error) => (false, error.to_string()).into_lua_multi(lua),
    }
}

fn read(wanted: &Table) -> Result<ResourceSpec> {
    let word = |name: &str| -> Result<String> {
        wanted.get::<Option<String>>(name)?.filter(|word| !word.is_empty()).ok_or_else(|| {
            mlua::Error::runtime(format!("stack.register_resource: the resource needs `{name}`"))
        })
    };
    let properties = match to_json(&wanted.get::<Value>("properties")?)? {
        Json::Object(properties) => properties,
        Json::Null => Map::new(),
        _ => {
            return Err(mlua::Error::runtime(
                "stack.register_resource: properties is a table of names and values",
            ));
        }
    };
    Ok(ResourceSpec {
        kind: word("type")?,
        name: word("name")?,
        module: wanted.get::<Option<String>>("module")?.unwrap_or_default(),
        properties,
        dependencies: wanted.get::<Option<Vec<String>>>("dependencies")?.unwrap_or_default(),
    })
}

fn shown(lua: &Lua, resource: &Resource) -> Result<Value> {
    let json = serde_json::to_value(resource).map_err(mlua::Error::external)?;
    from_json(lua, &json)
}
