//! `firewall`: which traffic is let through.
//!
//! A rule is put together with the methods of an object, which is a table with a metatable of ours, and then applied,
//! removed or asked for.

use std::cell::RefCell;
use std::rc::Rc;

use hostler_host::firewall::{self, Action, Direction, Rule};
use hostler_host::{Host, Plan, Primitive};
use mlua::{Lua, MultiValue, Table, Value};
use serde_json::json;

use super::given::Given;
use super::machine::{Changing, Trouble, asking, changing, host, settle, troubled};
use crate::modules::{Described, Installer, Module};
use crate::stage::{Scene, is_unknown};
use crate::value::{kind, text};

pub(crate) const MODULE: Module = Module {
    name: "firewall",
    about: "Which traffic is let through: firewalld, ufw, iptables or nftables, whichever the machine has. On iptables and nftables only rules of ours are touched.",
    functions: &[
        Described {
            name: "detect",
            signature: "() -> name",
            about: "The firewall of the machine: `firewalld`, `ufw`, `iptables`, `nftables` or `unknown`.",
            example: "assert(type(firewall.detect()) == 'string')",
        },
        Described {
            name: "enable",
            signature: "() -> result, result | nil, error",
            about: "Puts the firewall to work, now and at boot. Let your own way in through before.",
            example: "local function setup()\n  assert(firewall.allow_port(22))\n  assert(firewall.enable())\nend",
        },
        Described {
            name: "disable",
            signature: "() -> result, result | nil, error",
            about: "Lets everything through that only the firewall held up.",
            example: "local function setup() assert(firewall.disable()) end",
        },
        Described {
            name: "status",
            signature: "() -> text | nil, error",
            about: "How the firewall is, in its own words.",
            example: "local function look() print(firewall.status()) end",
        },
        Described {
            name: "list",
            signature: "() -> text | nil, error",
            about: "Its rules, in its own words.",
            example: "local function look() print(firewall.list()) end",
        },
        Described {
            name: "flush",
            signature: "() -> result, result | nil, error",
            about: "Takes rules away: all that were added to firewalld and ufw, ours from iptables and nftables.",
            example: "local function setup() assert(firewall.flush()) end",
        },
        Described {
            name: "save",
            signature: "() -> result, result | nil, error",
            about: "Makes rules last over a boot.",
            example: "local function setup() assert(firewall.save()) end",
        },
        Described {
            name: "reload",
            signature: "() -> result, result | nil, error",
            about: "Loads the rules that last.",
            example: "local function setup() assert(firewall.reload()) end",
        },
        Described {
            name: "allow_port",
            signature: "(port[, protocol]) -> result, result | nil, error",
            about: "Lets traffic to a port in; TCP unless told otherwise.",
            example: "local function setup() assert(firewall.allow_port(443, 'tcp')) end",
        },
        Described {
            name: "deny_port",
            signature: "(port[, protocol]) -> result, result | nil, error",
            about: "Holds traffic to a port up, without an answer.",
            example: "local function setup() assert(firewall.deny_port(25)) end",
        },
        Described {
            name: "allow_from",
            signature: "(address) -> result, result | nil, error",
            about: "Lets everything from an address or a network in.",
            example: "local function setup() assert(firewall.allow_from('10.0.0.0/8')) end",
        },
        Described {
            name: "deny_from",
            signature: "(address) -> result, result | nil, error",
            about: "Holds everything from an address or a network up.",
            example: "local function setup() assert(firewall.deny_from('203.0.113.9')) end",
        },
        Described {
            name: "rule",
            signature: "() -> rule",
            about: "A rule to put together with its methods, each of which gives the rule back, until it is applied, removed or asked for.",
            example: "local function setup()\n  assert(firewall.rule():allow():protocol('tcp'):port(5432):from('10.0.0.0/8'):comment('db'):apply())\nend\nlocal rule = firewall.rule()\nassert(rule:deny() == rule)",
        },
        Described {
            name: "rule:allow",
            signature: "() -> rule",
            about: "Lets it through.",
            example: "assert(firewall.rule():allow():port(80))",
        },
        Described {
            name: "rule:deny",
            signature: "() -> rule",
            about: "Holds it up.",
            example: "assert(firewall.rule():deny():port(23))",
        },
        Described {
            name: "rule:protocol",
            signature: "(protocol) -> rule",
            about: "Of `tcp`, `udp` or another.",
            example: "local rule = firewall.rule()\nassert(rule:protocol('udp') == rule)",
        },
        Described {
            name: "rule:port",
            signature: "(port) -> rule",
            about: "To a port.",
            example: "local rule = firewall.rule()\nassert(rule:port(443) == rule and not pcall(rule.port, rule, 70000))",
        },
        Described {
            name: "rule:port_range",
            signature: "(range) -> rule",
            about: "To ports from one to another, as `6000:6100`.",
            example: "local rule = firewall.rule():deny():port_range('6000:6100')\nassert(rule:port_range('6000:6200') == rule)",
        },
        Described {
            name: "rule:from",
            signature: "(address) -> rule",
            about: "From an address or a network.",
            example: "local rule = firewall.rule()\nassert(rule:from('10.0.0.0/8') == rule)",
        },
        Described {
            name: "rule:to",
            signature: "(address) -> rule",
            about: "To an address or a network.",
            example: "local rule = firewall.rule()\nassert(rule:to('10.0.0.7') == rule)",
        },
        Described {
            name: "rule:zone",
            signature: "(zone) -> rule",
            about: "In a zone of firewalld.",
            example: "local rule = firewall.rule()\nassert(rule:zone('internal') == rule)",
        },
        Described {
            name: "rule:chain",
            signature: "(chain) -> rule",
            about: "In a chain of iptables.",
            example: "local rule = firewall.rule()\nassert(rule:chain('FORWARD') == rule)",
        },
        Described {
            name: "rule:direction",
            signature: "(direction) -> rule",
            about: "Coming `in`, which is so where nothing is said, or going `out`.",
            example: "local rule = firewall.rule()\nassert(rule:direction('out') == rule and not pcall(rule.direction, rule, 'up'))",
        },
        Described {
            name: "rule:comment",
            signature: "(text) -> rule",
            about: "With a word about why.",
            example: "local rule = firewall.rule()\nassert(rule:comment('database') == rule)",
        },
        Described {
            name: "rule:apply",
            signature: "() -> result, result | nil, error",
            about: "Makes it so that the rule is there.",
            example: "local function setup() assert(firewall.rule():allow():port(5432):from('10.0.0.0/8'):apply()) end",
        },
        Described {
            name: "rule:remove",
            signature: "() -> result, result | nil, error",
            about: "Makes it so that it is not.",
            example: "local function setup() assert(firewall.rule():allow():port(5432):remove()) end",
        },
        Described {
            name: "rule:exists",
            signature: "() -> boolean | nil, error",
            about: "Whether it is there.",
            example: "local function look() log.info(firewall.rule():allow():port(5432):exists()) end",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    asking(module, "detect", "", |_, host: Host| async move {
        let found = firewall::detect(&host).await;
        Ok(vec![json!(found.map_or("unknown", firewall::Firewall::name))])
    })?;
    asking(module, "status", "", |_, host: Host| async move {
        Ok(vec![json!(firewall::status(&host).await?)])
    })?;
    asking(module, "list", "", |_, host: Host| async move {
        Ok(vec![json!(firewall::list(&host).await?)])
    })?;
    changing(
        module,
        "enable",
        "",
        |_, host: Host| async move { Ok(firewall::enable(&host).await?) },
    )?;
    changing(
        module,
        "disable",
        "",
        |_, host: Host| async move { Ok(firewall::disable(&host).await?) },
    )?;
    changing(
        module,
        "flush",
        "",
        |_, host: Host| async move { Ok(firewall::flush(&host).await?) },
    )?;
    changing(module, "save", "", |_, host: Host| async move { Ok(firewall::save(&host).await?) })?;
    changing(
        module,
        "reload",
        "",
        |_, host: Host| async move { Ok(firewall::reload(&host).await?) },
    )?;
    for (name, action) in [("allow_port", Action::Allow), ("deny_port", Action::Deny)] {
        changing(module, name, "port protocol", move |given: Given, host: Host| async move {
            let port = given.number("port")?.ok_or_else(|| given.misuse("needs `port`"))?;
            let rule =
                Rule { action, ..Rule::allow_port(port, given.maybe("protocol")?.as_deref()) };
            Ok::<Plan, Trouble>(rule.present(&host).await?)
        })?;
    }
    for (name, action) in [("allow_from", Action::Allow), ("deny_from", Action::Deny)] {
        changing(module, name, "address", move |given: Given, host: Host| async move {
            let rule = Rule { action, ..Rule::allow_from(given.text("address")?) };
            Ok::<Plan, Trouble>(rule.present(&host).await?)
        })?;
    }
    module.pure("rule", |lua, _: MultiValue| builder(lua))
}

/// A method that says something about a rule.
type Saying = fn(&mut Rule, &Value) -> Result<(), String>;

const SAYINGS: [(&str, Saying); 11] = [
    ("allow", |rule, _| {
        rule.action = Action::Allow;
        Ok(())
    }),
    ("deny", |rule, _| {
        rule.action = Action::Deny;
        Ok(())
    }),
    ("protocol", |rule, value| words(value).map(|said| rule.protocol = Some(said))),
    ("port", |rule, value| {
        let said = words(value)?;
        let port = said.parse().map_err(|_| "a port is from 1 to 65535".to_owned())?;
        rule.port = Some(port);
        Ok(())
    }),
    ("port_range", |rule, value| words(value).map(|said| rule.port_range = Some(said))),
    ("from", |rule, value| words(value).map(|said| rule.from = Some(said))),
    ("to", |rule, value| words(value).map(|said| rule.to = Some(said))),
    ("zone", |rule, value| words(value).map(|said| rule.zone = Some(said))),
    ("chain", |rule, value| words(value).map(|said| rule.chain = Some(said))),
    ("comment", |rule, value| words(value).map(|said| rule.comment = Some(said))),
    ("direction", |rule, value| {
        rule.direction = match words(value)?.to_lowercase().as_str() {
            "in" | "input" | "inbound" | "incoming" => Direction::In,
            "out" | "output" | "outbound" | "outgoing" => Direction::Out,
            other => return Err(format!("`{other}` is no direction; say `in` or `out`")),
        };
        Ok(())
    }),
];

fn words(value: &Value) -> Result<String, String> {
    match value {
        Value::String(said) => Ok(text(said)),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!("it needs a text, not a {}", kind(other))),
    }
}

fn builder(lua: &Lua) -> mlua::Result<Table> {
    let rule = Rc::new(RefCell::new(Rule::default()));
    let table = lua.create_table()?;
    for (name, say) in SAYINGS {
        let rule = Rc::clone(&rule);
        let method = lua.create_function(move |lua, (this, value): (Table, Value)| {
            if is_unknown(lua, &value) {
                return Ok(this);
            }
            say(&mut rule.borrow_mut(), &value).map_err(|problem| {
                mlua::Error::runtime(format!("firewall rule: {name}: {problem}"))
            })?;
            Ok(this)
        })?;
        table.raw_set(name, method)?;
    }
    for (name, end) in [("apply", End::Apply), ("remove", End::Remove), ("exists", End::Exists)] {
        let rule = Rc::clone(&rule);
        let waiting = lua.create_async_function(move |lua, _: MultiValue| {
            let rule = rule.borrow().clone();
            async move { ended(&lua, rule, end).await }
        })?;
        let what = format!("firewall rule:{name}");
        let deferred =
            lua.create_function(move |lua, _: MultiValue| Ok(Scene::of(lua).deferral(lua, &what)))?;
        table.raw_set(name, either(lua, deferred, waiting)?)?;
    }
    Ok(table)
}

/// While a file is defined nothing is done.
fn either(
    lua: &Lua,
    deferred: mlua::Function,
    waiting: mlua::Function,
) -> mlua::Result<mlua::Function> {
    lua.load("local deferred, waiting = ... return function(...) local unknown = deferred() if unknown ~= nil then return unknown end return waiting(...) end")
        .set_name("=[rule]")
        .call((deferred, waiting))
}

#[derive(Clone, Copy)]
enum End {
    Apply,
    Remove,
    Exists,
}

async fn ended(lua: &Lua, rule: Rule, end: End) -> mlua::Result<MultiValue> {
    let host = host();
    let plan = match end {
        End::Apply => rule.present(&host).await,
        End::Remove => rule.absent(&host).await,
        End::Exists => {
            return match rule.exists(&host).await {
                Ok(answer) => mlua::IntoLuaMulti::into_lua_multi(answer, lua),
                Err(error) => troubled(lua, error.into()),
            };
        }
    };
    match plan {
        Ok(plan) => settle(lua, &host, Changing::from(plan)).await,
        Err(error) => troubled(lua, error.into()),
    }
}
