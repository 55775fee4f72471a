//! `Endpoint`: everything there is to know about one route, said once.
//!
//! `server` mounts a handler for it, `client` calls it, `openapi` describes it, and the authorisation
//! test walks the list of all of them. A route that is not declared here cannot be mounted, and a
//! declaration without an access rule and a permission does not compile.
//!
//! The permission is what is asked for; the access rule says where, and for whom among the built-in
//! roles. The two cannot contradict each other: [`fits`] is checked when a declaration is compiled.

use hostler_model::{Code, Permission, Reach, Role};
use http::Method;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// Who may call an endpoint. The authoriser enforces it before the handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody: health, version, and what proves itself by its body (login, setup, join).
    Public,
    /// Any principal that is logged in; the handler shows each only what it may see.
    LoggedIn,
    /// The permission, which this role is the first to have, on the whole installation.
    Global(Role),
    /// The permission, which this role is the first to have, in the project named by the path
    /// parameter `project`.
    Project(Role),
}

/// Whether an access rule and a permission say the same. What anybody may call has no permission; what
/// everybody who is logged in may call can have one, which tokens need that are for some only.
pub const fn fits(access: Access, permission: Option<Permission>) -> bool {
    match (access, permission) {
        (Access::Public, permission) => permission.is_none(),
        (Access::LoggedIn, _) => true,
        (Access::Global(role), Some(permission)) => {
            matches!(permission.reach(), Reach::Global) && is_first(role, permission)
        }
        (Access::Project(role), Some(permission)) => {
            matches!(permission.reach(), Reach::Project) && is_first(role, permission)
        }
        (Access::Global(_) | Access::Project(_), None) => false,
    }
}

const fn is_first(role: Role, permission: Permission) -> bool {
    match permission.least() {
        Some(least) => least as u8 == role as u8,
        None => false,
    }
}

/// Whether a change has to say, with `If-Match`, which state of the object it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMatch {
    Never,
    /// Where the object exists already; without it, only a new one can be made.
    IfPresent,
    Always,
}

/// What comes back besides plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// One JSON document.
    None,
    /// With `watch=true` a stream of server-sent events instead of the document.
    Watch,
    /// Newline-delimited JSON for as long as it lasts.
    Lines,
    /// A page of metrics, as OpenMetrics.
    Metrics,
    /// Bytes as they are.
    Raw,
    /// Newline-delimited JSON in both directions, for as long as both sides want: the request's body is
    /// not read before the answer begins.
    Duplex,
}

pub trait Endpoint: Send + Sync + 'static {
    /// OpenAPI operation id, and the name in logs and metrics.
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const TAG: &'static str;
    const METHOD: Method;
    const PATH: &'static str;
    const ACCESS: Access;
    /// What the caller needs; `None` for what is public, and for what is about the caller itself.
    const PERMISSION: Option<Permission>;
    /// Status of success.
    const STATUS: u16;
    /// Codes this endpoint can answer besides those that every endpoint can.
    const ERRORS: &'static [Code];
    const IF_MATCH: IfMatch;
    const STREAM: Stream;
    /// The request's body is not JSON but bytes as they are, at most so many.
    const RAW_BODY: Option<usize>;
    type Path: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;
    type Query: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;
    type Body: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;
    type Reply: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;
}

/// Stands for "no parameters" and "no body".
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Declares endpoints. The doc comment becomes the summary in OpenAPI. Behind the access rule stands the
/// permission; or `Nobody` where the endpoint is public, or `Own` where it is about the caller itself.
#[macro_export]
macro_rules! endpoints {
    ($tag:literal $(
        #[doc = $doc:literal]
        $name:ident = $id:literal $method:ident $path:literal, $access:expr, $permission:ident, $status:literal
        $(, path: $p:ty)? $(, query: $q:ty)? $(, body: $b:ty)? $(, reply: $r:ty)?
        $(, errors: [$($code:ident),*])? $(, if_match: $im:ident)? $(, stream: $stream:ident)?
        $(, raw_body: $raw:expr)?;
    )+) => {
        $(
            #[doc = $doc]
            pub struct $name;
            impl $crate::Endpoint for $name {
                const NAME: &'static str = $id;
                const SUMMARY: &'static str = $doc;
                const TAG: &'static str = $tag;
                const METHOD: http::Method = http::Method::$method;
                const PATH: &'static str = $path;
                const ACCESS: $crate::Access = $access;
                const PERMISSION: Option<hostler_model::Permission> =
                    $crate::endpoints!(@permission $permission);
                const STATUS: u16 = $status;
                const ERRORS: &'static [hostler_model::Code] = &[$($(hostler_model::Code::$code),*)?];
                const IF_MATCH: $crate::IfMatch = $crate::endpoints!(@if_match $($im)?);
                const STREAM: $crate::Stream = $crate::endpoints!(@stream $($stream)?);
                const RAW_BODY: Option<usize> = $crate::endpoints!(@raw $($raw)?);
                type Path = $crate::endpoints!(@type $($p)?);
                type Query = $crate::endpoints!(@type $($q)?);
                type Body = $crate::endpoints!(@type $($b)?);
                type Reply = $crate::endpoints!(@type $($r)?);
            }
            const _: () = assert!(
                $crate::fits(
                    <$name as $crate::Endpoint>::ACCESS,
                    <$name as $crate::Endpoint>::PERMISSION,
                ),
                "the access rule names another role or scope than the permission",
            );
        )+
        /// Describes every endpoint of this module to the visitor.
        pub fn visit(visitor: &mut dyn $crate::Visitor) {
            $(visitor.see($crate::Described::of::<$name>());)+
        }
    };
    (@permission Nobody) => { None };
    (@permission Own) => { None };
    (@permission $permission:ident) => { Some(hostler_model::Permission::$permission) };
    (@type) => { $crate::Nothing };
    (@type $t:ty) => { $t };
    (@if_match) => { $crate::IfMatch::Never };
    (@if_match $i:ident) => { $crate::IfMatch::$i };
    (@raw) => { None };
    (@raw $max:expr) => { Some($max) };
    (@stream) => { $crate::Stream::None };
    (@stream $s:ident) => { $crate::Stream::$s };
}

/// An endpoint with its types erased, for tools that walk all of them.
#[derive(Clone)]
pub struct Described {
    pub name: &'static str,
    pub summary: &'static str,
    pub tag: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    pub permission: Option<Permission>,
    pub status: u16,
    pub errors: &'static [Code],
    pub if_match: IfMatch,
    pub stream: Stream,
    pub raw_body: Option<usize>,
    pub path_schema: SchemaOf,
    pub query_schema: SchemaOf,
    pub body_schema: Option<SchemaOf>,
    pub reply_schema: Option<SchemaOf>,
}

/// Makes the schema of a type with a shared generator.
pub type SchemaOf = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

impl Described {
    pub fn of<E: Endpoint>() -> Described {
        Described {
            name: E::NAME,
            summary: E::SUMMARY.trim_ascii(),
            tag: E::TAG,
            method: E::METHOD,
            path: E::PATH,
            access: E::ACCESS,
            permission: E::PERMISSION,
            status: E::STATUS,
            errors: E::ERRORS,
            if_match: E::IF_MATCH,
            stream: E::STREAM,
            raw_body: E::RAW_BODY,
            path_schema: |g| g.subschema_for::<E::Path>(),
            query_schema: |g| g.subschema_for::<E::Query>(),
            body_schema: present::<E::Body>(),
            reply_schema: present::<E::Reply>(),
        }
    }
}

fn present<T: JsonSchema + 'static>() -> Option<SchemaOf> {
    (std::any::TypeId::of::<T>() != std::any::TypeId::of::<Nothing>())
        .then_some(|g| g.subschema_for::<T>())
}

pub trait Visitor {
    fn see(&mut self, endpoint: Described);
}

impl Visitor for Vec<Described> {
    fn see(&mut self, endpoint: Described) {
        self.push(endpoint);
    }
}
