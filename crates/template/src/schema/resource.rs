//! What is known of a resource type.

use serde_json::{Map, Value, json};

use super::coerce::{self, Problems};
use super::kind::Kind;
use super::known::Known;
use super::property::{PropertySchema, Status, Support};
use crate::diagnostic::{Diagnostic, Fault};
use crate::parameter::Checks;
use crate::place::Path;

/// What a resource type declares.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSchema {
    pub type_name: String,
    /// What it is, in words.
    pub description: String,
    pub properties: Vec<(String, PropertySchema)>,
    pub attributes: Vec<(String, AttributeSchema)>,
    /// What may be said of how it is updated.
    pub update_policy: Vec<(String, PropertySchema)>,
    pub support: Support,
    /// Takes whatever properties it is given, and has whatever attribute it is asked for.
    pub takes_anything: bool,
    /// It can be kept as a snapshot when it is deleted.
    pub has_snapshots: bool,
    /// Has attributes that are not declared: those below these names, as `resource.` of groups.
    pub open_attributes: Vec<String>,
    /// The property that says what every member of a group is: a resource as it stands in a template.
    pub members: Option<&'static str>,
}

/// What a resource type declares about an attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeSchema {
    pub description: Option<String>,
    pub kind: Option<Kind>,
    /// Who may only look is not told.
    pub is_secret: bool,
    pub support: Support,
}

impl AttributeSchema {
    pub fn new(description: &str) -> AttributeSchema {
        AttributeSchema { description: Some(description.to_owned()), ..AttributeSchema::default() }
    }

    #[must_use]
    pub fn of(mut self, kind: Kind) -> AttributeSchema {
        self.kind = Some(kind);
        self
    }

    #[must_use]
    pub fn secret(mut self) -> AttributeSchema {
        self.is_secret = true;
        self
    }

    fn describe(&self) -> Value {
        let mut out = Map::new();
        if let Some(description) = &self.description {
            out.insert("description".to_owned(), description.as_str().into());
        }
        if let Some(kind) = self.kind {
            out.insert("type".to_owned(), kind.name().to_lowercase().into());
        }
        Value::Object(out)
    }
}

/// The attribute that every resource has.
pub(crate) const SHOW: &str = "show";

impl ResourceSchema {
    pub fn new(type_name: &str, description: &str) -> ResourceSchema {
        ResourceSchema {
            type_name: type_name.to_owned(),
            description: description.to_owned(),
            properties: Vec::new(),
            attributes: Vec::new(),
            update_policy: Vec::new(),
            support: Support::default(),
            takes_anything: false,
            has_snapshots: false,
            open_attributes: Vec::new(),
            members: None,
        }
    }

    /// Groups are looked into by this property.
    #[must_use]
    pub fn of_members(mut self, definition: &'static str) -> ResourceSchema {
        self.members = Some(definition);
        self
    }

    #[must_use]
    pub fn property(mut self, name: &str, schema: PropertySchema) -> ResourceSchema {
        self.properties.push((name.to_owned(), schema));
        self
    }

    #[must_use]
    pub fn attribute(mut self, name: &str, schema: AttributeSchema) -> ResourceSchema {
        self.attributes.push((name.to_owned(), schema));
        self
    }

    #[must_use]
    pub fn policy(mut self, name: &str, schema: PropertySchema) -> ResourceSchema {
        self.update_policy.push((name.to_owned(), schema));
        self
    }

    pub fn get(&self, property: &str) -> Option<&PropertySchema> {
        self.properties.iter().find(|(name, _)| name == property).map(|(_, schema)| schema)
    }

    /// Whether resources of this type have such an attribute.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.takes_anything
            || name == SHOW
            || self.attributes.iter().any(|(known, _)| known == name)
            || self.open_attributes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }

    /// Makes of what is given for the properties what they are declared to be, or says everything that is
    /// wrong with it. `path` is where the properties stand.
    pub fn take(
        &self,
        given: &Known,
        path: &Path,
        checks: &Checks<'_>,
    ) -> (Map<String, Value>, Vec<Diagnostic>) {
        if self.takes_anything {
            let given = given.to_json().as_object().cloned().unwrap_or_default();
            return (given, Vec::new());
        }
        taken(&self.properties, given, path, checks)
    }

    /// The same for what is said of updates.
    pub fn take_policy(
        &self,
        given: &Known,
        path: &Path,
        checks: &Checks<'_>,
    ) -> (Map<String, Value>, Vec<Diagnostic>) {
        taken(&self.update_policy, given, path, checks)
    }

    /// What the API tells of the type.
    pub fn describe(&self) -> Value {
        let told = self.properties.iter().filter(|(_, schema)| schema.is_told());
        let properties: Map<_, _> =
            told.map(|(name, schema)| (name.clone(), schema.describe())).collect();
        let told = self.attributes.iter().filter(|(_, one)| one.support.status != Status::Hidden);
        let mut attributes: Map<_, _> =
            told.map(|(name, schema)| (name.clone(), schema.describe())).collect();
        attributes.insert(
            SHOW.to_owned(),
            json!({"description": "Detailed information about resource.", "type": "map"}),
        );
        json!({
            "resource_type": self.type_name,
            "properties": properties,
            "attributes": attributes,
            "support_status": self.support.describe(),
        })
    }
}

fn taken(
    fields: &[(String, PropertySchema)],
    given: &Known,
    path: &Path,
    checks: &Checks<'_>,
) -> (Map<String, Value>, Vec<Diagnostic>) {
    let mut wrong = Problems::new();
    let nothing = Vec::new();
    let entries = match given {
        Known::Map(entries) => entries,
        _ => &nothing,
    };
    let taken = match given {
        Known::Unknown => Map::new(),
        _ => coerce::fields(fields, entries, path, checks, &mut wrong),
    };
    let said = wrong.into_iter().map(|problem| {
        let found = Diagnostic::new(Fault::PropertyInvalid, &problem.path, problem.message);
        match problem.unknown {
            Some((name, known)) => found.meant(&name, known.iter().map(String::as_str)),
            None => found,
        }
    });
    (taken, said.collect())
}
