//! `db`: SQLite and PostgreSQL.
//!
//! Connections have names and belong to the step that made them. What is asked of one is done one after the other. A
//! transaction is what is asked of a connection between its beginning and its end.

mod link;
mod postgres;
mod sqlite;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{AnyUserData, Function, IntoLuaMulti, Lua, MultiValue, Result, Table, UserData, Value};
use tokio::sync::Mutex;

use self::link::{Link, Param, Ran, number};
use super::given::{Done, Text, done, would};
use super::keep::PerStep;
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "db",
    about: "SQLite and PostgreSQL. Values are given beside the statement as a list and never become part of its text: `?` (SQLite) and `$1` (both) stand for them. A connection has a name, `default` if nothing else is said, belongs to the step, and ends with it. At most 100000 rows are taken. Whole numbers beyond 2^53, dates and `numeric` are texts. In check mode databases are opened to read, and what would change them is only said.",
    functions: &[
        Described {
            name: "connect",
            signature: "(driver, dsn[, name]) -> true | false, error",
            about: "Connects: `sqlite3` (or `sqlite`) with the path of a file or `:memory:`, `postgres` with a URL or with `host=.. user=.. password=.. dbname=..`.",
            example: "assert(db.connect('sqlite3', 'a.db'))\nlocal ok, why = db.connect('oracle', 'x')\nassert(not ok and why:find('sqlite3'))",
        },
        Described {
            name: "close",
            signature: "([name]) -> true | false, error",
            about: "Ends a connection.",
            example: "db.connect('sqlite3', ':memory:')\nassert(db.close() and not db.ping())",
        },
        Described {
            name: "ping",
            signature: "([name]) -> boolean, error",
            about: "Whether a connection is alive.",
            example: "db.connect('sqlite3', ':memory:', 'other')\nassert(db.ping('other') and not db.ping())",
        },
        Described {
            name: "query",
            signature: "(sql[, params][, name]) -> rows, rows | nil, error",
            about: "The rows of a statement, each a table by the names of its columns.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id integer, name text)')\ndb.exec('insert into t values (?, ?), (2, null)', { 1, \"o'hara\" })\nlocal ok, rows = db.query('select * from t where id < ? order by id', { 10 })\nassert(ok and #rows == 2 and rows[1].name == \"o'hara\" and rows[2].name == nil)",
        },
        Described {
            name: "exec",
            signature: "(sql[, params][, name]) -> result, result | nil, error",
            about: "Does something. The result has `rows_affected` and, for SQLite, `last_insert_id`. Without values several statements may stand in it.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id integer primary key); create table u (id int)')\nlocal r = db.exec('insert into t default values')\nassert(r.rows_affected == 1 and r.last_insert_id == 1)\nlocal none, why = db.exec('nonsense')\nassert(none == nil and why)",
        },
        Described {
            name: "prepare",
            signature: "(sql[, name]) -> statement",
            about: "A statement to be used several times, with other values each time: `statement:query(params)`, `statement:exec(params)`, `statement:close()`.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id int)')\nlocal insert = db.prepare('insert into t values (?)')\nfor i = 1, 3 do assert(insert:exec({ i })) end\nassert(db.query('select count(*) as n from t')[1].n == 3)",
        },
        Described {
            name: "begin",
            signature: "([name]) -> tx, tx | nil, error",
            about: "Begins a transaction. `tx:query(..)`, `tx:exec(..)`, `tx:commit()` and `tx:rollback()` are those of its connection.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id int)')\nlocal tx = db.begin()\ntx:exec('insert into t values (1)')\nassert(tx:rollback())\nassert(db.query('select count(*) as n from t')[1].n == 0)",
        },
        Described {
            name: "commit",
            signature: "([tx]) -> true | false, error",
            about: "Makes a transaction hold.",
            example: "db.connect('sqlite3', ':memory:')\nlocal ok, tx = db.begin()\nassert(ok and db.commit(tx))\nassert(not db.commit(tx))",
        },
        Described {
            name: "rollback",
            signature: "([tx]) -> true | false, error",
            about: "Takes a transaction back.",
            example: "db.connect('sqlite3', ':memory:')\nlocal tx = db.begin()\nassert(db.rollback(tx))",
        },
        Described {
            name: "transaction",
            signature: "(function(tx)[, name]) -> true, results | false, error",
            about: "Calls a function within a transaction, which holds when the function returns, and is taken back when it raises an error or returns `false` or `nil, error`.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id int)')\nlocal ok, why = db.transaction(function(tx)\n  tx:exec('insert into t values (1)')\n  error('no')\nend)\nassert(not ok and why:find('no'))\nassert(db.transaction(function(tx) tx:exec('insert into t values (2)') end))\nassert(db.query('select id from t')[1].id == 2)",
        },
        Described {
            name: "escape",
            signature: "(text) -> text",
            about: "A text as it can stand between `'` in a statement; to give it as a value is better.",
            example: "assert(db.escape(\"o'hara\") == \"o''hara\")",
        },
        Described {
            name: "last_insert_id",
            signature: "([name]) -> number | nil",
            about: "The id of the row that was inserted last, with SQLite; with PostgreSQL use `insert .. returning id`.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id integer primary key)')\ndb.exec('insert into t values (7)')\nassert(db.last_insert_id() == 7)",
        },
        Described {
            name: "rows_affected",
            signature: "([name]) -> number",
            about: "How many rows the last `exec` touched.",
            example: "db.connect('sqlite3', ':memory:')\ndb.exec('create table t (id int)')\ndb.exec('insert into t values (1), (2)')\nassert(db.rows_affected() == 2)",
        },
    ],
    install,
};

/// The connections of a step.
#[derive(Default)]
struct Connections(RefCell<BTreeMap<String, Rc<Connection>>>);

struct Connection {
    link: Mutex<Link>,
    last: Cell<Ran>,
    in_transaction: Cell<bool>,
}

impl Connections {
    fn named(&self, name: &str) -> std::result::Result<Rc<Connection>, String> {
        self.0.borrow().get(name).cloned().ok_or_else(|| {
            format!(
                "there is no connection `{name}`; make it with db.connect(driver, dsn, \"{name}\")"
            )
        })
    }
}

type Store = Rc<PerStep<Connections>>;

/// What may follow a statement, in any order: its values, and the name of a connection or a transaction.
struct Besides {
    name: String,
    params: Vec<Param>,
}

impl Besides {
    fn of(values: MultiValue) -> Result<Besides> {
        let mut besides = Besides { name: "default".to_owned(), params: Vec::new() };
        for value in values {
            match value {
                Value::Nil => {}
                Value::String(name) => besides.name = name.to_string_lossy(),
                Value::Table(params) => besides.params = link::params(&params)?,
                Value::UserData(data) => besides.name = data.borrow::<Transaction>()?.name.clone(),
                other => {
                    return Err(mlua::Error::runtime(format!(
                        "a {} is neither a list of values nor the name of a connection",
                        other.type_name()
                    )));
                }
            }
        }
        Ok(besides)
    }
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    let store: Store = PerStep::new();
    connections(module, &store)?;
    statements(module, &store)?;
    transactions(module, &store)?;
    module.pure("escape", |_, text: Text| Ok(text.lossy().replace('\'', "''")))?;
    module.act("last_insert_id", {
        let store = Rc::clone(&store);
        move |lua, values: MultiValue| {
            let connection = store.own().named(&Besides::of(values)?.name);
            match connection.ok().and_then(|connection| connection.last.get().id) {
                Some(id) => number(lua, id),
                None => Ok(Value::Nil),
            }
        }
    })?;
    module.act("rows_affected", move |_, values: MultiValue| {
        let connection = store.own().named(&Besides::of(values)?.name);
        Ok(connection.map_or(0, |connection| connection.last.get().rows))
    })
}

fn connections(module: &mut Installer<'_>, store: &Store) -> Result<()> {
    module.act_async("connect", {
        let store = Rc::clone(store);
        move |_, (driver, dsn, name): (String, Text, Option<String>)| {
            let own = store.own();
            async move {
                let link = match Link::open(&driver, &dsn.lossy()).await {
                    Ok(link) => link,
                    Err(why) => return Ok((false, Some(why))),
                };
                let connection = Connection {
                    link: Mutex::new(link),
                    last: Cell::default(),
                    in_transaction: Cell::new(false),
                };
                let name = name.unwrap_or_else(|| "default".to_owned());
                own.0.borrow_mut().insert(name, Rc::new(connection));
                Ok((true, None))
            }
        }
    })?;
    module.act("close", {
        let store = Rc::clone(store);
        move |_, values: MultiValue| {
            let name = Besides::of(values)?.name;
            let own = store.own();
            let found = own.named(&name).map(drop);
            own.0.borrow_mut().remove(&name);
            Ok(done(found))
        }
    })?;
    module.act_async("ping", {
        let store = Rc::clone(store);
        move |_, values: MultiValue| {
            let own = store.own();
            async move {
                let name = Besides::of(values)?.name;
                Ok(match own.named(&name) {
                    Ok(connection) => done(connection.link.lock().await.ping().await),
                    Err(why) => (false, Some(why)),
                })
            }
        }
    })
}

fn statements(module: &mut Installer<'_>, store: &Store) -> Result<()> {
    module.act_async("query", {
        let store = Rc::clone(store);
        move |lua, (sql, values): (Text, MultiValue)| {
            let own = store.own();
            async move {
                let besides = Besides::of(values)?;
                query(&lua, own.named(&besides.name), &sql.lossy(), besides.params).await
            }
        }
    })?;
    module.act_async("exec", {
        let store = Rc::clone(store);
        move |lua, (sql, values): (Text, MultiValue)| {
            let own = store.own();
            async move {
                let besides = Besides::of(values)?;
                exec(&lua, own.named(&besides.name), &sql.lossy(), besides.params).await
            }
        }
    })?;
    let store = Rc::clone(store);
    module.act("prepare", move |lua, (sql, values): (Text, MultiValue)| {
        let connection = store.own().named(&Besides::of(values)?.name);
        let statement = lua.create_userdata(Statement {
            connection: connection.map_err(mlua::Error::runtime)?,
            sql: sql.lossy(),
        })?;
        Ok((statement.clone(), statement))
    })
}

fn transactions(module: &mut Installer<'_>, store: &Store) -> Result<()> {
    module.act_async("begin", {
        let store = Rc::clone(store);
        move |lua, values: MultiValue| {
            let own = store.own();
            async move {
                let name = Besides::of(values)?.name;
                match begin(&own, name).await {
                    Ok(tx) => {
                        let tx = lua.create_userdata(tx)?;
                        (tx.clone(), tx).into_lua_multi(&lua)
                    }
                    Err(why) => (Value::Nil, why).into_lua_multi(&lua),
                }
            }
        }
    })?;
    for (name, word) in [("commit", "COMMIT"), ("rollback", "ROLLBACK")] {
        let store = Rc::clone(store);
        module.act_async(name, move |_, values: MultiValue| {
            let own = store.own();
            async move {
                let name = Besides::of(values)?.name;
                Ok(match own.named(&name) {
                    Ok(connection) => end(&connection, word).await,
                    Err(why) => (false, Some(why)),
                })
            }
        })?;
    }
    let store = Rc::clone(store);
    module.act_async("transaction", move |lua, (f, values): (Function, MultiValue)| {
        let own = store.own();
        async move {
            let tx = match begin(&own, Besides::of(values)?.name).await {
                Ok(tx) => tx,
                Err(why) => return (false, why).into_lua_multi(&lua),
            };
            let connection = Rc::clone(&tx.connection);
            let returned = f.call_async::<MultiValue>(lua.create_userdata(tx)?).await;
            within(&lua, &connection, returned).await
        }
    })
}

/// Ends a transaction as what was done in it says.
async fn within(
    lua: &Lua,
    connection: &Connection,
    returned: Result<MultiValue>,
) -> Result<MultiValue> {
    let refusal = match &returned {
        Err(error) => Some(error.to_string()),
        Ok(values) => match (values.front(), values.get(1)) {
            (Some(Value::Boolean(false)), None) => Some("the function returned false".to_owned()),
            (Some(Value::Boolean(false) | Value::Nil), Some(why)) => {
                Some(crate::value::words(why)?)
            }
            _ => None,
        },
    };
    if let Some(why) = refusal {
        if connection.in_transaction.get() {
            let _it_may_be_over = end(connection, "ROLLBACK").await;
        }
        return (false, why).into_lua_multi(lua);
    }
    if connection.in_transaction.get()
        && let (false, why) = end(connection, "COMMIT").await
    {
        return (false, why).into_lua_multi(lua);
    }
    let mut values = returned?;
    values.push_front(Value::Boolean(true));
    Ok(values)
}

async fn begin(own: &Connections, name: String) -> std::result::Result<Transaction, String> {
    let connection = own.named(&name)?;
    if connection.in_transaction.get() {
        return Err(format!("the connection `{name}` is in a transaction already; end it first"));
    }
    connection.in_transaction.set(true);
    let begun = connection.link.lock().await.exec("BEGIN", Vec::new()).await;
    connection.in_transaction.set(begun.is_ok());
    begun?;
    Ok(Transaction { name, connection })
}

async fn end(connection: &Connection, word: &str) -> Done {
    if !connection.in_transaction.get() {
        return (false, Some("there is no transaction; begin one with db.begin()".to_owned()));
    }
    let ended = connection.link.lock().await.exec(word, Vec::new()).await;
    connection.in_transaction.set(false);
    done(ended.map(drop))
}

type Found = std::result::Result<Rc<Connection>, String>;

async fn query(lua: &Lua, found: Found, sql: &str, params: Vec<Param>) -> Result<MultiValue> {
    let rows = match found {
        Ok(connection) => connection.link.lock().await.query(lua, sql, params).await,
        Err(why) => Err(why),
    };
    match rows {
        Ok(rows) => (rows.clone(), rows).into_lua_multi(lua),
        Err(why) => (Value::Nil, why).into_lua_multi(lua),
    }
}

async fn exec(lua: &Lua, found: Found, sql: &str, params: Vec<Param>) -> Result<MultiValue> {
    let ran = match found {
        Ok(_) if would(|| format!("execute: {sql}")) => Ok(Ran::default()),
        Ok(connection) => {
            let ran = connection.link.lock().await.exec(sql, params).await;
            ran.inspect(|ran| connection.last.set(*ran))
        }
        Err(why) => Err(why),
    };
    match ran {
        Ok(ran) => {
            let table = lua.create_table()?;
            table.set("rows_affected", ran.rows)?;
            if let Some(id) = ran.id {
                table.set("last_insert_id", number(lua, id)?)?;
            }
            (table.clone(), table).into_lua_multi(lua)
        }
        Err(why) => (Value::Nil, why).into_lua_multi(lua),
    }
}

/// A transaction, as long as its connection is in one.
struct Transaction {
    name: String,
    connection: Rc<Connection>,
}

impl UserData for Transaction {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_function(
            "query",
            |lua, (tx, sql, params): (AnyUserData, Text, Option<Table>)| async move {
                let connection = Rc::clone(&tx.borrow::<Transaction>()?.connection);
                query(&lua, Ok(connection), &sql.lossy(), link::optional(params)?).await
            },
        );
        methods.add_async_function(
            "exec",
            |lua, (tx, sql, params): (AnyUserData, Text, Option<Table>)| async move {
                let connection = Rc::clone(&tx.borrow::<Transaction>()?.connection);
                exec(&lua, Ok(connection), &sql.lossy(), link::optional(params)?).await
            },
        );
        for (name, word) in [("commit", "COMMIT"), ("rollback", "ROLLBACK")] {
            methods.add_async_function(name, move |_, tx: AnyUserData| async move {
                let connection = Rc::clone(&tx.borrow::<Transaction>()?.connection);
                Ok(end(&connection, word).await)
            });
        }
    }
}

/// A statement to be used several times.
struct Statement {
    connection: Rc<Connection>,
    sql: String,
}

impl UserData for Statement {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method("query", |lua, this, params: Option<Table>| async move {
            let found = Ok(Rc::clone(&this.connection));
            query(&lua, found, &this.sql, link::optional(params)?).await
        });
        methods.add_async_method("exec", |lua, this, params: Option<Table>| async move {
            let found = Ok(Rc::clone(&this.connection));
            exec(&lua, found, &this.sql, link::optional(params)?).await
        });
        methods.add_method("close", |_, _, ()| Ok(true));
    }
}
