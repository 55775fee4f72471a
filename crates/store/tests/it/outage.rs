//! What callers see while the database is away, and that it passes by itself.
//!
//! PostgreSQL is reached through a small proxy that can refuse, freeze, or swallow the reply to
//! COMMIT.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use hostler_store::{Error, OpenOptions, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::world::*;

const OPEN: u8 = 0;
const LOSE_COMMIT: u8 = 1;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Weather {
    Fine,
    /// Connections are cut and refused.
    Away,
    /// Connections stay, but nothing passes.
    Frozen,
}

struct Proxy {
    url: String,
    weather: watch::Sender<Weather>,
    trick: Arc<AtomicU8>,
    _tasks: JoinSet<()>,
}

/// Splits `scheme://user@host:port/rest` around the host and port.
fn parts(url: &str) -> (String, String, String) {
    let start = url.find("//").unwrap() + 2;
    let end = url[start..].find(['/', '?']).map_or(url.len(), |i| start + i);
    let host = url[start..end].rfind('@').map_or(start, |i| start + i + 1);
    let address = url[host..end].to_owned();
    (url[..host].to_owned(), address, url[end..].to_owned())
}

impl Proxy {
    async fn new(url: &str) -> Proxy {
        let (before, address, after) = parts(url);
        let address = if address.contains(':') { address } else { format!("{address}:5432") };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (weather, watching) = watch::channel(Weather::Fine);
        let trick = Arc::new(AtomicU8::new(OPEN));
        let mut tasks = JoinSet::new();
        let tricked = trick.clone();
        tasks.spawn(async move {
            let mut links = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                if *watching.borrow() == Weather::Away {
                    continue;
                }
                let server = TcpStream::connect(&address).await.unwrap();
                links.spawn(link(client, server, watching.clone(), tricked.clone()));
            }
        });
        Proxy { url: format!("{before}127.0.0.1:{port}{after}"), weather, trick, _tasks: tasks }
    }

    fn set(&self, weather: Weather) {
        self.weather.send(weather).unwrap();
    }
}

async fn link(
    mut client: TcpStream,
    mut server: TcpStream,
    mut weather: watch::Receiver<Weather>,
    trick: Arc<AtomicU8>,
) {
    let (mut up, mut down) = ([0; 16384], [0; 16384]);
    loop {
        let now = *weather.borrow_and_update();
        match now {
            Weather::Away => return,
            Weather::Frozen => {
                if weather.changed().await.is_err() {
                    return;
                }
                continue;
            }
            Weather::Fine => {}
        }
        tokio::select! {
            changed = weather.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            read = client.read(&mut up) => {
                let Ok(n @ 1..) = read else { return };
                if server.write_all(&up[..n]).await.is_err() {
                    return;
                }
                let is_commit = up[..n].windows(7).any(|w| w == b"COMMIT\0");
                if is_commit
                    && trick.compare_exchange(LOSE_COMMIT, OPEN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
                {
                    // The server answers, so it has committed; nobody hears it.
                    server.readable().await.unwrap();
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(n @ 1..) = read else { return };
                if client.write_all(&down[..n]).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn quick() -> OpenOptions {
    OpenOptions {
        connections_max: 4,
        acquire_timeout: Duration::from_secs(1),
        statement_timeout: Duration::from_millis(700),
    }
}

async fn write(store: &Store, name: &str) -> Result<()> {
    let project = project(name);
    store.tx("write", |tx| Box::pin(tx.project_insert(&project))).await
}

async fn read(store: &Store) -> Result<usize> {
    let page = store.read().await?.project_list(None, None, limit(100)).await?;
    Ok(page.items.len())
}

/// Calls until it works again, within a deadline.
async fn recovered(store: &Store) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Err(error) = read(store).await {
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
        assert!(Instant::now() < deadline, "it did not come back");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_away_is_unavailable_quickly_and_comes_back() {
    on_postgres(async |world: World| {
        let proxy = Proxy::new(&world.url).await;
        let store = Store::open(&proxy.url, quick()).await.unwrap();
        write(&store, "before").await.unwrap();
        for weather in [Weather::Away, Weather::Frozen] {
            proxy.set(weather);
            for _ in 0..3 {
                let began = Instant::now();
                let (written, seen) = (write(&store, "during").await, read(&store).await);
                for error in [written.unwrap_err(), seen.unwrap_err()] {
                    assert!(matches!(error, Error::Unavailable { .. }), "{weather:?} {error:?}");
                    assert!(error.is_transient());
                    let public = hostler_model::Error::from(error);
                    assert_eq!(public.code, hostler_model::Code::Unavailable);
                }
                assert!(
                    began.elapsed() < Duration::from_secs(6),
                    "{weather:?} {:?}",
                    began.elapsed()
                );
            }
            proxy.set(Weather::Fine);
            recovered(&store).await;
            write(&store, &format!("after-{weather:?}").to_lowercase()).await.unwrap();
        }
        assert_eq!(read(&world).await.unwrap(), 3);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_whose_reply_is_lost_is_ambiguous() {
    on_postgres(async |world: World| {
        let proxy = Proxy::new(&world.url).await;
        let store = Store::open(&proxy.url, quick()).await.unwrap();
        proxy.trick.store(LOSE_COMMIT, Ordering::SeqCst);
        let error = write(&store, "perhaps").await.unwrap_err();
        assert!(matches!(error, Error::Ambiguous { .. }), "{error:?}");
        assert_eq!(read(&world).await.unwrap(), 1);
        let error = write(&store, "perhaps").await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
        store.close().await;
    })
    .await;
}

/// What a proxy or a forwarded port does while nothing is behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_peer_that_listens_and_hangs_up_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://hostler@{}/hostler", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let _ = client.read_exact(&mut [0; 8]).await;
        }
    });
    let error = Store::open(&url, quick()).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_that_cannot_be_opened_is_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/missing/store.db", dir.path().display());
    let error = Store::open(&url, quick()).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    std::fs::create_dir(dir.path().join("missing")).unwrap();
    Store::open(&url, quick()).await.unwrap().close().await;
    for (url, shown) in [
        ("mysql://root:secret@host/db", "mysql://...@host/db"),
        ("sqlite:", "sqlite:"),
        ("nonsense", "nonsense"),
    ] {
        let error = Store::open(url, quick()).await.unwrap_err();
        assert!(matches!(&error, Error::Address { url, .. } if url == shown), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_that_is_no_database_is_corrupt() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("store.db");
    std::fs::write(&file, vec![b'x'; 8192]).unwrap();
    let url = format!("sqlite:{}", file.display());
    let error = Store::open(&url, quick()).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
}
