//! From the name of a type to what makes resources of it.
//!
//! What the user says comes before what everybody has; what is said about a single resource before what is
//! said about all; a name before a wildcard. Aliases are followed until there is a template, or a type that
//! somebody has made.

use super::registry::{Item, Registry, is_template};
use crate::schema::ResourceSchema;

/// The types that somebody has made.
pub trait Types {
    fn schema(&self, type_name: &str) -> Option<&ResourceSchema>;

    /// All of them, for those who mistype one.
    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// What everybody has registered, with templates that everybody can use.
    fn global(&self) -> Option<&Registry> {
        None
    }
}

/// What makes resources of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The type is there, under this name.
    Type(String),
    /// A template stands for it.
    Template {
        /// Where the template is.
        name: String,
        /// Where the registry says so.
        path: Vec<String>,
        /// The user says so; otherwise it is so for everybody.
        is_of_user: bool,
    },
}

/// Aliases in a row.
const ALIASES: usize = 16;

#[derive(Clone)]
struct Candidate<'a> {
    is_of_user: bool,
    path: Vec<String>,
    is_wildcard: bool,
    target: &'a str,
}

impl Registry {
    /// What makes resources of this type, for a resource of this name.
    pub fn resolve(&self, type_name: &str, resource: &str, types: &dyn Types) -> Option<Provider> {
        let search = Search { registry: self, types, resource, ignored: None };
        search.find(type_name, ALIASES)
    }

    /// What would make them, if it were not for this.
    pub fn resolve_without(
        &self,
        type_name: &str,
        resource: &str,
        types: &dyn Types,
        ignored: &Provider,
    ) -> Option<Provider> {
        let search = Search { registry: self, types, resource, ignored: Some(ignored) };
        search.find(type_name, ALIASES)
    }
}

struct Search<'a> {
    registry: &'a Registry,
    types: &'a dyn Types,
    resource: &'a str,
    ignored: Option<&'a Provider>,
}

impl Search<'_> {
    fn find(&self, type_name: &str, aliases: usize) -> Option<Provider> {
        let left = aliases.checked_sub(1)?;
        let candidates = self.candidates(type_name);
        let found = candidates.iter().find_map(|candidate| {
            let found = self.follow(type_name, candidate, left)?;
            (self.ignored != Some(&found)).then_some(found)
        });
        found.or_else(|| {
            let is_there = self.types.schema(type_name).is_some();
            let found = is_there.then(|| Provider::Type(type_name.to_owned()))?;
            (self.ignored != Some(&found)).then_some(found)
        })
    }

    fn follow(&self, type_name: &str, candidate: &Candidate<'_>, left: usize) -> Option<Provider> {
        let name = candidate.path.last().map_or("", String::as_str);
        let template = match (is_template(name), is_template(candidate.target)) {
            (true, _) => Some(name),
            (false, true) => Some(candidate.target),
            (false, false) => None,
        };
        if let Some(template) = template {
            return Some(Provider::Template {
                name: template.to_owned(),
                path: candidate.path.clone(),
                is_of_user: candidate.is_of_user,
            });
        }
        if !candidate.is_wildcard {
            return match candidate.target == type_name {
                true => None,
                false => self.find(candidate.target, left),
            };
        }
        let prefix = name.strip_suffix('*').unwrap_or(name);
        match candidate.target.strip_suffix('*') {
            Some(target) => {
                let rest = type_name.strip_prefix(prefix)?;
                let other = format!("{target}{rest}");
                if other == type_name { None } else { self.find(&other, left) }
            }
            None => self.find(candidate.target, left),
        }
    }

    /// Everything that says something about the type, the most specific first.
    fn candidates(&self, type_name: &str) -> Vec<Candidate<'_>> {
        let mut all = self.of(self.registry, type_name, true);
        if is_template(type_name) && self.registry.root.get(type_name).is_none() {
            let path = vec![type_name.to_owned()];
            all.push(Candidate { is_of_user: true, path, is_wildcard: false, target: "" });
        }
        all.extend(self.types.global().into_iter().flat_map(|g| self.of(g, type_name, false)));
        all.sort_by(|a, b| {
            b.is_of_user
                .cmp(&a.is_of_user)
                .then(b.path.len().cmp(&a.path.len()))
                .then(a.is_wildcard.cmp(&b.is_wildcard))
                .then_with(|| a.path.cmp(&b.path))
        });
        all
    }

    fn of<'a>(
        &self,
        registry: &'a Registry,
        type_name: &str,
        is_of_user: bool,
    ) -> Vec<Candidate<'a>> {
        let resources = registry.root.level("resources");
        let own = resources.and_then(|level| level.level(self.resource));
        let own = own.and_then(|level| level.get(type_name)).map(|item| {
            (vec!["resources".to_owned(), self.resource.to_owned(), type_name.to_owned()], item)
        });
        let matches = |key: &str, item: &Item| match (key.strip_suffix('*'), item) {
            _ if key == type_name => true,
            (Some(prefix), Item::Target(target)) => {
                target != type_name && type_name.starts_with(prefix)
            }
            _ => false,
        };
        let all = registry.root.0.iter().filter(|(key, item)| matches(key, item));
        let all = all.map(|(key, item)| (vec![key.clone()], item));
        own.into_iter()
            .chain(all)
            .filter_map(|(path, item)| match item {
                Item::Target(target) => {
                    let is_wildcard = path.last().is_some_and(|name| name.ends_with('*'));
                    Some(Candidate { is_of_user, path, is_wildcard, target })
                }
                _ => None,
            })
            .collect()
    }
}
