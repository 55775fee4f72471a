//! What the control plane does on behalf of somebody: the one place that carries out an [`Action`].
//!
//! Schedules and hooks say what, in whose name and under which key ([`Order`]); what happens is what would
//! happen if that principal made the call itself, now:
//!
//! - Their rights are looked up, and what is needed is asked of the one authoriser. Who has lost the right,
//!   or is disabled, or gone, gets a refusal that says so.
//! - The service method is the one behind the endpoint, so approvals, quotas, names, secrets, events and audit
//!   entries are the same. The source of the request in the audit trail is the order's cause.
//! - The key is the request's idempotency key, claimed in the transaction that makes the rows. Whoever carries
//!   out the same order again (because nobody knows whether it was done) finds what was made, and makes nothing.
//!   A key is remembered for a day. A call outside cannot be taken back like rows: there the key is a header,
//!   and whoever is called can use it the same way.
//!
//! Many tasks at once become one transaction ([`Control::action_perform_all`]).

mod http;
mod standing;
mod tasks;

use hostler_model::{
    Action, ActionOutcome, Caller, Code, Credential, Diagnostic, Error, Mandate, Need, ObjectKind,
    ObjectRef, Operation, OperationAction, Permission, Project, Role, TokenId, TokenLimits,
    WebSessionId, WorkflowAction, WorkloadAction, WorkloadVerb,
};

use crate::execution::execution_object;
use crate::service::task_submit;
use crate::{Consent, Control, Cx, Idempotency, NewExecution, NewNodeBackup, RequestMeta};

pub use standing::{ActionStanding, Standings, standings};

/// What the operation is called that a backup of a node is.
const OPERATION_BACKUP: &str = "node-backup";

/// Something to be done.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    pub mandate: Mandate,
    pub project: &'a Project,
    pub action: &'a Action,
    /// Names this doing of it: what has the same key is the same.
    pub key: String,
    /// What has it done, for the audit trail: `schedule nightly`.
    pub cause: String,
    /// An approval that lets it through.
    pub consent: Option<Consent>,
}

impl Order<'_> {
    pub(crate) fn request(&self) -> Result<RequestMeta, Error> {
        let mut hash = blake3::Hasher::new();
        hash.update(&serde_json::to_vec(self.action).map_err(Error::internal)?);
        let request_hash = *hash.finalize().as_bytes();
        let idempotency = Some(Idempotency { key: self.key.clone(), request_hash });
        Ok(RequestMeta { idempotency, consent: self.consent.clone(), ..self.request_plain() })
    }

    fn request_plain(&self) -> RequestMeta {
        RequestMeta {
            request_id: self.key.clone(),
            trace: None,
            source: self.cause.clone(),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        }
    }
}

/// Why an action was not done.
#[derive(Debug)]
pub struct ActionFailure {
    pub error: Error,
    /// What a call was answered with, if it was answered.
    pub status: Option<u16>,
    /// Whether the same could succeed later without anybody changing anything.
    pub is_passing: bool,
}

impl From<Error> for ActionFailure {
    fn from(error: Error) -> ActionFailure {
        let is_passing = matches!(
            error.code,
            Code::Unavailable | Code::Internal | Code::RateLimited | Code::NodeUnreachable
        );
        ActionFailure { error, status: None, is_passing }
    }
}

impl Control {
    /// Looks at an action that somebody wants to be done later: it has to be well-formed, and something
    /// that they may do now.
    pub async fn action_check(
        &self,
        cx: &Cx,
        project: &Project,
        action: &Action,
        base: &str,
    ) -> Result<(), Error> {
        let mut problems = action.problems(base);
        match action {
            Action::Task(it) => {
                problems.extend(task_submit::not_for_tasks(&it.spec, &format!("{base}/task/spec")));
            }
            Action::Operation(OperationAction::NodeBackup(it)) => {
                let found = NewNodeBackup::from(&**it).problems().into_iter();
                problems.extend(found.map(|one| {
                    let at = format!("{base}/operation/nodeBackup{}", one.pointer);
                    Diagnostic::new(at, one.detail)
                }));
            }
            Action::Workflow(_) | Action::Workload(_) | Action::Operation(_) | Action::Http(_) => {}
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        self.authorise(&cx.caller, Need::of(action.permission(), Some(project.id)))?;
        match self.action_lacks(cx, project, action, base).await? {
            None => Ok(()),
            Some(problem) => Err(Error::invalid(vec![problem])),
        }
    }

    /// Why an address outside would never be called.
    pub(crate) async fn address_problem(&self, url: &str) -> Option<String> {
        let judged = match hostler_egress::Request::post(url) {
            Ok(request) => self.config.egress.judge(&request).await,
            Err(error) => Err(error),
        };
        // What cannot be looked up now may be there later.
        judged.err().filter(hostler_egress::Error::is_refusal).map(|error| error.to_string())
    }

    /// What an action is about and what is not there, or is never called.
    async fn action_lacks(
        &self,
        cx: &Cx,
        project: &Project,
        action: &Action,
        base: &str,
    ) -> Result<Option<Diagnostic>, Error> {
        let say = |at: &str, text: String| Some(Diagnostic::new(format!("{base}/{at}"), text));
        let lacks = |at: &str, what: &str, name: &str, next: &str| {
            Ok(say(at, format!("there is no {what} `{name}`; {next}")))
        };
        match action {
            Action::Workflow(it) => {
                let mut read = self.store.read().await?;
                let found = read.workflow_version_get(project.id, &it.name, it.version).await?;
                match it.version {
                    _ if found.is_some() => Ok(None),
                    Some(version) => {
                        let name = format!("{}@{version}", it.name);
                        let next = "`hostler workflow ls` shows the newest";
                        lacks("workflow/version", "workflow", &name, next)
                    }
                    None => {
                        let next = "push it first: `hostler workflow push`";
                        lacks("workflow/name", "workflow", &it.name, next)
                    }
                }
            }
            Action::Workload(it) => match self.workload_get(cx, project, it.name.as_str()).await {
                Err(error) if error.code == Code::NotFound => {
                    let next = "apply it first: `hostler workload apply`";
                    lacks("workload/name", "workload", it.name.as_str(), next)
                }
                found => found.map(|_| None),
            },
            Action::Operation(it) => {
                let (node, at) = match it {
                    OperationAction::NodeDrain { node, .. } => (node, "operation/nodeDrain/node"),
                    OperationAction::NodeCordon { node, .. } => (node, "operation/nodeCordon/node"),
                    OperationAction::NodeUncordon { node } => (node, "operation/nodeUncordon/node"),
                    OperationAction::ImageTake { node, .. } => (node, "operation/imageTake/node"),
                    OperationAction::NodeBackup(it) => (&it.node, "operation/nodeBackup/node"),
                    OperationAction::ImageSync { .. } => return Ok(None),
                };
                match self.node_of(cx, node.as_str()).await {
                    Err(error) if error.code == Code::NotFound => {
                        lacks(at, "node", node.as_str(), "`hostler node ls` shows which there are")
                    }
                    found => found.map(|_| None),
                }
            }
            Action::Http(it) => {
                let problem = self.address_problem(&it.url).await;
                Ok(problem.and_then(|why| say("http/url", why)))
            }
            Action::Task(_) => Ok(None),
        }
    }

    /// Carries out one order.
    pub async fn action_perform(&self, order: &Order<'_>) -> Result<ActionOutcome, ActionFailure> {
        let cx = self.action_cx(order).await?;
        self.action_do(&cx, order).await
    }

    /// Carries out many, each on its own: one that fails keeps no other from being done. The answers are in
    /// the order of the orders.
    pub async fn action_perform_all(
        &self,
        orders: &[Order<'_>],
    ) -> Vec<Result<ActionOutcome, ActionFailure>> {
        let mut answers: Vec<Option<_>> = orders.iter().map(|_| None).collect();
        for (at, answer) in self.action_tasks(orders).await {
            answers[at] = Some(Ok(answer));
        }
        for (order, answer) in orders.iter().zip(&mut answers) {
            if answer.is_none() {
                *answer = Some(self.action_perform(order).await);
            }
        }
        answers.into_iter().flatten().collect()
    }

    /// The request that the principal would make.
    async fn action_cx(&self, order: &Order<'_>) -> Result<Cx, Error> {
        let caller = self.action_caller(order, order.action.permission()).await?;
        Ok(Cx { caller, request: order.request()? })
    }

    /// The principal as they are now, with no more than the mandate; unauthenticated where they are disabled or gone.
    pub(crate) async fn mandate_caller(&self, mandate: &Mandate) -> Result<Caller, Error> {
        let id = mandate.principal;
        let credential = match mandate.can {
            None => Credential::WebSession(WebSessionId::from_uuid(id.uuid())),
            Some(can) => Credential::Token {
                id: TokenId::from_uuid(id.uuid()),
                limits: TokenLimits { can: Some(can), ..TokenLimits::role(Role::Admin) },
            },
        };
        self.caller_present(id, credential).await
    }

    /// The same, if they have this permission.
    pub(crate) async fn action_caller(
        &self,
        order: &Order<'_>,
        permission: Permission,
    ) -> Result<Caller, Error> {
        let caller = self.mandate_caller(&order.mandate).await;
        let caller = caller.map_err(|error| match error.code {
            Code::Unauthenticated => Error::forbidden(
                "in whose name this is done is disabled or gone; somebody else has to make it anew",
            ),
            _ => error,
        })?;
        let need = Need::of(permission, Some(order.project.id));
        self.authorise(&caller, need).map_err(|error| {
            let text = format!("{} may not do this any more: {}", caller.name, error.detail);
            Error::new(error.code, text, error.hint)
        })?;
        Ok(caller)
    }

    async fn action_do(&self, cx: &Cx, order: &Order<'_>) -> Result<ActionOutcome, ActionFailure> {
        let project = order.project;
        let object = match order.action {
            Action::Task(it) => {
                let made = self.task_submit(cx, project, vec![self.action_task(it)]).await?;
                made.first().map(|detail| crate::service_object(&detail.workload))
            }
            Action::Workflow(it) => Some(self.action_workflow(cx, project, it).await?),
            Action::Workload(it) => Some(self.action_workload(cx, project, it).await?),
            Action::Operation(it) => Some(self.action_operation(cx, it).await?),
            Action::Http(it) => return self.action_http(cx, order, it).await,
        };
        Ok(ActionOutcome { object, status: None })
    }

    async fn action_workflow(
        &self,
        cx: &Cx,
        project: &Project,
        it: &WorkflowAction,
    ) -> Result<ObjectRef, Error> {
        let new = NewExecution {
            version: it.version,
            values: it.values.clone(),
            options: it.options.clone(),
        };
        let begun = Box::pin(self.workflow_run(cx, project, &it.name, new)).await?;
        Ok(execution_object(&begun.execution))
    }

    async fn action_workload(
        &self,
        cx: &Cx,
        project: &Project,
        it: &WorkloadAction,
    ) -> Result<ObjectRef, Error> {
        let name = it.name.as_str();
        let detail = match it.verb {
            WorkloadVerb::Start => self.workload_start(cx, project, name).await?,
            WorkloadVerb::Stop => self.workload_stop(cx, project, name).await?,
            WorkloadVerb::Restart => self.workload_restart(cx, project, name).await?,
        };
        Ok(ObjectRef::new(ObjectKind::Workload, detail.service.id, &detail.service.name))
    }

    async fn action_operation(&self, cx: &Cx, it: &OperationAction) -> Result<ObjectRef, Error> {
        let begun = |operation: Operation| {
            ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label())
        };
        let node = match it {
            OperationAction::NodeDrain { node, reason, deadline } => {
                return self
                    .node_drain(cx, node.as_str(), reason.clone(), *deadline)
                    .await
                    .map(begun);
            }
            OperationAction::ImageSync { image, nodes } => {
                return self.image_sync(cx, image, nodes).await.map(begun);
            }
            OperationAction::ImageTake { image, node, source } => {
                return self
                    .image_take(cx, image.as_str(), node.as_str(), source.clone())
                    .await
                    .map(begun);
            }
            OperationAction::NodeBackup(it) => {
                let (node, new) = (it.node.as_str(), NewNodeBackup::from(&**it));
                let backup = Box::pin(self.node_backup_create(cx, node, new)).await?;
                let (kind, id) = (ObjectKind::Operation, backup.operation_id);
                return Ok(ObjectRef::new(kind, id, OPERATION_BACKUP));
            }
            OperationAction::NodeCordon { node, reason } => {
                self.node_cordon(cx, node.as_str(), reason.clone()).await?
            }
            OperationAction::NodeUncordon { node } => self.node_uncordon(cx, node.as_str()).await?,
        };
        Ok(ObjectRef::new(ObjectKind::Node, node.id, &node.name))
    }
}
