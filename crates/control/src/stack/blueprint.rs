//! What a stack is to be: a definition that was read.
//!
//! A template is parsed, its parameters have values, conditions are decided, functions are found, and every resource knows
//! what makes objects of its type: a plugin, or another template. What is left is to resolve the properties of a resource
//! when everything that it requires is there ([`Blueprint::meant`]). Nothing here asks the database; the same definition is
//! always read the same way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use hostler_engine::stack::{Failure, Goal, Wanted};
use hostler_model::stack::{DeedBody, DefinitionBody, DeletionPolicy, Stack, StackHook, StackName};
use hostler_model::{Actor, ProjectId, StackDefinitionId, StackId, StackPluginId};
use hostler_template::diagnostic::{Diagnostic, Diagnostics, Fault};
use hostler_template::environment::{Environment, Hook, Provider, RestrictedAction, Types};
use hostler_template::function::{Expr, ResolveError, Resolved, Scope};
use hostler_template::parameter::{Checks, Identity, Parameters};
use hostler_template::place::Path;
use hostler_template::schema::{Known, ResourceSchema};
use hostler_template::template::{
    self, Files, Graph, Loaded, LoadedResource, ParameterScope, Template,
};
use serde_json::{Map, Value};

use super::hidden::{Hidden, hidden_parameters};
use super::plugin::{Catalog, ChildEnvironment, ChildForm, Plugin, ProjectTypes, TEMPLATE};
use super::scene::Output;
use super::sight::{Sight, UNKNOWN, unknown_of};

/// A resource of a template.
pub(crate) struct Part {
    pub name: String,
    /// Its type, as the template has it.
    pub kind: String,
    /// The type behind every alias.
    pub plugin: String,
    pub requires: Vec<String>,
    pub deletion_policy: DeletionPolicy,
    /// It may not be changed, or not be replaced.
    pub no_update: bool,
    pub no_replace: bool,
    /// An object that somebody else looks after.
    pub external: Option<String>,
    /// The template says something of its metadata.
    pub has_metadata: bool,
    provider: Provider,
    maker: Arc<dyn Plugin>,
    /// Of a type that is a template: what it takes, and the template.
    below: Option<Box<(ResourceSchema, Value)>>,
    pub(super) place: usize,
}

/// A definition that was read.
pub(crate) struct Blueprint {
    pub definition: StackDefinitionId,
    /// Who asked for it, where that was kept.
    pub created_by: Option<Actor>,
    /// The template as it was given.
    pub document: Value,
    pub files: Arc<Map<String, Value>>,
    /// Which of them are environments.
    pub environment_files: Vec<String>,
    pub environment: Environment,
    pub parameters: Parameters,
    pub template: Template,
    pub parts: Vec<Part>,
    /// Where resources stop, also those that are to go.
    pub hooks: BTreeMap<String, BTreeSet<StackHook>>,
    /// Resources that are taken over, as they were left.
    pub left: Map<String, Value>,
    /// Why somebody wants it; empty where nobody said.
    pub reason: String,
    /// What is in the world is looked at before it is compared.
    pub is_live: bool,
    /// Values of hidden parameters, and what is secret of the stacks above.
    pub hidden: Arc<Hidden>,
    /// Which versions of plugins it is read with.
    pub plugins: BTreeMap<String, StackPluginId>,
    index: HashMap<String, usize>,
    pub(super) loaded: Loaded,
}

impl Types for Catalog {
    fn schema(&self, type_name: &str) -> Option<&ResourceSchema> {
        self.schema_of(type_name)
    }

    fn names(&self) -> Vec<&str> {
        self.types().map(|plugin| plugin.schema().type_name.as_str()).collect()
    }
}

/// What the template says it is.
pub(crate) fn description_of(template: &Value) -> String {
    let said = template.get("description").or_else(|| template.get("Description"));
    said.and_then(Value::as_str).unwrap_or("No description").to_owned()
}

/// Texts that were sent along.
pub(crate) fn files_of(files: &Map<String, Value>) -> Files {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    files.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// The stack that pseudo parameters speak of.
pub(crate) fn identity_of(project: ProjectId, name: &StackName, id: StackId) -> Identity {
    Identity {
        stack_name: name.to_string(),
        stack_id: id.to_string(),
        project_id: project.to_string(),
        arn: format!("arn:openstack:heat::{project}:stacks/{name}/{id}"),
    }
}

impl Blueprint {
    /// Reads a definition, or says everything that is wrong with it.
    pub fn read(
        stack: &Stack,
        definition: StackDefinitionId,
        body: DefinitionBody,
        catalog: &Catalog,
    ) -> Result<Blueprint, Diagnostics> {
        let template = Template::from_value("template", &body.template)?;
        let mut environment = match &body.environment {
            Value::Null => Environment::default(),
            given => Environment::from_stored("environment", given)?,
        };
        let files = files_of(&body.files);
        let mut given = environment.parameters.clone();
        given.extend(body.parameters);
        let parameters = Parameters::new(
            &template.parameters,
            template.version,
            &identity_of(stack.project_id, &stack.name, stack.id),
            &given,
            &environment.parameter_defaults,
        );
        let mut wrong = parameters.problems(true, &Checks::default());
        if stack.parent.is_some() {
            wrong.0.retain(|one| one.fault != Fault::ParameterUnknown);
        }
        let secrets = hidden_parameters(&parameters).into_iter().chain(body.secrets);
        let hidden = Hidden::of(secrets);
        let said = |wrong: Diagnostics| hidden.scrubbed(wrong);
        wrong.or(()).map_err(said)?;
        let loaded = template.load(Some(&parameters), Some(&files)).map_err(said)?;
        for resource in &loaded.resources {
            environment.registry.register(&resource.type_name);
        }
        let (parts, hooks) = {
            let scope = ParameterScope {
                template: &template,
                parameters: &parameters,
                files: Some(&files),
            };
            let section = template.words().resources;
            let graph = Graph::of(&loaded, Some(&scope), section);
            let types = &ProjectTypes::of(catalog, &body.plugins);
            let reader = Reader { types, environment: &environment, files: &files, scope };
            reader.parts(&loaded, &graph).map_err(said)?
        };
        let index = parts.iter().enumerate().map(|(at, part)| (part.name.clone(), at)).collect();
        Ok(Blueprint {
            definition,
            created_by: None,
            document: body.template,
            files: Arc::new(body.files),
            environment_files: body.environment_files,
            environment,
            parameters,
            template,
            parts,
            hooks,
            left: body.left,
            reason: body.reason,
            is_live: body.is_live,
            plugins: body.plugins,
            hidden,
            index,
            loaded,
        })
    }

    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    pub fn part(&self, name: &str) -> Option<&Part> {
        self.position(name).map(|at| &self.parts[at])
    }

    /// The object outside that a resource stands for, where it does.
    pub fn external(&self, name: &str) -> Option<&str> {
        self.part(name)?.external.as_deref()
    }

    /// What a course has to know of it. `is_checkable`: of types.
    pub fn goal(&self, is_checkable: &dyn Fn(&str) -> bool) -> Goal {
        let wanted = self.parts.iter().map(|part| Wanted {
            name: part.name.clone(),
            kind: part.kind.clone(),
            requires: part.requires.clone(),
            deletion_policy: part.deletion_policy,
            is_checkable: is_checkable(&part.plugin),
            is_external: part.external.is_some(),
        });
        Goal {
            definition: Some(self.definition),
            wanted: wanted.collect(),
            hooks: self.hooks.clone(),
        }
    }

    /// What an object is to be as, now that everything that it requires is there.
    pub fn meant(&self, name: &str, scope: &dyn Scope) -> Result<DeedBody, Failure> {
        let (meant, _) = self.meant_so_far(name, &Sight::whole(scope))?;
        Ok(meant)
    }

    /// What an object is to be as, and which of its properties are not known yet: [`UNKNOWN`] stands in their place.
    pub fn meant_so_far(
        &self,
        name: &str,
        sight: &Sight<'_>,
    ) -> Result<(DeedBody, BTreeSet<String>), Failure> {
        let missing = || Failure::new("Error", "the template does not know it");
        let part = self.part(name).ok_or_else(missing)?;
        let loaded = &self.loaded.resources[part.place];
        let words = self.template.words();
        let path = Path::of([words.resources, name]);
        let schema = part.schema();
        let given = sight.known(&loaded.properties)?;
        let (mut properties, wrong) =
            schema.take(&given, &path.key(words.properties), &Checks::default());
        said(wrong)?;
        let unknown = unknown_of(&given);
        for name in &unknown {
            properties.insert(name.clone(), Value::String(UNKNOWN.to_owned()));
        }
        let (policy, wrong) = schema.take_policy(
            &sight.known(&loaded.update_policy)?,
            &path.key(words.update_policy),
            &Checks::default(),
        );
        said(wrong)?;
        let metadata = match sight.known(&loaded.metadata)? {
            known if known.is_whole() => known.to_json(),
            _ => Value::String(UNKNOWN.to_owned()),
        };
        let meant = DeedBody {
            properties,
            metadata,
            update_policy: Value::Object(policy),
            description: loaded.description.clone(),
            template: part.below.as_ref().map(|below| below.1.clone()),
            changed: Vec::new(),
            is_waiting: false,
        };
        Ok((meant, unknown))
    }

    /// Every output: its value, or why there is none.
    pub fn outputs(&self, scope: &dyn Scope) -> Vec<Output> {
        let output = |one: &template::LoadedOutput| {
            let expr = one.value.as_ref()?;
            let value = expr.resolve(scope).map(Resolved::or_null);
            Some(Output {
                name: one.name.clone(),
                description: one.description.clone(),
                value: value.map_err(|error| error.to_string()),
            })
        };
        self.loaded.outputs.iter().filter_map(output).collect()
    }

    /// Every output: its value, and whether that is not known yet.
    pub fn outputs_so_far(&self, sight: &Sight<'_>) -> Vec<(String, Option<Value>, bool)> {
        let output = |one: &template::LoadedOutput| {
            let known = sight.known(one.value.as_ref()?).ok();
            let is_unknown = known.as_ref().is_some_and(|known| !known.is_whole());
            let value = known.filter(Known::is_whole).map(|known| known.to_json());
            Some((one.name.clone(), value, is_unknown))
        };
        self.loaded.outputs.iter().filter_map(output).collect()
    }

    /// What the template says of a resource.
    pub fn described(&self, name: &str) -> String {
        let part = self.part(name);
        part.map(|part| self.loaded.resources[part.place].description.clone()).unwrap_or_default()
    }

    pub fn output_names(&self) -> BTreeSet<String> {
        self.loaded.outputs.iter().map(|one| one.name.clone()).collect()
    }

    pub fn parameter(&self, name: &str) -> Result<Value, ResolveError> {
        let found = self.parameters.value(name).cloned();
        found.ok_or_else(|| ResolveError::parameter_missing(name))
    }

    pub fn mapping(&self, name: &str) -> Result<Value, ResolveError> {
        let found = self.template.mappings.get(name).map(|node| node.to_json());
        found.ok_or_else(|| ResolveError::wrong(format!("There is no mapping \"{name}\"")))
    }

    /// The environment of the stack below a resource.
    pub fn environment_below(&self, name: &str, form: &ChildForm) -> Value {
        let part = self.part(name);
        let environment = match form.environment {
            ChildEnvironment::Narrowed => {
                let provider = part.filter(|_| form.wraps.is_some()).map(|part| &part.provider);
                self.environment.child(Map::new(), provider, name)
            }
            ChildEnvironment::Whole => {
                let mut whole = self.environment.clone();
                whole.parameters = Map::new();
                whole
            }
        };
        let mut document = environment.to_stored_json();
        if let Some(sections) = document.as_object_mut() {
            sections.retain(|_, section| !section.is_null());
        }
        document
    }

    /// Properties for people: what came from a hidden parameter is hidden.
    pub fn shown_properties(&self, properties: &Map<String, Value>) -> Value {
        let mut shown = Value::Object(properties.clone());
        self.hidden.hide(&mut shown);
        shown
    }
}

impl Part {
    /// What its type takes.
    pub fn schema(&self) -> &ResourceSchema {
        match &self.below {
            Some(below) => &below.0,
            None => self.maker.schema(),
        }
    }
}

fn said(wrong: Vec<Diagnostic>) -> Result<(), Failure> {
    match Diagnostics(wrong).first().filter(|first| first.fault != Fault::Warning) {
        Some(first) => Err(Failure::new(first.fault.heat_type(), first.api_message())),
        None => Ok(()),
    }
}

/// Finds what makes every resource.
struct Reader<'a> {
    types: &'a ProjectTypes<'a>,
    environment: &'a Environment,
    files: &'a Files,
    scope: ParameterScope<'a>,
}

type Hooks = BTreeMap<String, BTreeSet<StackHook>>;

impl Reader<'_> {
    fn parts(&self, loaded: &Loaded, graph: &Graph) -> Result<(Vec<Part>, Hooks), Diagnostics> {
        let mut wrong = Diagnostics(graph.problems());
        let (mut parts, mut hooks) = (Vec::with_capacity(loaded.resources.len()), Hooks::new());
        let mut templates = HashMap::new();
        for (place, resource) in loaded.resources.iter().enumerate() {
            match self.part(resource, place, graph, &mut templates) {
                Ok(part) => parts.push(part),
                Err(more) => wrong.extend(more),
            }
            self.hooks_of(&resource.name, &mut hooks);
        }
        for name in self.named() {
            self.hooks_of(&name, &mut hooks);
        }
        wrong.or((parts, hooks))
    }

    /// Names that the registry speaks of, whether there is such a resource or not.
    fn named(&self) -> Vec<String> {
        let registry = self.environment.registry.to_json();
        let resources = registry.get("resources").and_then(Value::as_object);
        resources.into_iter().flat_map(|map| map.keys().cloned()).collect()
    }

    fn hooks_of(&self, name: &str, hooks: &mut Hooks) {
        let registry = &self.environment.registry;
        let of = |hook: Hook| hook.name().parse::<StackHook>().ok();
        let stops = Hook::ALL.into_iter().filter(|hook| registry.has_hook(name, *hook));
        let stops: BTreeSet<StackHook> = stops.filter_map(of).collect();
        if !stops.is_empty() {
            hooks.insert(name.to_owned(), stops);
        }
    }

    fn part(
        &self,
        resource: &LoadedResource,
        place: usize,
        graph: &Graph,
        templates: &mut HashMap<String, (ResourceSchema, Value)>,
    ) -> Result<Part, Diagnostics> {
        let (name, kind) = (&resource.name, &resource.type_name);
        let registry = &self.environment.registry;
        let at = Path::of(["resources", name]).key("type");
        let unknown = |message: String| {
            let found = Diagnostic::new(Fault::TypeUnknown, &at, message);
            Diagnostics::from(found.at(resource.type_place))
        };
        let provider = registry
            .resolve(kind, name, self.types)
            .ok_or_else(|| unknown(format!("The Resource Type ({kind}) could not be found.")))?;
        let (plugin, below) = match &provider {
            Provider::Type(real) => (real.as_str(), None),
            Provider::Template { name: file, .. } => {
                let below = match templates.get(file) {
                    Some(known) => known.clone(),
                    None => {
                        let read = self.template_of(kind, file)?;
                        templates.insert(file.clone(), read.clone());
                        read
                    }
                };
                (TEMPLATE, Some(Box::new(below)))
            }
        };
        let maker = self
            .types
            .plugin(plugin)
            .ok_or_else(|| unknown(format!("The Resource Type ({kind}) could not be found.")))?;
        let restricted = registry.restricted_actions(name);
        let external = match &resource.external_id {
            None => None,
            Some(expr) => match expr.resolve(&self.scope).map(Resolved::or_null) {
                Ok(Value::Null) => None,
                Ok(Value::String(id)) => Some(id),
                Ok(other) => Some(other.to_string()),
                Err(error) => return Err(error.diagnostic(&at, resource.place).into()),
            },
        };
        let requires = graph.dependencies(name).iter().map(|one| one.on.clone());
        Ok(Part {
            name: name.clone(),
            kind: kind.clone(),
            plugin: match below {
                Some(_) => TEMPLATE.to_owned(),
                None => maker.key().to_owned(),
            },
            requires: requires.collect(),
            deletion_policy: match resource.deletion_policy {
                template::DeletionPolicy::Delete => DeletionPolicy::Delete,
                template::DeletionPolicy::Retain => DeletionPolicy::Retain,
                template::DeletionPolicy::Snapshot => DeletionPolicy::Snapshot,
            },
            no_update: restricted.contains(&RestrictedAction::Update),
            no_replace: restricted.contains(&RestrictedAction::Replace),
            external,
            has_metadata: !matches!(&resource.metadata, Expr::Plain(Value::Object(map)) if map.is_empty()),
            provider,
            maker,
            below,
            place,
        })
    }

    /// A type that is a template.
    fn template_of(&self, kind: &str, file: &str) -> Result<(ResourceSchema, Value), Diagnostics> {
        let Some(text) = self.files.get(file) else {
            let message =
                format!("Could not fetch remote template \"{file}\": it is not among the files");
            let found = Diagnostic::new(Fault::FileMissing, &Path::root(), message);
            return Err(found.into());
        };
        let template = Template::from_text(file, text)?;
        let defaults = &self.environment.parameter_defaults;
        let schema = ResourceSchema::of_template(kind, &template, defaults);
        Ok((schema, template.to_json()))
    }
}
