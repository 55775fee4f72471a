//! Several clients on two servers compete for one lock; a checker looks at what they saw.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hostler_base::ids::Ids;
use hostler_base::reconcile::Reconciler as _;
use hostler_control::{Control, Cx, LockAsk};
use hostler_model::{Code, LockName, LockOutcome, Project, Role, Span};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::{World, caller_cx};

use crate::locks::ask;
use crate::postgres::Schema;

const CLIENTS: usize = 8;
const ROUNDS: usize = 12;

/// What the lock protects: it knows how many are inside, and the token of who came last.
#[derive(Default)]
struct Protected {
    inside: AtomicI64,
    most: AtomicI64,
    token: AtomicU64,
    /// Tokens in the order in which they came.
    came: Mutex<Vec<u64>>,
}

impl Protected {
    fn enter(&self, token: u64) {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        let before = self.token.swap(token, Ordering::SeqCst);
        assert!(before < token, "fencing: {token} came after {before}");
        self.came.lock().unwrap().push(token);
    }

    fn leave(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn client(server: Control, cx: Cx, project: Project, ids: Ids, protected: Arc<Protected>) {
    let name: LockName = "ledger".parse().unwrap();
    for _ in 0..ROUNDS {
        let want = LockAsk { id: ids.fresh(), wait: Some(Span::from_secs(30)), ..ask(1) };
        let token = loop {
            match server.lock_acquire(&cx, &project, &name, want.clone()).await {
                Ok(answer) if answer.outcome == LockOutcome::Held => {
                    break answer.hold.unwrap().token.unwrap();
                }
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => assert_eq!(error.code, Code::Unavailable, "{error}"),
            }
        };
        protected.enter(token);
        tokio::task::yield_now().await;
        protected.leave();
        loop {
            match server.lock_release(&cx, &project, &name, want.id).await {
                Ok(()) => break,
                Err(error) => assert_eq!(error.code, Code::Unavailable, "{error}"),
            }
        }
    }
}

async fn compete(store: Store) {
    let world = World::on(store, 3).await;
    let servers = [world.control.clone(), world.another_server().await];
    let protected = Arc::new(Protected::default());
    let ids = Ids::seeded(500);
    let mut clients = tokio::task::JoinSet::new();
    for n in 0..CLIENTS {
        let cx = caller_cx(&ids, &format!("client-{n}"), Role::User);
        let server = servers[n % servers.len()].clone();
        let (project, ids) = (world.project.clone(), ids.clone());
        clients.spawn(client(server, cx, project, ids, Arc::clone(&protected)));
    }
    // Both servers watch all the while, and find nobody silent.
    let mut watches = servers.each_ref().map(Control::lock_watch);
    while !clients.is_empty() {
        for watch in &mut watches {
            assert_eq!(watch.reconcile().await.report.expired, 0);
        }
        tokio::select! {
            done = clients.join_next() => if let Some(done) = done { done.unwrap() },
            () = tokio::task::yield_now() => {}
        }
    }
    assert_eq!(protected.most.load(Ordering::SeqCst), 1, "two were inside at once");
    let came = protected.came.lock().unwrap().clone();
    let expected: Vec<u64> = (1..=(CLIENTS * ROUNDS) as u64).collect();
    assert_eq!(came, expected, "every grant was used, in the order in which it was given");
    let counts: Vec<_> = servers.iter().map(Control::lock_counts).collect();
    let granted: u64 = counts.iter().map(|counts| counts.granted).sum();
    assert_eq!(granted, (CLIENTS * ROUNDS) as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_of_two_servers_never_hold_a_lock_at_once() {
    compete(Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_of_two_servers_never_hold_a_lock_at_once_on_postgres() {
    let Some(schema) = Schema::create("locks") else { return };
    compete(schema.open().await).await;
}
