//! `stack`: the stack that a step belongs to, its outputs and its resources.

use std::time::Duration;

use mlua::{IntoLuaMulti, Lua, MultiValue, Result, Table, Value};
use serde_json::{Map, Value as Json};

use super::services::{Resource, ResourceSpec, ServiceError, StackAct};
use super::{Described, Installer, Module, locks, services};
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
        Described {
            name: "acquire_lock",
            signature: "(timeout) -> true | false, error",
            about: "Takes the lock of the stack, as `hostler stack lock acquire` does, and keeps it until it is given back or the step ends. Waits as long as it takes, or so many seconds. It is there already where `require_lock` says so.",
            example: "assert(stack.acquire_lock(5))\nassert(stack.release_lock())",
        },
        Described {
            name: "release_lock",
            signature: "() -> true | false, error",
            about: "Gives the lock of the stack back.",
            example: "assert(stack.acquire_lock())\nassert(stack.release_lock() and not stack.release_lock())",
        },
        Described {
            name: "validate",
            signature: "() -> true | false, { { check, result, message } } | nil, error",
            about: "Goes through the checklist of the stack, on a server.",
            example: "local ok, lines = stack.validate()\nassert(ok ~= nil or lines:find('server'))",
        },
        Described {
            name: "drift",
            signature: "() -> { drifted, looked, changed, missing, items } | nil, error",
            about: "Looks at what every object of the stack really is, on a server.",
            example: "local report, err = stack.drift()\nassert(report or err:find('server'))",
        },
        Described {
            name: "snapshot",
            signature: "(name) -> id | nil, error",
            about: "Keeps the stack as it is, on a server, and waits until that is done.",
            example: "local id, err = stack.snapshot('before')\nassert(id or err:find('server'))",
        },
        Described {
            name: "rollback",
            signature: "(point) -> true | false, error",
            about: "Brings the stack back, on a server, and waits until that is done: to a revision (`v3`), to a snapshot by its id, or to what it was before the first step.",
            example: "local ok, err = stack.rollback('v1')\nassert(ok or err:find('server'))",
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
    whole(module)?;
    module.act_async("resource_exists", |_, (kind, name): (String, String)| async move {
        Ok(services().resource_get(&kind, &name).await.map_err(raised)?.is_some())
    })
}

/// What is done with a stack as a whole.
fn whole(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("acquire_lock", |lua, timeout: Option<f64>| async move {
        let patience = timeout.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0)));
        let taken = match services().stack().await {
            Err(error) => Err(error),
            Ok(None) => Err(ServiceError::Refused("this step belongs to no stack".to_owned())),
            Ok(Some(stack)) if stack.is_locked => Ok(Ok(())),
            Ok(Some(stack)) => locks::take(&stack.lock, None, patience)
                .await
                .map(|taken| taken.map(locks::Granted::keep)),
        };
        match taken {
            Ok(Ok(())) => true.into_lua_multi(&lua),
            Ok(Err(who)) => (false, who).into_lua_multi(&lua),
            Err(error) => (false, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("release_lock", |lua, ()| async move {
        let released = match services().stack().await {
            Err(error) => Err(error),
            Ok(None) => Ok(false),
            Ok(Some(stack)) => locks::release(&stack.lock).await,
        };
        match released {
            Ok(true) => true.into_lua_multi(&lua),
            Ok(false) => (false, "this step has not taken the lock").into_lua_multi(&lua),
            Err(error) => (false, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("validate", |lua, ()| async move {
        match services().stack_act(StackAct::Validate).await {
            Ok(told) => {
                let is_well = told.get("passed") == Some(&Json::Bool(true));
                let lines = from_json(&lua, told.get("checks").unwrap_or(&Json::Null))?;
                (is_well, lines).into_lua_multi(&lua)
            }
            Err(error) => (Value::Nil, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("drift", |lua, ()| async move {
        match services().stack_act(StackAct::Drift).await {
            Ok(told) => from_json(&lua, &told)?.into_lua_multi(&lua),
            Err(error) => (Value::Nil, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("snapshot", |lua, name: Option<String>| async move {
        let name = name.unwrap_or_default();
        match services().stack_act(StackAct::Snapshot { name }).await {
            Ok(told) => {
                from_json(&lua, told.get("id").unwrap_or(&Json::Bool(true)))?.into_lua_multi(&lua)
            }
            Err(error) => (Value::Nil, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("rollback", |lua, point: Option<String>| async move {
        match services().stack_act(StackAct::Rollback { point }).await {
            Ok(_) => true.into_lua_multi(&lua),
            Err(error) => (false, error.to_string()).into_lua_multi(&lua),
        }
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
