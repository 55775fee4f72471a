//! A template whose parameters are known, or deliberately not known.
//!
//! With parameters, conditions are decided and what is disabled is gone. Without, everything is there that
//! may be there, and both branches of every `if` are looked at. Either way what comes out refers only to what
//! exists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::resource::{OutputSection, ResourceSection};
use super::section::{EXTERNAL_ID, Words};
use super::{Template, Version};
use crate::condition;
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::{
    Conditions, Dialect, Expr, Facade, Reference, ResolveError, Resolved, Scope, parse,
};
use crate::parameter::Parameters;
use crate::place::{Path, Place, Step};
use crate::value::Node;

/// The contents of files that were sent along, by the names under which they are referred to.
pub type Files = BTreeMap<String, String>;

/// What becomes of what a resource stands for, when it is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeletionPolicy {
    #[default]
    Delete,
    Retain,
    Snapshot,
}

impl DeletionPolicy {
    pub fn name(self) -> &'static str {
        match self {
            DeletionPolicy::Delete => "Delete",
            DeletionPolicy::Retain => "Retain",
            DeletionPolicy::Snapshot => "Snapshot",
        }
    }

    /// Newer versions know the words in small letters, too.
    pub fn read(word: &str, version: Version) -> Option<DeletionPolicy> {
        let all = [DeletionPolicy::Delete, DeletionPolicy::Retain, DeletionPolicy::Snapshot];
        let is_small = version >= Version::Newton;
        all.into_iter().find(|policy| {
            policy.name() == word || is_small && policy.name().to_lowercase() == word
        })
    }
}

/// A template in which the functions were found.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub resources: Vec<LoadedResource>,
    pub outputs: Vec<LoadedOutput>,
    /// Resources whose condition does not hold.
    pub disabled: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct LoadedResource {
    pub name: String,
    pub place: Option<Place>,
    pub type_name: String,
    pub type_place: Option<Place>,
    pub properties: Expr,
    pub metadata: Expr,
    pub update_policy: Expr,
    pub deletion_policy: DeletionPolicy,
    /// Without those that are disabled.
    pub depends_on: Vec<(String, Option<Place>)>,
    pub external_id: Option<Expr>,
    pub description: String,
    /// Something of it could not be read, so that nothing follows from what is not there.
    pub(crate) is_broken: bool,
}

#[derive(Clone, Debug)]
pub struct LoadedOutput {
    pub name: String,
    pub place: Option<Place>,
    pub description: Option<String>,
    /// Nothing when its condition does not hold.
    pub value: Option<Expr>,
}

impl Loaded {
    pub fn resource(&self, name: &str) -> Option<&LoadedResource> {
        self.resources.iter().find(|resource| resource.name == name)
    }
}

/// What can be known from parameters and files alone, before there are resources.
pub struct ParameterScope<'a> {
    pub template: &'a Template,
    pub parameters: &'a Parameters,
    pub files: Option<&'a Files>,
}

impl Scope for ParameterScope<'_> {
    fn parameter(&self, name: &str) -> Result<Value, ResolveError> {
        let found = self.parameters.value(name).cloned();
        found.ok_or_else(|| ResolveError::parameter_missing(name))
    }

    fn reference(&self, resource: &str) -> Result<Value, ResolveError> {
        Err(ResolveError::reference(resource, "unknown"))
    }

    fn attribute(&self, resource: &str, _: &[Value]) -> Result<Value, ResolveError> {
        Err(ResolveError::reference(resource, "unknown"))
    }

    fn file(&self, key: &str) -> Result<String, ResolveError> {
        let found = self.files.and_then(|files| files.get(key)).cloned();
        found.ok_or_else(|| ResolveError::file_missing("get_file", key))
    }

    fn facade(&self, _: Facade) -> Result<Value, ResolveError> {
        Ok(Value::Null)
    }

    fn mapping(&self, name: &str) -> Result<Value, ResolveError> {
        let found = self.template.mappings.get(name).map(Node::to_json);
        found.ok_or_else(|| ResolveError::wrong(format!("There is no mapping \"{name}\"")))
    }
}

impl Template {
    /// Finds the functions, with conditions decided where parameters are known. Every reference that leads
    /// nowhere is found, too.
    pub fn load(
        &self,
        parameters: Option<&Parameters>,
        files: Option<&Files>,
    ) -> Result<Loaded, Diagnostics> {
        let (loaded, wrong) = self.load_all(parameters, files);
        wrong.or(loaded)
    }

    /// The same, with whatever can be had even where something is wrong.
    pub(crate) fn load_all(
        &self,
        parameters: Option<&Parameters>,
        files: Option<&Files>,
    ) -> (Loaded, Diagnostics) {
        let scope =
            parameters.map(|parameters| ParameterScope { template: self, parameters, files });
        let (loaded, wrong) = match &scope {
            Some(scope) => {
                let conditions = self.conditions.decided(scope);
                self.load_with(&conditions, Some(scope))
            }
            None => self.load_with(&self.conditions.undecided(), None),
        };
        (loaded, self.located(wrong))
    }

    fn load_with(
        &self,
        conditions: &dyn Conditions,
        scope: Option<&ParameterScope<'_>>,
    ) -> (Loaded, Diagnostics) {
        let words = Words::of(self.version);
        let dialect = Dialect::new(self.version);
        let mut loader = Loader { words, dialect, conditions, scope, wrong: Diagnostics::new() };
        let mut loaded =
            Loaded { resources: Vec::new(), outputs: Vec::new(), disabled: Vec::new() };
        for section in &self.resources {
            match loader.is_enabled(words.resources, &section.name, section.condition.as_ref()) {
                true => loaded.resources.push(loader.resource(section)),
                false => loaded.disabled.push(section.name.clone()),
            }
        }
        for resource in &mut loaded.resources {
            resource.depends_on.retain(|(name, _)| !loaded.disabled.contains(name));
        }
        loaded.outputs = self.outputs.iter().map(|output| loader.output(output)).collect();
        let mut wrong = loader.wrong;
        self.duplicates(&loaded, scope.map(|scope| scope.parameters), &mut wrong);
        References { template: self, loaded: &loaded, scope }.check(&mut wrong);
        (loaded, wrong)
    }

    /// Parameters and resources share one space of names.
    fn duplicates(
        &self,
        loaded: &Loaded,
        parameters: Option<&Parameters>,
        wrong: &mut Diagnostics,
    ) {
        let declared = self.parameters.iter().map(|schema| schema.name.as_str());
        let all = parameters.into_iter().flat_map(Parameters::names);
        let names: BTreeSet<&str> = declared.chain(all).collect();
        let twice: Vec<&LoadedResource> =
            loaded.resources.iter().filter(|one| names.contains(one.name.as_str())).collect();
        let Some(first) = twice.first() else { return };
        let quoted: BTreeSet<String> = twice.iter().map(|one| format!("'{}'", one.name)).collect();
        let quoted: Vec<String> = quoted.into_iter().collect();
        let message = format!("Duplicate names {{{}}}", quoted.join(", "));
        let path = Path::of([self.words().resources, &first.name]);
        let found = Diagnostic::new(Fault::StructureInvalid, &path, message).at(first.place);
        wrong
            .push(found.hint("there is a parameter of this name; call one of them something else"));
    }
}

struct Loader<'a> {
    words: Words,
    dialect: Dialect,
    conditions: &'a dyn Conditions,
    scope: Option<&'a ParameterScope<'a>>,
    wrong: Diagnostics,
}

impl Loader<'_> {
    /// Where a condition is open, what it is for counts.
    fn is_enabled(&mut self, section: &str, name: &str, condition: Option<&Node>) -> bool {
        let Some(node) = condition else { return true };
        let path = Path::of([section, name, self.words.condition]);
        match condition::decide(node, &path, self.dialect, self.conditions) {
            Ok(answer) => answer.unwrap_or(true),
            Err(wrong) => {
                self.wrong.extend(wrong);
                true
            }
        }
    }

    fn parse(&mut self, node: &Node, path: &Path) -> Expr {
        parse(node, path, self.dialect, self.conditions).unwrap_or_else(|wrong| {
            self.wrong.extend(wrong);
            Expr::Plain(Value::Object(Map::new()))
        })
    }

    fn field(&mut self, node: Option<&Node>, path: &Path, key: &str) -> Expr {
        match node {
            Some(node) => self.parse(node, &path.key(key)),
            None => Expr::Plain(Value::Object(Map::new())),
        }
    }

    fn resource(&mut self, section: &ResourceSection) -> LoadedResource {
        let words = self.words;
        let path = Path::of([words.resources, &section.name]);
        let external_id = section.external_id.as_ref();
        let before = self.wrong.len();
        let mut resource = LoadedResource {
            name: section.name.clone(),
            place: section.place,
            type_name: section.type_name.clone(),
            type_place: section.type_place,
            properties: self.field(section.properties.as_ref(), &path, words.properties),
            metadata: self.field(section.metadata.as_ref(), &path, words.metadata),
            deletion_policy: self.deletion_policy(section, &path),
            update_policy: self.field(section.update_policy.as_ref(), &path, words.update_policy),
            depends_on: section.depends_on.clone(),
            external_id: external_id.map(|node| self.parse(node, &path.key(EXTERNAL_ID))),
            description: section.description.clone(),
            is_broken: false,
        };
        resource.is_broken = self.wrong.len() > before;
        resource
    }

    fn deletion_policy(&mut self, section: &ResourceSection, path: &Path) -> DeletionPolicy {
        let Some(node) = &section.deletion_policy else {
            return match section.external_id {
                Some(_) => DeletionPolicy::Retain,
                None => DeletionPolicy::default(),
            };
        };
        let path = path.key(self.words.deletion_policy);
        let expr = self.parse(node, &path);
        let resolved = match (self.scope, &expr) {
            (None, Expr::Call(_)) => return DeletionPolicy::default(),
            (None, Expr::Plain(value)) => Ok(Resolved::Value(value.clone())),
            (Some(scope), expr) => expr.resolve_with(scope, self.conditions),
            (None, _) => Ok(Resolved::Absent),
        };
        let value = match resolved {
            Ok(resolved) => resolved.or_null(),
            Err(error) => {
                self.wrong.push(error.diagnostic(&path, node.place));
                return DeletionPolicy::default();
            }
        };
        let word = crate::function::python::text(&value);
        let version = self.dialect.version();
        match DeletionPolicy::read(&word, version) {
            _ if section.external_id.is_some() => DeletionPolicy::Retain,
            Some(policy) => policy,
            None if value.is_null() => DeletionPolicy::default(),
            None => {
                let message = format!("Invalid deletion policy \"{word}\"");
                let found = Diagnostic::new(Fault::StructureInvalid, &path, message);
                let found = found.at(node.place).hint("use one of: Delete, Retain, Snapshot");
                self.wrong.push(found.meant(&word, ["Delete", "Retain", "Snapshot"]));
                DeletionPolicy::default()
            }
        }
    }

    fn output(&mut self, section: &OutputSection) -> LoadedOutput {
        let words = self.words;
        let is_enabled = self.is_enabled(words.outputs, &section.name, section.condition.as_ref());
        let path = Path::of([words.outputs, &section.name, words.value]);
        LoadedOutput {
            name: section.name.clone(),
            place: section.place,
            description: section.description.clone(),
            value: is_enabled.then(|| self.parse(&section.value, &path)),
        }
    }
}

/// Looks whether everything that is referred to exists.
struct References<'a> {
    template: &'a Template,
    loaded: &'a Loaded,
    scope: Option<&'a ParameterScope<'a>>,
}

impl References<'_> {
    fn check(&self, wrong: &mut Diagnostics) {
        for resource in &self.loaded.resources {
            for (name, place) in &resource.depends_on {
                if self.loaded.resource(name).is_none() {
                    let message = incorrect(name, &resource.name);
                    let words = self.template.words();
                    let path = Path::of([words.resources, &resource.name, words.depends_on]);
                    let found = Diagnostic::new(Fault::InvalidReference, &path, message).at(*place);
                    wrong.push(found.meant(name, self.names()));
                }
            }
            let parts = [Some(&resource.properties), Some(&resource.metadata)];
            let rest = [Some(&resource.update_policy), resource.external_id.as_ref()];
            for expr in parts.into_iter().chain(rest).flatten() {
                self.expr(expr, true, wrong);
            }
        }
        for value in self.loaded.outputs.iter().filter_map(|output| output.value.as_ref()) {
            self.expr(value, false, wrong);
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.loaded.resources.iter().map(|resource| resource.name.as_str())
    }

    /// What leads nowhere. An output that cannot be had is told of with an error in its place, so that a stack can do without:
    /// only attributes have to be of something.
    fn expr(&self, expr: &Expr, is_resource: bool, wrong: &mut Diagnostics) {
        let mut all = Diagnostics::new();
        self.dead_ends(expr, is_resource, &mut all);
        let is_eased = |one: &Diagnostic| match one.fault {
            Fault::InvalidReference => {
                !one.path.ends_with("get_attr") && !one.path.ends_with("Fn::GetAtt")
            }
            fault => matches!(fault, Fault::ParameterMissing | Fault::FileMissing),
        };
        wrong.extend(all.eased(|one| !is_resource && is_eased(one)));
    }

    fn dead_ends(&self, expr: &Expr, is_resource: bool, wrong: &mut Diagnostics) {
        let found = match self.scope {
            Some(scope) => expr.references_in(scope),
            None => expr.references(),
        };
        for reference in found.resources.iter().chain(&found.attributes) {
            if self.loaded.resource(&reference.name).is_none() {
                wrong.push(self.resource_missing(reference, is_resource));
            }
        }
        for reference in found.parameters.iter().chain(&found.either) {
            let is_either = found.either.contains(reference);
            if !(is_either && self.loaded.resource(&reference.name).is_some()) {
                wrong.0.extend(self.parameter_missing(reference));
            }
        }
        let Some(files) = self.scope.and_then(|scope| scope.files) else { return };
        for reference in found.files.iter().filter(|one| !files.contains_key(&one.name)) {
            let error = ResolveError::file_missing(reference.function, &reference.name);
            let path = reference.at.key(reference.function);
            let found = error.diagnostic(&path, reference.place);
            wrong.push(found.meant(&reference.name, files.keys().map(String::as_str)));
        }
    }

    fn resource_missing(&self, reference: &Reference, is_resource: bool) -> Diagnostic {
        let within = if is_resource { api_path(&reference.at) } else { "unknown".to_owned() };
        let path = reference.at.key(reference.function);
        let message = incorrect(&reference.name, &within);
        let found = Diagnostic::new(Fault::InvalidReference, &path, message).at(reference.place);
        match self.loaded.disabled.contains(&reference.name) {
            true => found.hint("the condition of this resource does not hold"),
            false => found.meant(&reference.name, self.names()),
        }
    }

    fn parameter_missing(&self, reference: &Reference) -> Option<Diagnostic> {
        let name = &reference.name;
        let is_known = match self.scope {
            Some(scope) => scope.parameters.get(name).is_some(),
            None => {
                self.template.parameters.iter().any(|schema| schema.name == *name)
                    || name.starts_with(if self.template.version.is_hot() {
                        "OS::"
                    } else {
                        "AWS::"
                    })
            }
        };
        if is_known {
            return None;
        }
        let path = reference.at.key(reference.function);
        let error = ResolveError::parameter_missing(name);
        let known = self.template.parameters.iter().map(|schema| schema.name.as_str());
        Some(error.diagnostic(&path, reference.place).meant(name, known))
    }
}

fn incorrect(name: &str, within: &str) -> String {
    format!("The specified reference \"{name}\" (in {within}) is incorrect.")
}

/// A path as clients are told it: `resources.a.properties.b` is `a.Properties.b`.
fn api_path(path: &Path) -> String {
    let mut steps = path.steps().iter().skip(1);
    let mut out = match steps.next() {
        Some(Step::Key(name)) => name.clone(),
        _ => return path.to_string(),
    };
    for (at, step) in steps.enumerate() {
        match step {
            Step::Key(key) if at == 0 => {
                let mut letters = key.chars();
                let first = letters.next().map(|c| c.to_ascii_uppercase());
                out.push('.');
                out.extend(first.into_iter().chain(letters));
            }
            Step::Key(key) => out.push_str(&format!(".{key}")),
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}
