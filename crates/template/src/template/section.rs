//! The sections of a template.

use super::Version;
use super::group::{self, ParameterGroup};
use super::resource::{self, OutputSection, ResourceSection};
use crate::condition::ConditionSet;
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::{Dialect, python};
use crate::parameter::ParameterSchema;
use crate::place::Path;
use crate::value::{Data, Entry, Node};

/// What sections and keywords are called: the two languages differ in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    pub description: &'static str,
    pub parameters: &'static str,
    pub conditions: &'static str,
    pub mappings: &'static str,
    pub resources: &'static str,
    pub outputs: &'static str,
    pub kind: &'static str,
    pub properties: &'static str,
    pub metadata: &'static str,
    pub depends_on: &'static str,
    pub deletion_policy: &'static str,
    pub update_policy: &'static str,
    pub condition: &'static str,
    pub value: &'static str,
}

pub(crate) const EXTERNAL_ID: &str = "external_id";
const GROUPS: &str = "parameter_groups";

const HOT: Words = Words {
    description: "description",
    parameters: "parameters",
    conditions: "conditions",
    mappings: "mappings",
    resources: "resources",
    outputs: "outputs",
    kind: "type",
    properties: "properties",
    metadata: "metadata",
    depends_on: "depends_on",
    deletion_policy: "deletion_policy",
    update_policy: "update_policy",
    condition: "condition",
    value: "value",
};

const CFN: Words = Words {
    description: "Description",
    parameters: "Parameters",
    conditions: "Conditions",
    mappings: "Mappings",
    resources: "Resources",
    outputs: "Outputs",
    kind: "Type",
    properties: "Properties",
    metadata: "Metadata",
    depends_on: "DependsOn",
    deletion_policy: "DeletionPolicy",
    update_policy: "UpdatePolicy",
    condition: "Condition",
    value: "Value",
};

impl Words {
    pub fn of(version: Version) -> Words {
        if version.is_hot() { HOT } else { CFN }
    }

    fn sections(self, version: Version) -> Vec<&'static str> {
        let Words { description, parameters, resources, outputs, .. } = self;
        let mut known = vec![version.key(), description, parameters, resources, outputs];
        if version.is_hot() {
            known.push(GROUPS);
        } else {
            known.push(self.mappings);
            known.extend([Version::Aws.key(), Version::HeatCfn.key()]);
        }
        known.extend(version.has_conditions().then_some(self.conditions));
        known
    }
}

/// A template in parts.
pub(crate) struct Sections {
    pub version: Version,
    pub description: Option<String>,
    pub parameters: Vec<ParameterSchema>,
    pub parameter_groups: Vec<ParameterGroup>,
    pub conditions: ConditionSet,
    pub mappings: Node,
    pub resources: Vec<ResourceSection>,
    pub outputs: Vec<OutputSection>,
    pub warnings: Diagnostics,
    /// What is wrong with declarations of parameters.
    pub mistakes: Diagnostics,
}

/// Everything that is wrong. Where that is the declarations of parameters alone, the rest can be looked at all the same.
pub(crate) fn read(version: Version, root: &Node) -> Result<Sections, Diagnostics> {
    let words = Words::of(version);
    let mut wrong = Diagnostics::new();
    let path = Path::of([words.parameters]);
    let parameters: Vec<ParameterSchema> = entries(root, words.parameters, &mut wrong)
        .iter()
        .map(|entry| ParameterSchema::read(entry, version, &path, &mut wrong))
        .collect();
    unknown(words, version, root, &mut wrong);
    let path = Path::of([words.resources]);
    let resources = entries(root, words.resources, &mut wrong)
        .iter()
        .filter_map(|entry| resource::read(entry, version, &path, &mut wrong))
        .collect();
    let parameter_groups = match root.get(GROUPS).filter(|_| version.is_hot()) {
        Some(node) => group::read(node, &parameters, &mut wrong),
        None => Vec::new(),
    };
    let section = root.get(words.conditions).filter(|_| version.has_conditions());
    let (conditions, found) = ConditionSet::read(section, Dialect::new(version));
    wrong.extend(found);
    let path = Path::of([words.outputs]);
    let outputs = entries(root, words.outputs, &mut wrong)
        .iter()
        .filter_map(|entry| resource::read_output(entry, version, &path, &mut wrong))
        .collect();
    let mappings = match version.is_hot() {
        true => Node::null(),
        false => root.get(words.mappings).cloned().unwrap_or_else(Node::null),
    };
    let description = root.get(words.description).filter(|node| !node.is_null());
    let description = description.map(|node| python::text(&node.to_json()));
    let (warnings, wrong): (Vec<_>, Vec<_>) =
        wrong.into_iter().partition(|found| found.fault == Fault::Warning);
    let (mistakes, wrong): (Vec<_>, Vec<_>) = match wrong.iter().all(is_declaration) {
        true => (wrong, Vec::new()),
        false => (Vec::new(), wrong),
    };
    Diagnostics(wrong).or(Sections {
        version,
        description: description.filter(|text| !text.is_empty()),
        parameters,
        parameter_groups,
        conditions,
        mappings,
        resources,
        outputs,
        warnings: Diagnostics(warnings),
        mistakes: Diagnostics(mistakes),
    })
}

fn is_declaration(found: &Diagnostic) -> bool {
    found.fault == Fault::InvalidSchema
}

fn unknown(words: Words, version: Version, root: &Node, wrong: &mut Diagnostics) {
    let known = words.sections(version);
    for entry in root.as_map().unwrap_or_default() {
        if !known.contains(&entry.key.as_str()) {
            let message = format!("The template section is invalid: {}", entry.key);
            let path = Path::root().key(&entry.key);
            let found = Diagnostic::new(Fault::StructureInvalid, &path, message).at(entry.place);
            wrong.push(match (entry.key.as_str(), version.is_hot()) {
                ("conditions", true) => found.hint(format!(
                    "conditions need `heat_template_version: {}` or later",
                    Version::Newton.date()
                )),
                _ => found.meant(&entry.key, known.iter().copied()),
            });
        }
    }
}

/// The entries of a section, which is a mapping. A section that is empty is none.
fn entries<'n>(root: &'n Node, section: &str, wrong: &mut Diagnostics) -> &'n [Entry] {
    match root.entry(section).map(|entry| (entry, &entry.node.data)) {
        None | Some((_, Data::Null)) => &[],
        Some((_, Data::Map(entries))) => entries,
        Some((entry, _)) => {
            let kind = python::type_name(&entry.node.to_json());
            let single = section.strip_suffix('s').unwrap_or(section);
            let message = format!(
                "\"{section}\" must contain a map of {single} maps. Found a [<class '{kind}'>] instead"
            );
            let path = Path::root().key(section);
            let place = entry.node.place.or(entry.place);
            wrong.push(Diagnostic::new(Fault::StructureInvalid, &path, message).at(place));
            &[]
        }
    }
}
