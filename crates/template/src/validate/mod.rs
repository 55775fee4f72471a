//! A whole template against everything around it.
//!
//! A [`Validator`] has the files that came along, the types that there are, and who the stack is. What it is
//! given is looked at as a whole, with the templates that stand for types in it, however deep: parameters,
//! conditions, references, circles, types, properties, policies, attributes. Everything that is wrong is said
//! at once, in the order in which clients would hear of it.
//!
//! **It ends.** Templates are nested [`NESTING`] deep at most, and no more resources are looked at than a
//! stack may have.

mod nested;
mod resource;
mod summary;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::environment::{Environment, Types};
use crate::parameter::{Checks, Identity, Parameters};
use crate::place::Path;
use crate::template::{Files, Graph, Loaded, ParameterScope, Template};

pub use nested::child_parameter;

/// How deep templates may be nested.
pub const NESTING: usize = 5;

/// How many resources a stack has at most, with those of the stacks in it.
pub const RESOURCES: usize = 1000;

/// Looks at templates.
#[derive(Clone, Copy)]
pub struct Validator<'a> {
    pub types: &'a dyn Types,
    pub files: &'a Files,
    pub identity: &'a Identity,
    pub checks: Checks<'a>,
    /// Parameters without a value are wrong; otherwise whatever depends on them is unknown.
    pub needs_values: bool,
    /// What values say is wrong where it does not hold. Otherwise it is merely warned of: of values of parameters and properties,
    /// of parameters and files that there are not, and of everything in nested templates. So Heat looks at a template of which
    /// nothing is to be made.
    pub checks_values: bool,
    /// How many resources there may be.
    pub resources_max: usize,
}

/// A template that is right, with everything that is known of it.
#[derive(Clone, Debug)]
pub struct Validated {
    pub parameters: Parameters,
    pub loaded: Loaded,
    pub graph: Graph,
    /// With the templates in it that are used as types.
    pub environment: Environment,
    /// The templates that stand for resources.
    pub nested: Vec<Nested>,
    pub warnings: Diagnostics,
}

/// A resource that is made of a template.
#[derive(Clone, Debug)]
pub struct Nested {
    pub resource: String,
    pub type_name: String,
    pub template: Arc<Template>,
    pub validated: Validated,
}

impl<'a> Validator<'a> {
    /// One that looks at everything, for a stack that is to be made.
    pub fn new(types: &'a dyn Types, files: &'a Files, identity: &'a Identity) -> Validator<'a> {
        Validator {
            types,
            files,
            identity,
            checks: Checks::default(),
            needs_values: true,
            checks_values: true,
            resources_max: RESOURCES,
        }
    }

    /// Looks at a template with its environment.
    pub fn check(
        &self,
        template: &Template,
        environment: &Environment,
    ) -> Result<Validated, Diagnostics> {
        let walk = Walk {
            of: *self,
            templates: RefCell::default(),
            resources_left: Cell::new(self.resources_max),
            is_over: Cell::new(false),
        };
        let (mut validated, wrong) = walk.level(template, environment, 0, self.needs_values);
        wrong.warnings().for_each(|one| validated.warnings.push(one.clone()));
        wrong.or(validated)
    }
}

type Read = Result<Arc<Template>, Diagnostics>;

/// One look at everything.
struct Walk<'a> {
    of: Validator<'a>,
    /// Templates that were read already, by where they are.
    templates: RefCell<BTreeMap<String, Read>>,
    resources_left: Cell<usize>,
    /// There are too many resources, and that was said.
    is_over: Cell<bool>,
}

impl Walk<'_> {
    fn level(
        &self,
        template: &Template,
        environment: &Environment,
        depth: usize,
        needs_values: bool,
    ) -> (Validated, Diagnostics) {
        let parameters = Parameters::new(
            &template.parameters,
            template.version,
            self.of.identity,
            &environment.parameters,
            &environment.parameter_defaults,
        );
        let found = parameters.problems(needs_values, &self.of.checks);
        let mut wrong = match depth {
            0 => self.mistakes(template),
            _ => Diagnostics::new(),
        };
        wrong.extend(self.eased(template.located(environment.located(found))));
        let is_known = parameters.iter().all(|parameter| parameter.value().is_some());
        let known = Some(&parameters).filter(|_| is_known);
        let (loaded, found) = template.load_all(known, Some(self.of.files));
        wrong.extend(self.eased(found));
        self.count(&loaded, template, &mut wrong);
        let scope =
            ParameterScope { template, parameters: &parameters, files: Some(self.of.files) };
        let graph = Graph::of(&loaded, Some(&scope), template.words().resources);
        let mut environment = environment.clone();
        let level = Level { walk: self, template, loaded: &loaded, scope: &scope, depth };
        let made = level.types(&mut environment, &mut wrong);
        wrong.extend(template.located(Diagnostics(graph.problems())));
        let nested = level.resources(&made, &environment, &mut wrong);
        level.attributes(&made, &mut wrong);
        let mut warnings = template.warnings.clone();
        warnings.extend(environment.warnings.clone());
        for one in &nested {
            warnings.extend(one.validated.warnings.clone());
        }
        (Validated { parameters, loaded, graph, environment, nested, warnings }, wrong)
    }

    /// What is wrong with declarations of parameters. A default counts as a value.
    fn mistakes(&self, template: &Template) -> Diagnostics {
        let section = template.words().parameters;
        let values = template.parameters.iter().filter(|one| one.needs_another());
        let values: Vec<String> =
            values.map(|one| Path::of([section, &one.name]).to_string()).collect();
        let is_of_value = |one: &Diagnostic| {
            values.iter().any(|path| {
                one.path
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.eq_ignore_ascii_case(".default"))
            })
        };
        template.mistakes.clone().eased(|one| !self.of.checks_values && is_of_value(one))
    }

    /// What is wrong with values, as far as values count.
    fn eased(&self, found: Diagnostics) -> Diagnostics {
        let is_of_value = |one: &Diagnostic| {
            matches!(
                one.fault,
                Fault::ParameterMissing | Fault::ParameterInvalid | Fault::FileMissing
            )
        };
        found.eased(|one| !self.of.checks_values && is_of_value(one))
    }

    fn count(&self, loaded: &Loaded, template: &Template, wrong: &mut Diagnostics) {
        let left = self.resources_left.get().checked_sub(loaded.resources.len());
        self.resources_left.set(left.unwrap_or(0));
        if left.is_none() && !self.is_over.replace(true) {
            let message = "Request limit exceeded: Maximum resources per stack exceeded.";
            let path = Path::of([template.words().resources]);
            let found = Diagnostic::new(Fault::LimitExceeded, &path, message);
            let hint = format!("at most {}, with those of nested stacks", self.of.resources_max);
            wrong.extend(template.located(found.hint(hint).into()));
        }
    }
}

/// One template in a walk.
struct Level<'a> {
    walk: &'a Walk<'a>,
    template: &'a Template,
    loaded: &'a Loaded,
    scope: &'a ParameterScope<'a>,
    depth: usize,
}
