//! Stacks below resources: what is wished of them, and what they are.

use hostler_model::stack::{ResourceStanding, StackName, StackStanding};
use hostler_model::{Span, StackId, Timestamp};
use serde_json::{Map, Value};

/// What is to become of the stack below a resource. The deed of the resource is looked at when that has ended. The physical
/// id of the resource is the id of that stack, from when it is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ChildWish {
    /// It is made where there is none, and goes towards this.
    Apply(Box<ChildForm>),
    Suspend,
    Resume,
    Check,
    Snapshot,
    /// Everything below it goes, and then it. Nothing happens where there is none.
    Delete,
}

/// What a stack below is to be as.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChildForm {
    pub(crate) template: Value,
    /// Values for the parameters of that template.
    pub(crate) parameters: Map<String, Value>,
    pub(crate) timeout: Option<Span>,
    /// The type whose meaning that template is: inside of it the type means what it means without that.
    pub(crate) wraps: Option<String>,
    /// Where names of the registry are looked up by the resource of this stack: what the registry says under
    /// `resources: NAME` holds for the stack below.
    pub(crate) environment: ChildEnvironment,
    /// Resources that are taken over, by name, as an exported document has them.
    pub(crate) left: Map<String, Value>,
    /// For whoever only asks: what the stack below is like in the end, where more is to come than this template.
    pub(crate) course: Option<ChildCourse>,
}

/// How a stack below becomes what it is to be, where that takes more than one step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChildCourse {
    /// The last of its templates.
    pub(crate) template: Value,
    /// What happens on the way, in words.
    pub(crate) words: String,
}

/// Which environment a stack below has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ChildEnvironment {
    /// That of the stack above, narrowed to the resource, without its parameters.
    #[default]
    Narrowed,
    /// That of the stack above as it is, without its parameters.
    Whole,
}

/// The stack below a resource, as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChildView {
    pub(crate) id: StackId,
    pub(crate) name: StackName,
    pub(crate) standing: StackStanding,
    /// What it goes towards, or is as.
    pub(crate) template: Value,
    pub(crate) outputs: Map<String, Value>,
    /// Its resources, in the order of its template; what is about to go comes last.
    pub(crate) members: Vec<Member>,
}

/// A resource of a stack below.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) physical: Option<String>,
    pub(crate) reference: Value,
    pub(crate) standing: ResourceStanding,
    pub(crate) time_created: Timestamp,
    /// As [`Plugin::attributes`] gives them.
    pub(crate) attributes: Map<String, Value>,
}
