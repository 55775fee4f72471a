//! Rows of text.

use ::csv::{ReaderBuilder, StringRecord, WriterBuilder};
use mlua::{Lua, Result, Table, Value};

use crate::budget::{Budget, NODE};
use crate::modules::Installer;
use crate::modules::util::given::{Text, answer};

pub(super) fn install(module: &mut Installer<'_>) -> Result<()> {
    module.pure(
        "csv_parse",
        |lua, (text, separator, options): (Text, Option<Text>, Option<Table>)| {
            let has_header = match options {
                Some(options) => options.get::<Option<bool>>("header")?.unwrap_or(false),
                None => false,
            };
            let separator = separator_of(separator)?;
            let ends = [separator, b'\n', b'\r'];
            let fields = text.0.iter().filter(|byte| ends.contains(byte)).count();
            Budget::of(lua).take_each(fields, NODE)?;
            rows(lua, &text.0, separator, has_header)
        },
    )?;
    module.pure("csv_generate", |lua, (rows, separator): (Table, Option<Text>)| {
        let separator = separator_of(separator)?;
        let budget = Budget::of(lua);
        let mut lines = Vec::new();
        for row in rows.sequence_values::<Table>() {
            let row = row?;
            budget.take(NODE)?;
            let fields = row.sequence_values::<Value>().map(|field| budget.words(&field?));
            lines.push(fields.collect::<Result<Vec<_>>>()?);
        }
        Ok(answer(text(&lines, separator)))
    })
}

fn separator_of(given: Option<Text>) -> Result<u8> {
    match given.as_ref().map(|text| text.0.as_slice()) {
        None => Ok(b','),
        Some([byte]) => Ok(*byte),
        Some(_) => Err(mlua::Error::runtime("the separator of CSV is one byte, as `,` or `;`")),
    }
}

fn rows(lua: &Lua, text: &[u8], separator: u8, has_header: bool) -> Result<(Option<Table>, Value)> {
    let read = || -> std::result::Result<Vec<StringRecord>, ::csv::Error> {
        ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(text)
            .into_records()
            .collect()
    };
    let records = match read() {
        Ok(records) => records,
        Err(error) => {
            let why = lua.create_string(format!("it is no CSV: {error}"))?;
            return Ok((None, Value::String(why)));
        }
    };
    let table = lua.create_table()?;
    if let (true, Some((names, records))) = (has_header, records.split_first()) {
        for record in records {
            table.push(lua.create_table_from(names.iter().zip(record.iter()))?)?;
        }
    } else if !has_header {
        for record in &records {
            table.push(lua.create_sequence_from(record.iter())?)?;
        }
    }
    Ok((Some(table.clone()), Value::Table(table)))
}

fn text(rows: &[Vec<String>], separator: u8) -> std::result::Result<String, String> {
    let mut writer =
        WriterBuilder::new().delimiter(separator).flexible(true).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(|error| error.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
