//! A PostgreSQL database for one test, and a wire to it that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::process::command;
use super::{Rig, skipped};

/// Dropped with the test.
pub struct Database<'a> {
    pub url: String,
    rig: &'a Rig,
    admin: String,
    name: String,
}

impl<'a> Database<'a> {
    /// A new one on the server that `HOSTLER_TEST_POSTGRES` names; `None` where there is none.
    pub fn create(rig: &'a Rig) -> Option<Database<'a>> {
        let Ok(admin) = std::env::var("HOSTLER_TEST_POSTGRES") else {
            skipped(
                "HOSTLER_TEST_POSTGRES names no PostgreSQL; run with `scripts/test-services` to have one",
            );
            return None;
        };
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hostler_e2e_{}_{count}", std::process::id());
        let (server, _) = admin.rsplit_once('/').expect("the address ends with a database");
        let url = format!("{server}/{name}");
        let database = Database { url, rig, admin, name };
        database.sql(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", database.name));
        database.sql(&format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    fn sql(&self, text: &str) {
        let mut psql = command(self.rig, "psql");
        psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--command", text]);
        let done = psql.arg(&self.admin).output().unwrap();
        assert!(done.status.success(), "{text}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        let text = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        if std::thread::panicking() {
            // A second panic would hide the first.
            let mut psql = command(self.rig, "psql");
            let _ = psql.args(["--quiet", "--command", &text]).arg(&self.admin).output();
        } else {
            self.sql(&text);
        }
    }
}

/// Passes connections on to the database, until it is cut.
pub struct Proxy {
    pub url: String,
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    is_cut: AtomicBool,
    is_over: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub fn new(database: &Database<'_>) -> Proxy {
        let (before, rest) = database.url.rsplit_once('@').expect("the address has a user");
        let (target, name) = rest.split_once('/').expect("the address names a database");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let url = format!("{before}@{address}/{name}");
        let thread = {
            let (shared, target) = (shared.clone(), target.to_owned());
            std::thread::spawn(move || accept(&listener, &target, &shared))
        };
        Proxy { url, address, shared, listener: Some(thread) }
    }

    /// Breaks every connection, and refuses new ones.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _already_closed = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn mend(&self) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.cut();
        let _wakes_it = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, target: &str, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else { continue };
        let Ok(server) = TcpStream::connect(target) else { continue };
        let mut open = shared.open.lock().unwrap();
        if shared.is_cut.load(Ordering::SeqCst) {
            continue;
        }
        for stream in [&client, &server] {
            let _ = stream.set_nodelay(true);
            open.push(stream.try_clone().unwrap());
        }
        let (client_in, server_in) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || pump(client_in, server));
        std::thread::spawn(move || pump(server_in, client));
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
