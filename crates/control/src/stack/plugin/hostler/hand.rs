//! In whose name a type of ours acts, and under which key.
//!
//! A stack may do nothing that whoever asked for it may not do. So every call is made as the principal of the stack's mandate,
//! as they are now and with no more than the mandate allows, and what an endpoint would ask of the authoriser is asked here
//! ([`Hand::need`]). The key of the deed is the key of the request, so that services that remember keys find what they have
//! made already.

use hostler_model::{Caller, Code, Error, Name, Need, Permission, Project};

use super::super::{Ctx, Seen};
use crate::{Control, Cx, Idempotency, RequestMeta};

/// One call of a plugin, with who makes it.
pub(in super::super) struct Hand<'a> {
    pub(in super::super) control: &'a Control,
    pub(in super::super) project: Project,
    pub(in super::super) ctx: &'a Ctx<'a>,
    caller: Caller,
}

impl<'a> Hand<'a> {
    pub(in super::super) async fn of(ctx: &'a Ctx<'a>) -> Result<Hand<'a>, Error> {
        let control = ctx.desk.control();
        let caller = control.mandate_caller(&ctx.stack.mandate).await;
        let caller = caller.map_err(|error| match error.code {
            Code::Unauthenticated => Error::forbidden(
                "in whose name the stack acts is disabled or gone; somebody else has to update it",
            ),
            _ => error,
        })?;
        let id = ctx.stack.project_id;
        let project = control.store.read().await?.project_get(id).await?;
        let project = project.ok_or_else(|| Error::not_found("project", id))?;
        Ok(Hand { control, project, ctx, caller })
    }

    /// What an endpoint would ask before it.
    pub(in super::super) fn need(&self, permission: Permission) -> Result<(), Error> {
        let need = Need::of(permission, Some(self.project.id));
        self.control.authorise(&self.caller, need)
    }

    /// The same in another project.
    pub(super) fn need_in(&self, project: &Project, permission: Permission) -> Result<(), Error> {
        self.control.authorise(&self.caller, Need::of(permission, Some(project.id)))
    }

    /// The request for a part of the deed; the same part is the same request.
    pub(in super::super) fn cx(&self, part: &str) -> Cx {
        let key = format!("{}/{part}", self.ctx.key);
        let request_hash = *blake3::hash(key.as_bytes()).as_bytes();
        let idempotency = Some(Idempotency { key, request_hash });
        let plain = self.plain();
        Cx { request: RequestMeta { idempotency, ..plain.request }, ..plain }
    }

    /// A request that may be made any number of times.
    pub(in super::super) fn plain(&self) -> Cx {
        let request = RequestMeta {
            request_id: self.ctx.key.to_owned(),
            trace: None,
            source: format!("stack {}", self.ctx.stack.name),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        };
        Cx { caller: self.caller.clone(), request }
    }
}

/// What an object is called that nobody gave a name: nobody else has it.
pub(super) fn name_of(seen: &Seen<'_>) -> Name {
    name_from(&format!("{}-{}", seen.stack.name, seen.row.name), seen)
}

/// A name that begins like that, and that nobody else has.
pub(super) fn name_from(stem: &str, seen: &Seen<'_>) -> Name {
    let id = seen.row.id.uuid().simple().to_string();
    let tail = &id[id.len() - 12..];
    let fits = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let stem: String = stem.chars().map(fits).take(Name::MAX - tail.len() - 1).collect();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { "stack" } else { stem };
    format!("{stem}-{tail}").parse().expect("letters, digits and dashes between them")
}

/// A name that a template gives; what is wrong with it is for people.
pub(super) fn named(text: &str) -> Result<Name, Error> {
    text.parse().map_err(|error: hostler_model::ParseNameError| {
        Error::invalid(vec![hostler_model::Diagnostic::new("/name", error.to_string())])
    })
}
