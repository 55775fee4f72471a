//! `data`, `strings`, `math`, `crypto`, `time`.

use std::collections::BTreeMap;

use hostler_lua::{Given, NoFiles, define};

use super::World;

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let world = World::new();
    world.run(
        "for _, case in {
           { data.json_decode, '{\"a\": }', 'line 1' },
           { data.yaml_decode, 'a: [1', 'YAML' },
           { data.toml_decode, 'a = ', 'TOML' },
           { data.xml_decode, '<a><b></a>', 'XML' },
           { data.xml_decode, '<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>', 'XML' },
           { data.csv_parse, 'a\\n\\255', 'CSV' },
           { data.yaml_to_json, '\\255', 'UTF' },
         } do
           local value, why = case[1](case[2])
           assert(value == nil and why:find(case[3]), tostring(why))
         end
         local none, why = data.xml_encode({ ['a b'] = 1 })
         assert(none == nil and why:find('a b'))
         local none, why = data.toml_encode({ 1, 2 })
         assert(none == nil and why)
         local loop = {} loop.loop = loop
         assert(not pcall(data.deep_merge, loop, {}) and not pcall(data.flatten, loop))",
    );
}

#[test]
fn formats_hold_what_they_are_given() {
    let world = World::new();
    world.run(
        "local value = { text = 'ä: \"x\"\\n- y', list = { 1, 2.5, true }, deep = { a = { b = {} } }, yes = 'true' }
         for _, format in { json, yaml, toml } do
           local back = format.decode(format.encode(value))
           assert(back.text == value.text and back.list[2] == 2.5 and back.list[3] == true and back.yes == 'true')
           assert(type(back.deep.a.b) == 'table')
         end
         local back = data.xml_decode(data.xml_encode({ a = 'x & <y>', ['@q'] = '\"' })).root
         assert(back.a == 'x & <y>' and back['@q'] == '\"')
         local soap = data.xml_decode('<s:E xmlns:s=\"urn:x\"><s:B/><![CDATA[<raw>]]></s:E>')
         assert(soap['s:E']['s:B'] == '' and soap['s:E']['#text'] == '<raw>')
         assert(data.json_encode({}) == '{}' and data.json_decode('null') == nil)
         local a = { x = { 1 } }
         local m = data.deep_merge(a, { y = a })
         m.y.x[1] = 2
         assert(a.x[1] == 1)",
    );
}

#[test]
fn sealed_texts_open_only_untouched_and_with_their_key() {
    let world = World::new();
    world.run(
        "local sealed = crypto.aes_encrypt('\\0secret\\255', 'key')
         assert(crypto.aes_encrypt('\\0secret\\255', 'key') ~= sealed)
         assert(crypto.aes_decrypt(sealed, 'key') == '\\0secret\\255')
         local raw = crypto.base64_decode(sealed)
         assert(raw:byte(1) == 1 and #raw == 29 + 8 + 16)
         for _, i in { 1, 2, 20, 30, #raw } do
           local byte = string.char(bit32.bxor(raw:byte(i), 1))
           local touched = crypto.base64_encode(raw:sub(1, i - 1) .. byte .. raw:sub(i + 1))
           assert(crypto.aes_decrypt(touched, 'key') == nil)
         end
         assert(crypto.aes_decrypt('', 'key') == nil and crypto.aes_decrypt('?', 'key') == nil)
         assert(crypto.aes_encrypt('x', '') == nil)
         assert(crypto.hmac('sha256', 'key', 'The quick brown fox jumps over the lazy dog') == 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8')
         assert(crypto.hmac('md5', 'k', 't') == nil)",
    );
}

#[test]
fn the_standard_library_stays_as_it_is() {
    let world = World::new();
    world.run(
        "assert(math.random(5, 5) == 5 and math.huge > 0 and math.fmod(5, 3) == 2 and math.floor(1.5) == 1)
         assert(math.abs(math.e - 2.71828) < 1e-4 and math.abs(math.phi - 1.61803) < 1e-4)
         assert(math.max(1, 2) == 2 and select(2, math.modf(1.5)) == 0.5)
         assert(type(os.time()) == 'number' and type(os.clock()) == 'number' and os.date('%Y') ~= '')
         assert(not pcall(math.random_int, 3, 1))",
    );
}

#[test]
fn the_zone_is_that_of_the_step() {
    let world = World::new().with("TZ", "Asia/Tokyo");
    world.run(
        "if os.getenv('TZ') then
           assert(time.hour(0) == 9 and time['local'](0):find('+09:00', 1, true))
           assert(time.parse('1970-01-01 09:00', '2006-01-02 15:04') == 0)
           assert(time.format(0.25, 'RFC3339Nano') == '1970-01-01T09:00:00.25+09:00')
           assert(not pcall(time.year, 1e300))
         end",
    );
}

#[test]
fn while_a_file_is_defined_nothing_is_random_and_the_clock_stands_still() {
    let text = "task('t' .. time.now() .. strings.sha256('x'):sub(1, 4) .. time.format(0, 'DateOnly')):command('true'):build()
        local id = crypto.uuid() fs.write('a', 'b') for line in io.lines('x') do end";
    let given = Given { now: 1000, env: BTreeMap::new(), ..Given::default() };
    let definition = define("f.lua", text, Box::new(NoFiles), &given).unwrap();
    let shown = format!("{:?} {:?}", definition.workflows, definition.remarks);
    assert!(shown.contains("t10002d711970-01-01"), "{shown}");
    for what in ["crypto.uuid", "fs.write", "io.lines"] {
        assert!(shown.contains(what), "{what}: {shown}");
    }
}
