//! What a stack uses of other stacks, as far as its template and its parameters tell.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::stack::{Stack, StackDependency, StackName};
use hostler_template::schema::Known;
use hostler_template::template::ParameterScope;
use serde_json::Value;

use super::blueprint::Blueprint;
use super::plugin::STACK_OUTPUT;

impl Blueprint {
    /// Outputs of other stacks that it uses, by the names of those stacks, as far as they are known.
    pub fn uses(&self) -> BTreeMap<StackName, BTreeSet<String>> {
        let scope =
            ParameterScope { template: &self.template, parameters: &self.parameters, files: None };
        let mut uses: BTreeMap<StackName, BTreeSet<String>> = BTreeMap::new();
        for part in self.parts.iter().filter(|part| part.plugin == STACK_OUTPUT) {
            let known = Known::of(&self.loaded.resources[part.place].properties, &scope);
            let Ok(Some(known)) = known else { continue };
            let known = known.to_json();
            let name = known.get("stack").and_then(Value::as_str).and_then(|it| it.parse().ok());
            let output = known.get("output").and_then(Value::as_str);
            if let Some(name) = name {
                uses.entry(name).or_default().extend(output.map(str::to_owned));
            }
        }
        uses
    }

    /// The same, as it is kept of a stack.
    pub fn dependencies(&self, stack: &Stack) -> Vec<StackDependency> {
        let one = |(on, outputs): (StackName, BTreeSet<String>)| StackDependency {
            stack_id: stack.id,
            project_id: stack.project_id,
            on,
            outputs: outputs.into_iter().collect(),
        };
        self.uses().into_iter().map(one).collect()
    }
}
