//! How results are printed: the formats, and what a type must say about itself to be shown in all of
//! them.
//!
//! Lists are one JSON document `{"items": [..]}`, or one object a line with `jsonl`; single objects
//! are the API's own views. Tables have no borders, show relative times (absolute ones with `wide`)
//! and are cut to the terminal only where there is one.

mod access_rows;
mod approval_rows;
mod backup_rows;
mod blob_rows;
mod counted;
mod describe;
mod figure_rows;
mod hook_rows;
mod image_rows;
mod jsonpath;
mod lock_rows;
mod people_rows;
mod printable;
mod quota_rows;
mod resources;
mod rows;
mod schedule_rows;
mod secret_rows;
mod stack_rows;
mod state_rows;
mod table;
mod task_rows;
mod template;
mod time;
mod timeline_rows;
mod usage;
mod watcher_rows;
mod workflow_rows;
mod workload_rows;

pub use counted::counted;
pub use describe::{Description, written_today};
pub use figure_rows::figure_rows;
pub use image_rows::ImageWithNodes;
pub use jsonpath::JsonPath;
pub use lock_rows::holder;
pub use printable::{Tame, lines, one_line};
pub use quota_rows::QuotaLine;
pub use resources::{NodeResources, gpu};
pub use stack_rows::{StackCheckRow, lies, plain, short, standing};
pub use table::{Cell, Table};
pub use task_rows::{ArrayTask, QueueLine};
pub use template::Template;
pub use time::{age, moment, span};
pub use timeline_rows::TimelineRow;
pub use usage::{node_usage, workload_usage};

use std::str::FromStr;

use hostler_model::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    Table,
    Wide,
    Json,
    Jsonl,
    Yaml,
    Name,
    JsonPath(JsonPath),
    Template(Template),
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        match text {
            "table" | "" => Ok(Format::Table),
            "wide" => Ok(Format::Wide),
            "json" => Ok(Format::Json),
            "jsonl" => Ok(Format::Jsonl),
            "yaml" => Ok(Format::Yaml),
            "name" => Ok(Format::Name),
            _ => match text.split_once('=') {
                Some(("jsonpath", expression)) => expression.parse().map(Format::JsonPath),
                Some(("template", template)) => template.parse().map(Format::Template),
                _ => Err(format!(
                    "`{text}` is not a format; use table, wide, json, jsonl, yaml, name, jsonpath=EXPRESSION or template=TEMPLATE"
                )),
            },
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub title: &'static str,
    /// Only shown with `-o wide`.
    pub is_wide: bool,
}

pub const fn column(title: &'static str) -> Column {
    Column { title, is_wide: false }
}

pub const fn wide(title: &'static str) -> Column {
    Column { title, is_wide: true }
}

/// What can be shown in every format.
pub trait Show: Serialize {
    /// In `-o name`: `node/web-1`.
    const KIND: &'static str;
    const COLUMNS: &'static [Column];
    fn id(&self) -> String;
    fn name(&self) -> String;
    /// A cell for every column, wide or not.
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell>;
}

/// Prints a list.
pub fn list<T: Show>(ui: &Ui, now: Timestamp, items: &[T]) -> Result<(), Failure> {
    if ui.is_quiet() {
        return items.iter().try_for_each(|item| ui.line(&item.id()));
    }
    match ui.format().unwrap_or(&Format::Table) {
        Format::Table => print_table(ui, now, items, false),
        Format::Wide => print_table(ui, now, items, true),
        Format::Json => ui.line(&pretty(&json!({ "items": items }))?),
        Format::Jsonl => items.iter().try_for_each(|item| ui.line(&compact(item)?)),
        Format::Yaml => ui.data(yaml(&json!({ "items": items }))?.as_bytes()),
        Format::Name => {
            items.iter().try_for_each(|item| ui.line(&format!("{}/{}", T::KIND, item.name())))
        }
        Format::JsonPath(path) => ui.line(&path.render(&value(&json!({ "items": items }))?)),
        Format::Template(template) => {
            items.iter().try_for_each(|item| ui.line(&template.render(&value(item)?)?))
        }
    }
}

fn print_table<T: Show>(
    ui: &Ui,
    now: Timestamp,
    items: &[T],
    is_wide: bool,
) -> Result<(), Failure> {
    if items.is_empty() {
        ui.say(&format!("no {}", plural(T::KIND)));
        return Ok(());
    }
    let mut table = table_of::<T>(is_wide);
    for item in items {
        table.push(row(item, now, is_wide));
    }
    let width = ui.width().filter(|_| !is_wide);
    ui.data(table.render(ui.is_out_colored(), width).as_bytes())
}

fn plural(kind: &str) -> String {
    let kind = kind.replace('-', " ");
    match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    }
}

/// An empty table for items of a kind.
pub fn table_of<T: Show>(is_wide: bool) -> Table {
    let titles = T::COLUMNS.iter().filter(|column| is_wide || !column.is_wide);
    Table::new(titles.map(|column| column.title).collect())
}

/// The cells of an item that such a table shows.
pub fn row<T: Show>(item: &T, now: Timestamp, is_wide: bool) -> Vec<Cell> {
    T::COLUMNS
        .iter()
        .zip(item.cells(now, is_wide))
        .filter(|(column, _)| is_wide || !column.is_wide)
        .map(|(_, cell)| cell)
        .collect()
}

/// Prints one object; in full (YAML) where no format was asked for.
pub fn one<T: Show>(ui: &Ui, now: Timestamp, item: &T) -> Result<(), Failure> {
    if ui.is_quiet() {
        return ui.line(&item.id());
    }
    match ui.format().unwrap_or(&Format::Yaml) {
        Format::Table => print_table(ui, now, std::slice::from_ref(item), false),
        Format::Wide => print_table(ui, now, std::slice::from_ref(item), true),
        Format::Name => ui.line(&format!("{}/{}", T::KIND, item.name())),
        format @ (Format::Json
        | Format::Jsonl
        | Format::Yaml
        | Format::JsonPath(_)
        | Format::Template(_)) => document(ui, format, item),
    }
}

/// Tells that something was changed: a sentence for people, or the object where a format was asked
/// for.
pub fn changed<T: Show>(ui: &Ui, now: Timestamp, item: &T, what: &str) -> Result<(), Failure> {
    if ui.format().is_some() || ui.is_quiet() {
        return one(ui, now, item);
    }
    ui.say(&format!("{} {} {what}", T::KIND.replace('-', " "), item.name()));
    Ok(())
}

/// Prints what is no table: in full where no format was asked for.
pub fn document<T: Serialize>(ui: &Ui, format: &Format, item: &T) -> Result<(), Failure> {
    match format {
        Format::Json => ui.line(&pretty(item)?),
        Format::Jsonl => ui.line(&compact(item)?),
        Format::JsonPath(path) => ui.line(&path.render(&value(item)?)),
        Format::Template(template) => ui.line(&template.render(&value(item)?)?),
        Format::Yaml | Format::Table | Format::Wide | Format::Name => {
            ui.data(yaml(item)?.as_bytes())
        }
    }
}

fn value(item: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(item).map_err(|error| Failure::Other(error.into()))
}

fn pretty(item: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(item).map_err(|error| Failure::Other(error.into()))
}

pub fn compact(item: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(item).map_err(|error| Failure::Other(error.into()))
}

fn yaml(item: &impl Serialize) -> Result<String, Failure> {
    let text =
        serde_saphyr::to_string(&value(item)?).map_err(|error| Failure::Other(error.into()))?;
    Ok(format!("{}\n", text.trim_end()))
}
