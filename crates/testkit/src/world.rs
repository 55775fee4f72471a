//! A control plane in memory, with a clock that only moves when told.

use std::time::Duration;

use hostler_base::clock::ManualClock;
use hostler_base::ids::Ids;
use hostler_base::reconcile::Reconciler as _;
use hostler_base::shutdown::{Phase, Shutdown};
use hostler_control::{Boot, Control, ControlConfig, Cx, NewJoinToken, RequestMeta};
use hostler_model::{
    Caller, Credential, Grant, Labels, Name, PrincipalKind, Project, Role, Scope, Timestamp,
};
use hostler_store::{OpenOptions, Store};
use hostler_trust::{MasterKey, NodeKey};

use crate::SimAgent;

/// One database, one clock, and as many servers as are asked for.
pub struct World {
    pub clock: ManualClock,
    pub store: Store,
    pub control: Control,
    pub cx: Cx,
    pub project: Project,
    ids: Ids,
    config: ControlConfig,
    master_key: [u8; 32],
}

impl World {
    pub async fn new(seed: u64) -> World {
        let store = Store::open("sqlite::memory:", OpenOptions::default()).await.expect("open");
        World::on(store, seed).await
    }

    pub async fn on(store: Store, seed: u64) -> World {
        World::configured(store, seed, ControlConfig::default()).await
    }

    pub async fn configured(store: Store, seed: u64, config: ControlConfig) -> World {
        store.migrate().await.expect("migrate");
        let clock = ManualClock::new(Timestamp::from_micros(1_790_000_000_000_000));
        let ids = Ids::seeded(seed);
        let master_key = [7; 32];
        let control = boot(&store, &clock, &ids, &config, master_key).await;
        let project = control.project_resolve("default").await.expect("default project");
        let cx = caller_cx(&ids, "admin", Role::Admin);
        // Objects point at their creator, so the caller of the tests is a real principal.
        store_principal(&store, &cx, clock.clock().now()).await;
        World { clock, store, control, cx, project, ids, config, master_key }
    }

    /// A server on a copy of another world's database, at that world's time and with its key.
    pub async fn resumed(store: Store, before: &World) -> World {
        let World { clock, ids, config, master_key, .. } = before;
        let control = boot(&store, clock, ids, config, *master_key).await;
        let project = control.project_resolve("default").await.expect("default project");
        World {
            clock: clock.clone(),
            store,
            control,
            cx: before.cx.clone(),
            project,
            ids: ids.clone(),
            config: config.clone(),
            master_key: *master_key,
        }
    }

    /// Another server on the same database, or the same one after a crash.
    pub async fn another_server(&self) -> Control {
        boot(&self.store, &self.clock, &self.ids, &self.config, self.master_key).await
    }

    /// Another server on the same database, on a machine whose clocks are its own.
    pub async fn another_server_at(&self, clock: &ManualClock) -> Control {
        boot(&self.store, clock, &self.ids, &self.config, self.master_key).await
    }

    /// The server dies and another process takes its place.
    pub async fn restart_server(&mut self) {
        self.control = self.another_server().await;
    }

    /// The same, with another configuration.
    pub async fn restart_configured(&mut self, config: ControlConfig) {
        self.config = config;
        self.restart_server().await;
    }

    /// The operation reconciler of the present server, advanced by hand.
    pub fn operations(&self) -> Operations {
        Operations(self.control.operation_reconciler())
    }

    /// Lets a server carry out transactions of state, until what is returned is dropped or stopped.
    pub fn serve_state(&self, control: &Control) -> Shutdown {
        let shutdown = Shutdown::new(self.clock.clock());
        control.state_start(&shutdown.tasks(Phase::Reconcilers));
        shutdown
    }

    pub fn advance(&self, length: Duration) {
        self.clock.advance(length);
    }

    pub fn now(&self) -> Timestamp {
        self.clock.clock().now()
    }

    /// A machine that joined with a fresh token.
    pub async fn join(&self, name: &str) -> SimAgent {
        let name: Name = name.parse().expect("name");
        let new = NewJoinToken { name: None, labels: Labels::new(), ttl: None };
        let (_, ticket) = self.control.join_token_create(&self.cx, new).await.expect("token");
        let token = ticket.expose().split('.').next().expect("a ticket has a token").to_owned();
        let key = NodeKey::generate().expect("key");
        let csr = key.csr_pem().expect("csr");
        let joined = self.control.join(&self.cx.request, &token, name, &csr).await.expect("join");
        let certificate =
            hostler_trust::PeerCertificate::from_pem(&joined.certificate).expect("certificate");
        SimAgent::new(joined.node_id, certificate.serial, self.ids.clone())
    }
}

/// One server's hand on operations.
pub struct Operations(hostler_control::OperationAdvance);

impl Operations {
    pub async fn pass(&mut self) {
        let pass = self.0.reconcile().await;
        assert_eq!(pass.error, None, "the pass failed");
    }
}

async fn boot(
    store: &Store,
    clock: &ManualClock,
    ids: &Ids,
    config: &ControlConfig,
    key: [u8; 32],
) -> Control {
    let boot = Boot {
        store: store.clone(),
        clock: clock.clock(),
        ids: ids.clone(),
        config: config.clone(),
        master_key: MasterKey::from_bytes(key).into(),
        server_name: "sim".into(),
    };
    boot.run().await.expect("boot")
}

async fn store_principal(store: &Store, cx: &Cx, now: Timestamp) {
    let principal = hostler_model::Principal {
        id: cx.caller.principal_id,
        name: cx.caller.name.clone(),
        kind: cx.caller.kind,
        password_hash: None,
        is_disabled: false,
        generation: hostler_model::Generation::FIRST,
        time_created: now,
        time_modified: now,
    };
    let principal = &principal;
    let result: Result<(), hostler_store::Error> = store
        .tx("testkit_principal", |tx| {
            Box::pin(async move {
                tx.principal_insert(principal).await?;
                tx.role_binding_set(principal.id, Scope::Global, Role::Admin).await
            })
        })
        .await;
    result.expect("principal");
}

/// A request by a principal with one global role.
pub fn caller_cx(ids: &Ids, name: &str, role: Role) -> Cx {
    let principal_id = ids.fresh();
    Cx {
        caller: Caller {
            principal_id,
            name: name.parse().expect("name"),
            kind: PrincipalKind::User,
            grants: vec![Grant::built_in(Scope::Global, role)],
            credential: Credential::WebSession(ids.fresh()),
        },
        request: RequestMeta {
            request_id: "test".into(),
            trace: None,
            source: "test".into(),
            user_agent: "test".into(),
            idempotency: None,
            consent: None,
        },
    }
}
