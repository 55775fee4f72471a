//! What a resource type declares about one property.

use serde_json::{Map, Number, Value};

use super::kind::Kind;
use crate::parameter::{Constraint, Pattern, Rule};

/// What a property may be. Made with one of the constructors, and said more about with the others:
/// `PropertySchema::integer("how many").default(1).range(0..=9)`.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertySchema {
    pub kind: Kind,
    pub description: Option<String>,
    pub is_required: bool,
    pub default: Option<Value>,
    pub constraints: Vec<Constraint>,
    pub nested: Option<Nested>,
    /// A change is made in place; otherwise it replaces the resource.
    pub is_updatable: bool,
    /// A change is refused.
    pub is_immutable: bool,
    /// Nothing can be done with it yet.
    pub is_unimplemented: bool,
    /// Texts become lists, and lists may stand for mappings.
    pub converts: bool,
    /// What is given is nobody's business.
    pub is_secret: bool,
    pub support: Support,
}

/// What stands inside of a list or a mapping.
#[derive(Clone, Debug, PartialEq)]
pub enum Nested {
    /// Every item of a list is like this.
    Each(Box<PropertySchema>),
    /// The entries of a mapping are these.
    Fields(Vec<(String, PropertySchema)>),
}

/// How long something has been there, and how long it will be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    pub status: Status,
    pub message: Option<String>,
    /// The release since which it is so.
    pub version: Option<String>,
    pub previous: Option<Box<Support>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Supported,
    Deprecated,
    Unsupported,
    /// There, but not told of.
    Hidden,
    Unknown,
}

impl Status {
    pub const ALL: [Status; 5] = [
        Status::Unknown,
        Status::Supported,
        Status::Deprecated,
        Status::Unsupported,
        Status::Hidden,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Status::Supported => "SUPPORTED",
            Status::Deprecated => "DEPRECATED",
            Status::Unsupported => "UNSUPPORTED",
            Status::Hidden => "HIDDEN",
            Status::Unknown => "UNKNOWN",
        }
    }
}

impl Support {
    pub fn since(version: &str) -> Support {
        Support { version: Some(version.to_owned()), ..Support::default() }
    }

    pub fn describe(&self) -> Value {
        serde_json::json!({
            "status": self.status.name(),
            "message": self.message,
            "version": self.version,
            "previous_status": self.previous.as_ref().map(|previous| previous.describe()),
        })
    }
}

impl PropertySchema {
    pub fn new(kind: Kind) -> PropertySchema {
        PropertySchema {
            kind,
            description: None,
            is_required: false,
            default: None,
            constraints: Vec::new(),
            nested: None,
            is_updatable: false,
            is_immutable: false,
            is_unimplemented: false,
            converts: false,
            is_secret: false,
            support: Support::default(),
        }
    }

    pub fn string(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::String).described(description)
    }

    pub fn integer(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::Integer).described(description)
    }

    pub fn number(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::Number).described(description)
    }

    pub fn boolean(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::Boolean).described(description)
    }

    pub fn any(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::Any).described(description)
    }

    /// A list of anything.
    pub fn list(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::List).described(description)
    }

    /// A mapping of anything.
    pub fn map(description: &str) -> PropertySchema {
        PropertySchema::new(Kind::Map).described(description)
    }

    /// A list of which every item is like this.
    pub fn list_of(description: &str, item: PropertySchema) -> PropertySchema {
        let nested = Some(Nested::Each(Box::new(item)));
        PropertySchema { nested, ..PropertySchema::list(description) }
    }

    /// A mapping with these entries.
    pub fn fields<const N: usize>(
        description: &str,
        fields: [(&str, PropertySchema); N],
    ) -> PropertySchema {
        let named = |(name, schema): (&str, PropertySchema)| (name.to_owned(), schema);
        let nested = Some(Nested::Fields(fields.into_iter().map(named).collect()));
        PropertySchema { nested, ..PropertySchema::map(description) }
    }

    #[must_use]
    pub fn described(mut self, description: &str) -> PropertySchema {
        self.description = Some(description.to_owned()).filter(|text| !text.is_empty());
        self
    }

    #[must_use]
    pub fn required(mut self) -> PropertySchema {
        self.is_required = true;
        self
    }

    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> PropertySchema {
        self.default = Some(value.into());
        self
    }

    #[must_use]
    pub fn updatable(mut self) -> PropertySchema {
        self.is_updatable = true;
        self
    }

    #[must_use]
    pub fn immutable(mut self) -> PropertySchema {
        self.is_immutable = true;
        self
    }

    #[must_use]
    pub fn secret(mut self) -> PropertySchema {
        self.is_secret = true;
        self
    }

    #[must_use]
    pub fn hidden(mut self) -> PropertySchema {
        self.support.status = Status::Hidden;
        self
    }

    #[must_use]
    pub fn with(mut self, rule: Rule) -> PropertySchema {
        self.constraints.push(Constraint::new(rule));
        self
    }

    #[must_use]
    pub fn range(self, min: Option<i64>, max: Option<i64>) -> PropertySchema {
        self.with(Rule::Range { min: min.map(Number::from), max: max.map(Number::from) })
    }

    #[must_use]
    pub fn length(self, min: Option<i64>, max: Option<i64>) -> PropertySchema {
        self.with(Rule::Length { min: min.map(Number::from), max: max.map(Number::from) })
    }

    #[must_use]
    pub fn allowed<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> PropertySchema {
        self.with(Rule::AllowedValues(values.into_iter().map(Into::into).collect()))
    }

    #[must_use]
    pub fn pattern(self, pattern: Pattern) -> PropertySchema {
        self.with(Rule::AllowedPattern(pattern))
    }

    #[must_use]
    pub fn custom(self, name: &str) -> PropertySchema {
        self.with(Rule::Custom(name.to_owned()))
    }

    /// The shape in which the API tells of it.
    pub fn describe(&self) -> Value {
        let mut out = Map::new();
        let mut say = |key: &str, value: Value| out.insert(key.to_owned(), value);
        say("type", self.kind.name().to_lowercase().into());
        if let Some(description) = &self.description {
            say("description", description.as_str().into());
        }
        if let Some(default) = &self.default {
            say("default", default.clone());
        }
        match &self.nested {
            Some(Nested::Each(item)) => {
                say("schema", serde_json::json!({"*": item.describe()}));
            }
            Some(Nested::Fields(fields)) => {
                let fields = fields.iter().map(|(name, field)| (name.clone(), field.describe()));
                say("schema", Value::Object(fields.collect()));
            }
            None => {}
        }
        say("required", self.is_required.into());
        if !self.constraints.is_empty() {
            say("constraints", self.constraints.iter().map(Constraint::describe).collect());
        }
        say("update_allowed", self.is_updatable.into());
        say("immutable", self.is_immutable.into());
        Value::Object(out)
    }

    pub(crate) fn is_told(&self) -> bool {
        !self.is_unimplemented && self.support.status != Status::Hidden
    }
}
