//! Every type of resource that there is, by its names.
//!
//! A type has one name of its own, and others that mean the same: those of `Xloud::*` ([`own_name`]), and names that Heat
//! gave up. Environments map further names to these; that is not known here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use hostler_model::stack::plugin_key;
use hostler_template::schema::{ResourceSchema, Status};

use super::outside::Shelf;
use super::stack_output::StackOutput;
use super::{Plugin, heat, hostler};

/// What plugins of templates are known by. No template can say it: it is no name of a type.
pub(crate) const TEMPLATE: &str = "template";

/// Types that Heat called otherwise once.
const FORMER: [(&str, &str); 2] = [
    ("OS::Heat::SoftwareDeployments", "OS::Heat::SoftwareDeploymentGroup"),
    ("OS::Heat::StructuredDeployments", "OS::Heat::StructuredDeploymentGroup"),
];

/// Types that may be called without their room, as nothing else is called so.
const SHORT: [&str; 7] = ["Command", "Cron", "Directory", "File", "Package", "Service", "Sysctl"];

/// Under which of our own names a type of `Xloud` may be found, besides the one of Heat.
const ROOMS: [&str; 2] = ["Heat", "Orchestration"];

/// All of them.
pub(crate) struct Catalog {
    types: BTreeMap<String, Arc<dyn Plugin>>,
    template: Arc<dyn Plugin>,
    /// Types that projects bring.
    shelf: Shelf,
    /// Types that tests bring.
    bench: std::sync::OnceLock<Arc<dyn Plugin>>,
}

/// A type under one of its names.
#[derive(Clone)]
pub(crate) struct Entry<'c> {
    pub(crate) name: String,
    pub(crate) schema: &'c ResourceSchema,
    /// It is another name of this type.
    pub(crate) of: Option<&'c str>,
}

/// What a name of `Xloud` stands for: the type of Heat that is called the same at its end.
fn own_name(name: &str) -> Cow<'_, str> {
    if let Some((_, own)) = FORMER.iter().find(|(former, _)| *former == name) {
        return Cow::Borrowed(own);
    }
    if let Some(last) = name.strip_prefix("Hostler::").filter(|last| SHORT.contains(last)) {
        return Cow::Owned(format!("Hostler::Host::{last}"));
    }
    match name.strip_prefix("Xloud::").and_then(|rest| rest.rsplit("::").next()) {
        Some(last) => Cow::Owned(format!("OS::Heat::{last}")),
        None => Cow::Borrowed(name),
    }
}

impl Catalog {
    pub(crate) fn new() -> Catalog {
        let own: Arc<dyn Plugin> = Arc::new(StackOutput::new());
        let types = heat::all().into_iter().chain(hostler::all()).chain([own]);
        Catalog {
            types: types.map(|it| (it.schema().type_name.clone(), it)).collect(),
            template: heat::template(),
            shelf: Shelf::default(),
            bench: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Whoever makes resources of a type. [`TEMPLATE`] makes those of templates; what a project brings is called `TYPE@VERSION`.
    pub(crate) fn plugin(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        if let Some((type_name, id)) = plugin_key(name) {
            return self.shelf.find(id, type_name);
        }
        if name == TEMPLATE {
            return Some(Arc::clone(&self.template));
        }
        self.find(name).cloned()
    }

    fn find(&self, name: &str) -> Option<&Arc<dyn Plugin>> {
        let bench = || self.bench.get().filter(|it| it.schema().type_name == name);
        self.types.get(name).or_else(|| self.types.get(own_name(name).as_ref())).or_else(bench)
    }

    /// Another type, which a test brings; the first one counts.
    pub(crate) fn put_on_bench(&self, plugin: Arc<dyn Plugin>) {
        self.bench.get_or_init(|| plugin);
    }

    pub(crate) fn schema_of(&self, name: &str) -> Option<&ResourceSchema> {
        self.find(name).map(|plugin| plugin.schema())
    }

    /// Every type under its own name, in order.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Arc<dyn Plugin>> {
        self.types.values()
    }

    /// Every type under every name, in order. Names that are not told of are among them.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        for (name, plugin) in &self.types {
            let schema = plugin.schema();
            entries.push(Entry { name: name.clone(), schema, of: None });
            for other in aliases(name) {
                entries.push(Entry { name: other, schema, of: Some(name) });
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }

    /// What a list of types shows: names that `is_meant` takes, of a version and of a support status where one is asked for.
    /// What is hidden is shown only to those who ask for it.
    pub(crate) fn listed(
        &self,
        is_meant: impl Fn(&str) -> bool,
        version: Option<&str>,
        status: Option<Status>,
    ) -> Vec<Entry<'_>> {
        let mut entries = self.entries();
        entries.retain(|entry| {
            let support = &entry.schema.support;
            let is_former = FORMER.iter().any(|(former, _)| *former == entry.name);
            let of_entry = if is_former { Status::Hidden } else { support.status };
            let is_shown = status.map_or(of_entry != Status::Hidden, |status| status == of_entry);
            let is_of_version =
                version.is_none_or(|version| support.version.as_deref() == Some(version));
            is_shown && is_of_version && is_meant(&entry.name)
        });
        entries
    }
}

/// Other names of a type.
pub(super) fn aliases(name: &str) -> Vec<String> {
    let former =
        FORMER.iter().filter(|(_, own)| *own == name).map(|(former, _)| (*former).to_owned());
    let last = name.strip_prefix("OS::Heat::");
    let xloud = last
        .into_iter()
        .flat_map(|last| ROOMS.iter().map(move |room| format!("Xloud::{room}::{last}")));
    let short = name.strip_prefix("Hostler::Host::").filter(|last| SHORT.contains(last));
    let short = short.map(|last| format!("Hostler::{last}"));
    former.chain(xloud).chain(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_several_names() {
        let catalog = Catalog::new();
        let cases = [
            ("OS::Heat::Value", Some("OS::Heat::Value")),
            ("Xloud::Heat::Value", Some("OS::Heat::Value")),
            ("Xloud::Orchestration::Stack", Some("OS::Heat::Stack")),
            ("Xloud::AutoScaling::AutoScalingGroup", Some("OS::Heat::AutoScalingGroup")),
            ("OS::Heat::SoftwareDeployments", Some("OS::Heat::SoftwareDeploymentGroup")),
            ("AWS::CloudFormation::WaitCondition", Some("AWS::CloudFormation::WaitCondition")),
            ("Hostler::File", Some("Hostler::Host::File")),
            ("Hostler::User", Some("Hostler::User")),
            ("Xloud::Compute::Server", None),
            ("OS::Heat::Nope", None),
            ("Xloud::", None),
            (TEMPLATE, None),
        ];
        for (name, wanted) in cases {
            assert_eq!(
                catalog.schema_of(name).map(|schema| schema.type_name.as_str()),
                wanted,
                "{name}"
            );
        }
        assert!(catalog.plugin(TEMPLATE).is_some_and(|plugin| plugin.has_child()));
    }

    #[test]
    fn every_name_leads_to_its_type() {
        let catalog = Catalog::new();
        for entry in catalog.entries() {
            let found = catalog.plugin(&entry.name).unwrap();
            assert_eq!(found.schema().type_name, entry.schema.type_name, "{}", entry.name);
            assert_eq!(entry.of.is_none(), entry.name == entry.schema.type_name);
        }
        assert!(catalog.entries().windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn lists_show_what_is_asked_for() {
        let catalog = Catalog::new();
        let names = |version, status| -> Vec<String> {
            let is_heat = |name: &str| name.starts_with("OS::Heat::");
            catalog.listed(is_heat, version, status).into_iter().map(|entry| entry.name).collect()
        };
        assert!(names(None, None).contains(&"OS::Heat::RandomString".to_owned()));
        assert!(!names(None, None).contains(&"OS::Heat::SoftwareDeployments".to_owned()));
        assert_eq!(names(Some("11.0.0"), None), ["OS::Heat::Delay"]);
        assert_eq!(
            names(None, Some(Status::Hidden)),
            [
                "OS::Heat::HARestarter",
                "OS::Heat::SoftwareDeployments",
                "OS::Heat::StructuredDeployments"
            ]
        );
    }

    #[test]
    fn every_type_says_what_it_is() {
        for plugin in Catalog::new().types() {
            let schema = plugin.schema();
            assert!(schema.description.ends_with('.'), "{}", schema.type_name);
            assert!(schema.support.version.is_some(), "{}", schema.type_name);
            for (name, property) in &schema.properties {
                assert!(property.description.is_some(), "{} {name}", schema.type_name);
                assert!(
                    !(property.is_required && property.default.is_some()),
                    "{} {name}",
                    schema.type_name
                );
            }
        }
    }
}
