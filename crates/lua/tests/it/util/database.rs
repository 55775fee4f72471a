//! `db`, on SQLite and, where `HOSTLER_TEST_POSTGRES` holds the address of one, on PostgreSQL.

use super::World;

#[test]
fn values_are_never_part_of_a_statement() {
    let world = World::new();
    world.run(
        "assert(db.connect('sqlite3', 'a.db'))
         db.exec('create table t (a, b text, c blob, d real, e boolean)')
         local nasty = \"'); drop table t; --\"
         assert(db.exec('insert into t values (?, ?, ?, ?, ?)', { nil, nasty, '\\255\\0', 1.5, true, n = 5 }))
         local row = db.query('select * from t where b = $1', { nasty })[1]
         assert(row.a == nil and row.b == nasty and row.c == '\\255\\0' and row.d == 1.5 and row.e == true)
         assert(db.query(\"select * from t where b = '\" .. db.escape(nasty) .. \"'\")[1])
         assert(db.query('select 9007199254740993 as big, 7 as small')[1].big == '9007199254740993')
         local none, why = db.query('select * from nothing')
         assert(none == nil and why:find('nothing'))
         local none, why = db.query('with recursive n(i) as (select 1 union all select i + 1 from n) select i from n limit 200000')
         assert(none == nil and why:find('LIMIT'))
         assert(not pcall(db.query, 'select ?', { {} }) and not pcall(db.query, 'select 1', 7))",
    );
    assert!(world.path("a.db").exists());
}

#[test]
fn a_connection_belongs_to_its_step() {
    let world = World::new();
    world.run("assert(db.connect('sqlite3', ':memory:', 'mine') and db.ping('mine'))");
    world.run(
        "local ok, why = db.ping('mine')
         assert(not ok and why:find('db.connect'))
         local none, why = db.query('select 1', 'mine')
         assert(none == nil and why:find('mine'))
         local ok, why = db.connect('mysql', 'x')
         assert(not ok and why:find('postgres'))",
    );
}

#[test]
fn transactions_hold_or_are_taken_back_as_a_whole() {
    let world = World::new();
    world.run(
        "db.connect('sqlite3', ':memory:')
         db.exec('create table t (id int)')
         local count = function() return db.query('select count(*) as n from t')[1].n end
         for _, f in {
           function(tx) tx:exec('insert into t values (1)') return false end,
           function(tx) tx:exec('insert into t values (1)') return nil, 'not today' end,
           function(tx) db.exec('insert into t values (1)', tx) error('no') end,
         } do
           local ok, why = db.transaction(f)
           assert(ok == false and why and count() == 0)
         end
         local ok, value = db.transaction(function(tx) tx:exec('insert into t values (?)', { 1 }) return 'done' end)
         assert(ok and value == 'done' and count() == 1)
         local tx = db.begin()
         local none, why = db.begin()
         assert(none == nil and why:find('already'))
         tx:exec('delete from t')
         assert(db.rollback(tx) and count() == 1)
         assert(not db.rollback(tx))
         local s = db.prepare('select ? + 1 as n')
         assert(s:query({ 1 })[1].n == 2 and s:query({ 5 })[1].n == 6 and s:close())",
    );
}

#[test]
fn in_check_mode_a_database_is_only_read() {
    let world = World::new();
    world.run("db.connect('sqlite3', 'a.db') db.exec('create table t (id int); insert into t values (1)')");
    let world = World { check: true, ..world };
    world.run(
        "assert(db.connect('sqlite3', 'a.db'))
         assert(db.exec('delete from t').rows_affected == 0)
         assert(#db.query('select * from t') == 1)
         local none, why = db.query('delete from t returning id')
         assert(none == nil and why:find('readonly'))
         assert(not db.connect('sqlite3', 'new.db'))",
    );
    assert!(world.said().contains(&"would execute: delete from t".to_owned()));
    assert!(!world.path("new.db").exists());
}

#[test]
fn postgres_answers_the_same_with_values_and_without() {
    let Ok(address) = std::env::var("HOSTLER_TEST_POSTGRES") else {
        println!("SKIPPED: set HOSTLER_TEST_POSTGRES to the address of a PostgreSQL to run this");
        return;
    };
    let world = World::new().with("ADDRESS", &address);
    world.run(
        "local address = os.getenv('ADDRESS')
         if not address then return end
         assert(db.connect('postgres', address))
         assert(db.exec('create temp table t (id serial, name text)'))
         assert(db.exec('insert into t (name) values ($1), ($2)', { 'a', 'b' }).rows_affected == 2)
         assert(db.query('select name from t where id = $1', { 2 })[1].name == 'b')
         local columns = \"select true as b, 7::int2 as i2, 7 as i4, 7::int8 as i8, 1.5::float4 as f4, 2.5::float8 as f8, 12.340::numeric(10,3) as n, 'x'::varchar as v, 'c'::char(3) as c, '2024-02-03'::date as d, '04:05:06'::time as t, '2024-02-03 04:05:06.7'::timestamp as ts, '{\\\"a\\\":1}'::jsonb as j, '00000000-0000-0000-0000-00000000000a'::uuid as u, '\\\\xff00'::bytea as y, null as nothing\"
         local plain, bound = db.query(columns)[1], db.query(columns .. ' where $1', { true })[1]
         for name, value in plain do assert(bound[name] == value, name .. ': ' .. tostring(value) .. ' ' .. tostring(bound[name])) end
         for name in bound do assert(plain[name] ~= nil, name) end
         assert(plain.n == '12.340' and plain.d == '2024-02-03' and plain.y == '\\255\\0' and plain.b == true and plain.nothing == nil)
         local none, why = db.query('select point(1, 2) as p where $1', { true })
         assert(none == nil and why:find('::text'))
         local ok, why = db.transaction(function(tx) tx:exec('delete from t') error('no') end)
         assert(not ok and #db.query('select * from t') == 2)
         local ok, why = db.connect('postgres', 'host=127.0.0.1 port=1 user=x dbname=y', 'other')
         assert(not ok and why)",
    );
    let world = World { check: true, ..World::new().with("ADDRESS", &address) };
    world.run(
        "local address = os.getenv('ADDRESS')
         if not address then return end
         assert(db.connect('postgres', address))
         local none, why = db.query('create table hostler_never (id int)')
         assert(none == nil and why:find('read%-only'))",
    );
}
