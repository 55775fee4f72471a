//! The handle that every transport holds, and what all services share.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use hostler_base::clock::Clock;
use hostler_base::ids::Ids;
use hostler_base::reconcile::Driver;
use hostler_model::{
    Actor, ActorKind, Caller, Code, Error, EventKind, Name, NewAuditEntry, NewEvent, ObjectRef,
    PrincipalId, Project, ProjectId, ServerId, Timestamp, TokenId, WebSessionId, WorkloadId,
};
use hostler_store::{Claim, Store, Tx};
use hostler_trust::{Authority, Keyring};
use tokio::sync::{Notify, watch};

use crate::audit_entry::AuditAction;
use crate::authorities::{Authorities, AuthoritySet};
use crate::feed::Feed;
use crate::links::Links;
use crate::{ControlConfig, Cx, PeerLinks, RequestMeta, Wakers};

/// What the application is made of.
pub struct Parts {
    pub store: Store,
    pub clock: Clock,
    pub ids: Ids,
    pub config: ControlConfig,
    pub authority: AuthoritySet,
    pub keyring: Keyring,
    pub server_id: ServerId,
    pub server_name: String,
}

/// The application. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Control(Arc<Inner>);

/// What all clones share; only this crate sees inside.
pub struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) config: ControlConfig,
    pub(crate) authorities: Authorities,
    pub(crate) keyring: Keyring,
    pub(crate) server_id: ServerId,
    pub(crate) server_name: String,
    pub(crate) wakers: Wakers,
    pub(crate) links: Links,
    pub(crate) leases: crate::node_session::LeaseBook,
    pub(crate) feed: Feed,
    pub(crate) state: crate::state::StateDesk,
    pub(crate) callers: CallerCache,
    pub(crate) touched: Mutex<Touched>,
    pub(crate) password_work: crate::password_work::PasswordWork,
    pub(crate) logins: crate::service::LoginCounts,
    /// Callers who have no role until they have a second factor.
    pub(crate) unproven: Mutex<HashSet<PrincipalId>>,
    pub(crate) blob_room: crate::service::BlobRoom,
    pub(crate) images_tidied: crate::node_images::Tidied,
    pub(crate) secret_tally: crate::service::SecretTally,
    pub(crate) lock_tally: crate::lock_bells::LockTally,
    pub(crate) lock_bells: crate::lock_bells::LockBells,
    pub(crate) approval_tally: crate::service::ApprovalTally,
    pub(crate) schedule_tally: crate::schedule::ScheduleTally,
    pub(crate) watcher_tally: crate::watch::WatcherTally,
    pub(crate) stack_tally: crate::stack::StackTally,
    /// What stacks can be made of.
    pub(crate) stack_catalog: crate::stack::plugin::Catalog,
    pub(crate) identity_tally: crate::identity::IdentityTally,
    pub(crate) queue_tally: crate::queue_tally::QueueTally,
    pub(crate) chain_verdict: crate::reconcile::ChainVerdict,
    pub(crate) oidc_kept: crate::service::OidcKept,
    pub(crate) vaults: crate::vault::Vaults,
    pub(crate) backup_desk: crate::node_backup::BackupDesk,
    /// Whether some execution is under way, as far as this server knows.
    pub(crate) has_executions: AtomicBool,
    /// Whether some event hook is enabled, as far as this server knows.
    pub(crate) has_hooks: Arc<AtomicBool>,
    pub(crate) hook_tally: crate::reconcile::HookTally,
    /// Somebody wants a backup before it is due.
    is_backup_wished: AtomicBool,
    pub(crate) time_started: Timestamp,
    /// Whether the database was restored from a backup since this server started.
    is_restored: watch::Sender<bool>,
    waiters: Mutex<HashMap<WorkloadId, Arc<Notify>>>,
    peers: OnceLock<Arc<dyn PeerLinks>>,
    driver: OnceLock<Driver>,
}

impl std::ops::Deref for Control {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// Credentials used since the last time this was written down.
#[derive(Default)]
pub(crate) struct Touched {
    pub(crate) tokens: HashMap<TokenId, Timestamp>,
    pub(crate) sessions: HashMap<WebSessionId, Timestamp>,
}

/// Callers that were authenticated a moment ago. A revocation on this server empties it; one on
/// another server is noticed when the entry expires.
#[derive(Default)]
pub(crate) struct CallerCache(Mutex<HashMap<[u8; 32], (Caller, Duration)>>);

impl CallerCache {
    const KEEP: Duration = Duration::from_secs(2);
    const MAX: usize = 10_000;

    pub(crate) fn get(&self, hash: &[u8; 32], instant: Duration) -> Option<Caller> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries
            .get(hash)
            .filter(|(_, at)| instant.saturating_sub(*at) < Self::KEEP)
            .map(|(caller, _)| caller.clone())
    }

    pub(crate) fn put(&self, hash: [u8; 32], caller: Caller, instant: Duration) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= Self::MAX {
            entries.clear();
        }
        entries.insert(hash, (caller, instant));
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Control {
    pub fn new(parts: Parts) -> Control {
        let wakers = Wakers::default();
        let has_hooks = Arc::new(AtomicBool::new(true));
        let feed = Feed::new(wakers.hook_dispatch.clone(), Arc::clone(&has_hooks));
        let time_started = parts.clock.now();
        let vaults = crate::vault::Vaults::new(&parts.config.vaults, &parts.config.egress);
        let (stores, egress) = (&parts.config.backup_stores, &parts.config.egress);
        let backup_desk = crate::node_backup::BackupDesk::new(stores, egress);
        Control(Arc::new(Inner {
            store: parts.store,
            clock: parts.clock,
            ids: parts.ids,
            config: parts.config,
            authorities: Authorities::new(parts.authority),
            keyring: parts.keyring,
            server_id: parts.server_id,
            server_name: parts.server_name,
            wakers,
            links: Links::default(),
            leases: crate::node_session::LeaseBook::default(),
            feed,
            state: crate::state::StateDesk::new(),
            callers: CallerCache::default(),
            touched: Mutex::default(),
            password_work: crate::password_work::PasswordWork::default(),
            logins: crate::service::LoginCounts::default(),
            unproven: Mutex::default(),
            blob_room: crate::service::BlobRoom::default(),
            images_tidied: crate::node_images::Tidied::default(),
            secret_tally: crate::service::SecretTally::default(),
            lock_tally: crate::lock_bells::LockTally::default(),
            lock_bells: crate::lock_bells::LockBells::default(),
            approval_tally: crate::service::ApprovalTally::default(),
            schedule_tally: crate::schedule::ScheduleTally::default(),
            watcher_tally: crate::watch::WatcherTally::default(),
            stack_tally: crate::stack::StackTally::default(),
            stack_catalog: crate::stack::plugin::Catalog::new(),
            identity_tally: crate::identity::IdentityTally::default(),
            queue_tally: crate::queue_tally::QueueTally::default(),
            chain_verdict: crate::reconcile::ChainVerdict::default(),
            oidc_kept: crate::service::OidcKept::default(),
            vaults,
            backup_desk,
            has_executions: AtomicBool::new(true),
            has_hooks,
            hook_tally: crate::reconcile::HookTally::default(),
            is_backup_wished: AtomicBool::new(false),
            time_started,
            is_restored: watch::Sender::new(false),
            waiters: Mutex::default(),
            peers: OnceLock::new(),
            driver: OnceLock::new(),
        }))
    }

    pub fn store(&self) -> &Store {
        &self.store
    }
    pub fn clock(&self) -> &Clock {
        &self.clock
    }
    pub fn config(&self) -> &ControlConfig {
        &self.config
    }
    pub fn server_id(&self) -> ServerId {
        self.server_id
    }
    pub fn server_name(&self) -> &str {
        &self.server_name
    }
    /// The authority that issues now.
    pub fn authority(&self) -> Arc<Authority> {
        Arc::clone(self.authorities.get().issuing(self.now()))
    }
    /// All that there are.
    pub fn authorities(&self) -> Arc<AuthoritySet> {
        self.authorities.get()
    }
    /// Changes whenever the authorities do.
    pub fn authorities_watch(&self) -> tokio::sync::watch::Receiver<u64> {
        self.authorities.watch()
    }
    /// How many agents are connected to this process.
    pub fn sessions(&self) -> usize {
        self.links.count()
    }

    /// How to reach other servers; set once by the transport.
    pub fn set_peers(&self, peers: Arc<dyn PeerLinks>) {
        if self.peers.set(peers).is_err() {
            tracing::warn!("peers were set twice");
        }
    }

    pub(crate) fn peers(&self) -> Option<&Arc<dyn PeerLinks>> {
        self.peers.get()
    }

    /// Starts every reconciler, and what serves state.
    pub fn start(&self, driver: Driver) {
        self.state_start(driver.tasks());
        crate::reconcile::register_all(self, &driver);
        if self.driver.set(driver).is_err() {
            tracing::warn!("reconcilers were started twice");
        }
    }

    /// What wakes each reconciler that can be woken.
    pub fn wakers(&self) -> &Wakers {
        &self.wakers
    }

    /// What every reconciler of this process is doing.
    pub fn reconcilers(&self) -> Vec<hostler_base::reconcile::Status> {
        self.driver.get().map(Driver::statuses).unwrap_or_default()
    }

    /// Resolves once it is known that the database was restored from a backup under this server: what it holds in
    /// memory is of another one, and it has to stop.
    pub async fn until_restored(&self) {
        let mut told = self.is_restored.subscribe();
        let found = told.wait_for(|is_restored| *is_restored).await.is_ok();
        debug_assert!(found, "the sender lives as long as the application");
    }

    pub fn is_restored(&self) -> bool {
        *self.is_restored.borrow()
    }

    pub(crate) fn note_restored(&self) {
        self.is_restored.send_replace(true);
    }

    pub(crate) fn wish_backup(&self) {
        self.is_backup_wished.store(true, Ordering::SeqCst);
    }

    /// Whether somebody wants a backup now; the wish is taken.
    pub(crate) fn take_backup_wish(&self) -> bool {
        self.is_backup_wished.swap(false, Ordering::SeqCst)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn system_actor(&self) -> Actor {
        Actor { kind: ActorKind::System, name: self.server_name.clone() }
    }

    pub(crate) fn event(
        &self,
        kind: EventKind,
        project_id: Option<ProjectId>,
        object: &ObjectRef,
        actor: Actor,
        message: impl Into<String>,
    ) -> NewEvent {
        NewEvent {
            kind,
            project_id,
            object: object.clone(),
            actor,
            message: message.into(),
            payload: None,
            correlation: None,
            time: self.now(),
        }
    }

    /// An entry of what the caller did; see [`AuditAction`].
    pub(crate) fn audit<A: AuditAction>(
        &self,
        cx: &Cx,
        action: A,
        object: &ObjectRef,
        project_id: Option<ProjectId>,
        detail: serde_json::Value,
    ) -> A::Entry {
        self.audit_by(cx.actor(), &cx.request, action, object, project_id, detail)
    }

    pub(crate) fn audit_by<A: AuditAction>(
        &self,
        actor: Actor,
        request: &RequestMeta,
        action: A,
        object: &ObjectRef,
        project_id: Option<ProjectId>,
        detail: serde_json::Value,
    ) -> A::Entry {
        let entry = NewAuditEntry {
            time: self.now(),
            actor,
            action: action.word().to_owned(),
            object: object.clone(),
            project_id,
            request_id: request.request_id.clone(),
            source: request.source.clone(),
            detail,
            digest_before: None,
            digest_after: None,
        };
        action.entry(entry)
    }

    /// A change of the system's own, without a request.
    pub(crate) fn audit_system<A: AuditAction>(
        &self,
        action: A,
        object: &ObjectRef,
        project_id: Option<ProjectId>,
        detail: serde_json::Value,
    ) -> A::Entry {
        let request = RequestMeta {
            request_id: String::new(),
            trace: None,
            source: String::new(),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        };
        self.audit_by(self.system_actor(), &request, action, object, project_id, detail)
    }

    /// Claims the request's idempotency key for `object`. `Some` is what an earlier request with the
    /// same key made; the caller answers with that instead of doing it again.
    pub(crate) async fn claim(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        object: &ObjectRef,
    ) -> Result<Option<ObjectRef>, Error> {
        let Some(idempotency) = &cx.request.idempotency else { return Ok(None) };
        let claim = tx
            .idempotency_claim(
                cx.caller.principal_id,
                &idempotency.key,
                &idempotency.request_hash,
                object,
                self.now(),
            )
            .await?;
        match claim {
            Claim::Fresh => Ok(None),
            Claim::Replay(object) => Ok(Some(object)),
            Claim::Mismatch => Err(Error::new(
                Code::KeyReused,
                "this Idempotency-Key was used for a different request",
                "use a fresh key for every new request, and the same key only to repeat one",
            )),
        }
    }

    /// Finds a project by name or id.
    pub async fn project_resolve(&self, name_or_id: &str) -> Result<Project, Error> {
        let mut read = self.store.read().await?;
        let found = match (name_or_id.parse::<ProjectId>(), name_or_id.parse()) {
            (Ok(id), _) => read.project_get(id).await?,
            (_, Ok(name)) => read.project_by_name(&name).await?,
            _ => None,
        };
        found.ok_or_else(|| Error::not_found("project", name_or_id))
    }

    /// The names of projects, in order; of none that is gone.
    pub async fn project_names(&self, ids: &[ProjectId]) -> Result<Vec<Option<Name>>, Error> {
        let mut read = self.store.read().await?;
        let mut names = Vec::with_capacity(ids.len());
        for id in ids {
            names.push(read.project_get(*id).await?.map(|project| project.name));
        }
        Ok(names)
    }

    /// Resolves when the workload may have changed on this server.
    pub(crate) fn waiter(&self, workload: WorkloadId) -> Arc<Notify> {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.retain(|_, notify| Arc::strong_count(notify) > 1);
        Arc::clone(waiters.entry(workload).or_default())
    }

    pub(crate) fn notify_waiters(&self, workloads: impl IntoIterator<Item = WorkloadId>) {
        let waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        if waiters.is_empty() {
            return;
        }
        for workload in workloads {
            if let Some(notify) = waiters.get(&workload) {
                notify.notify_waiters();
            }
        }
    }
}
