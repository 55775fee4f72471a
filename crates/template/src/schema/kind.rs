//! Of which kind a parameter or a property is.

use serde_json::Value;

/// The kinds of values that can be declared. Parameters know all but `Integer` and `Any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    List,
    Map,
    Any,
}

impl Kind {
    pub const PARAMETERS: [Kind; 5] =
        [Kind::String, Kind::Number, Kind::List, Kind::Map, Kind::Boolean];

    /// What HOT calls parameters of this kind.
    pub fn hot_name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Integer | Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::List => "comma_delimited_list",
            Kind::Map | Kind::Any => "json",
        }
    }

    /// What CloudFormation, and the API, call parameters of this kind.
    pub fn cfn_name(self) -> &'static str {
        match self {
            Kind::String => "String",
            Kind::Integer | Kind::Number => "Number",
            Kind::Boolean => "Boolean",
            Kind::List => "CommaDelimitedList",
            Kind::Map | Kind::Any => "Json",
        }
    }

    /// What properties of this kind are called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "String",
            Kind::Integer => "Integer",
            Kind::Number => "Number",
            Kind::Boolean => "Boolean",
            Kind::List => "List",
            Kind::Map => "Map",
            Kind::Any => "Any",
        }
    }

    /// What stands for a property of this kind that has neither a value nor a default.
    pub fn empty(self) -> Value {
        match self {
            Kind::String => Value::from(""),
            Kind::Integer | Kind::Number => Value::from(0),
            Kind::Boolean => Value::from(false),
            Kind::List => Value::Array(Vec::new()),
            Kind::Map => Value::Object(serde_json::Map::new()),
            Kind::Any => Value::Null,
        }
    }
}
