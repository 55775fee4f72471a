//! etcd as its own clients speak with it: gRPC, as it comes without TLS, and as we always are: with TLS, and a
//! certificate that says who calls.
//!
//! Of its protocol only what is measured is written down here: messages are their field numbers.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hostler_base::{Clock, Ids};
use hostler_trust::{Authority, tls};
use hyper_util::rt::TokioIo;
use prost::Message;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_prost::ProstCodec;

use super::process::{Peer, free_port};
use super::{Caller, LOCKS, Measured, WATCHED, rates};
use crate::rig::until;

#[derive(Clone, PartialEq, Message)]
struct Header {
    #[prost(int64, tag = "3")]
    revision: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Put {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// What most requests are answered with, as far as it is looked at.
#[derive(Clone, PartialEq, Message)]
struct Done {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
}

impl Done {
    fn revision(&self) -> anyhow::Result<i64> {
        Ok(self.header.as_ref().context("an answer has a header")?.revision)
    }
}

#[derive(Clone, PartialEq, Message)]
struct Range {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(int64, tag = "3")]
    mod_revision: i64,
    #[prost(bytes = "vec", tag = "5")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Found {
    #[prost(message, repeated, tag = "2")]
    kvs: Vec<KeyValue>,
}

/// That the revision of a key's last change is this one.
#[derive(Clone, PartialEq, Message)]
struct Compare {
    /// 2 is the revision of the last change.
    #[prost(int32, tag = "2")]
    target: i32,
    #[prost(bytes = "vec", tag = "3")]
    key: Vec<u8>,
    #[prost(int64, tag = "6")]
    mod_revision: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Op {
    #[prost(message, optional, tag = "2")]
    put: Option<Put>,
}

#[derive(Clone, PartialEq, Message)]
struct Txn {
    #[prost(message, repeated, tag = "1")]
    compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    success: Vec<Op>,
}

#[derive(Clone, PartialEq, Message)]
struct TxnDone {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
    #[prost(bool, tag = "2")]
    succeeded: bool,
}

#[derive(Clone, PartialEq, Message)]
struct LeaseGrant {
    #[prost(int64, tag = "1")]
    seconds: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Lease {
    #[prost(int64, tag = "2")]
    id: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Lock {
    #[prost(bytes = "vec", tag = "1")]
    name: Vec<u8>,
    #[prost(int64, tag = "2")]
    lease: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Locked {
    #[prost(bytes = "vec", tag = "2")]
    key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Unlock {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Watch {
    #[prost(message, optional, tag = "1")]
    create: Option<Range>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(message, optional, tag = "2")]
    kv: Option<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct Told {
    #[prost(bool, tag = "3")]
    created: bool,
    #[prost(message, repeated, tag = "11")]
    events: Vec<Event>,
}

struct Etcd {
    grpc: Grpc<Channel>,
    revisions: HashMap<String, i64>,
}

/// Where an etcd is, and how to speak with it.
struct Place {
    port: u16,
    tls: Option<TlsConnector>,
}

impl Place {
    async fn connect(&self) -> anyhow::Result<Etcd> {
        let endpoint = Endpoint::from_shared(format!("http://127.0.0.1:{}", self.port))?;
        let channel = match &self.tls {
            None => endpoint.tcp_nodelay(true).connect().await?,
            Some(tls) => {
                let (tls, port) = (tls.clone(), self.port);
                let connect = tower::service_fn(move |_: Uri| {
                    let tls = tls.clone();
                    async move {
                        let tcp = TcpStream::connect(("127.0.0.1", port)).await?;
                        tcp.set_nodelay(true)?;
                        let name = ServerName::try_from("etcd").map_err(std::io::Error::other)?;
                        Ok::<_, std::io::Error>(TokioIo::new(tls.connect(name, tcp).await?))
                    }
                });
                endpoint.connect_with_connector(connect).await?
            }
        };
        Ok(Etcd { grpc: Grpc::new(channel), revisions: HashMap::new() })
    }
}

impl Etcd {
    async fn ask<A, B>(&mut self, path: &'static str, message: A) -> anyhow::Result<B>
    where
        A: Message + 'static,
        B: Message + Default + 'static,
    {
        self.grpc.ready().await?;
        let path = PathAndQuery::from_static(path);
        let codec = ProstCodec::<A, B>::default();
        let answer = self.grpc.unary(tonic::Request::new(message), path, codec).await?;
        Ok(answer.into_inner())
    }
}

impl Caller for Etcd {
    async fn put(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        let put = Put { key: key.into(), value: value.into() };
        let done: Done = self.ask("/etcdserverpb.KV/Put", put).await?;
        self.revisions.insert(key.to_owned(), done.revision()?);
        Ok(())
    }

    async fn swap(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        let mod_revision = self.revisions.get(key).copied().context("it was put first")?;
        let put = Put { key: key.into(), value: value.into() };
        let txn = Txn {
            compare: vec![Compare { target: 2, key: key.into(), mod_revision }],
            success: vec![Op { put: Some(put) }],
        };
        let done: TxnDone = self.ask("/etcdserverpb.KV/Txn", txn).await?;
        ensure!(done.succeeded, "nobody else changes this key");
        let revision = Done { header: done.header }.revision()?;
        self.revisions.insert(key.to_owned(), revision);
        Ok(())
    }

    async fn get(&mut self, key: &str) -> anyhow::Result<()> {
        let found: Found = self.ask("/etcdserverpb.KV/Range", Range { key: key.into() }).await?;
        ensure!(found.kvs.len() == 1, "what was put is there");
        Ok(())
    }
}

pub async fn measure() -> anyhow::Result<Measured> {
    let (server, port) = start("http", |_, _| Ok(()))?;
    measure_at(&Place { port, tls: None }, server).await
}

/// With TLS on both sides: the server shows a certificate, and wants one of who calls.
pub async fn measure_sealed() -> anyhow::Result<Measured> {
    let now = Clock::system().now();
    let authority = Authority::create(now, "bench")?;
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let day = Duration::from_hours(24);
    let (_, identity) = authority.issue_server(Ids::system().fresh(), &names, now, day)?;
    let mut config = tls::client(authority.certificate(), Some(&identity))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let (server, port) = start("https", |command, folder| {
        for (word, name, text) in [
            ("--cert-file", "chain.pem", identity.chain_pem.as_str()),
            ("--key-file", "key.pem", identity.key_pem.expose()),
            ("--trusted-ca-file", "authority.pem", &authority.certificate_pem()),
        ] {
            std::fs::write(folder.join(name), text)?;
            command.arg(word).arg(folder.join(name));
        }
        command.arg("--client-cert-auth");
        Ok(())
    })?;
    let tls = Some(TlsConnector::from(Arc::new(config)));
    measure_at(&Place { port, tls }, server).await
}

fn start(
    scheme: &str,
    more: impl FnOnce(&mut Command, &Path) -> anyhow::Result<()>,
) -> anyhow::Result<(Peer, u16)> {
    let (port, peers) = (free_port()?, free_port()?);
    let url = format!("{scheme}://127.0.0.1:{port}");
    let among = format!("http://127.0.0.1:{peers}");
    let mut made = Ok(());
    let server = Peer::start("etcd", |command, folder| {
        command.arg("--data-dir").arg(folder.join("data"));
        for (name, value) in [
            ("--name", "bench"),
            ("--listen-client-urls", &url),
            ("--advertise-client-urls", &url),
            ("--listen-peer-urls", &among),
            ("--initial-advertise-peer-urls", &among),
            ("--initial-cluster", &format!("bench={among}")),
            ("--log-level", "error"),
        ] {
            command.arg(name).arg(value);
        }
        made = more(command, folder);
    })?;
    made.map(|()| (server, port))
}

async fn measure_at(place: &Place, _server: Peer) -> anyhow::Result<Measured> {
    until("etcd answers", async || {
        let Ok(mut caller) = place.connect().await else { return Ok(None) };
        Ok(caller.put("first", "").await.ok())
    })
    .await?;
    let mut measured = Measured::default();
    rates(&mut measured, async || place.connect().await).await?;
    measured.lock_millis = locks(place).await?;
    measured.watch_millis = watch(place).await?;
    Ok(measured)
}

/// With one lease for all, as its client library keeps one.
async fn locks(place: &Place) -> anyhow::Result<Vec<f64>> {
    let mut caller = place.connect().await?;
    let grant = LeaseGrant { seconds: 600 };
    let lease: Lease = caller.ask("/etcdserverpb.Lease/LeaseGrant", grant).await?;
    let mut millis = Vec::new();
    for _ in 0..LOCKS {
        let begun = Instant::now();
        // A name of its own: a lock waits for all older keys below its name.
        let lock = Lock { name: b"lock".to_vec(), lease: lease.id };
        let locked: Locked = caller.ask("/v3lockpb.Lock/Lock", lock).await?;
        ensure!(!locked.key.is_empty(), "it is locked");
        let _: Done = caller.ask("/v3lockpb.Lock/Unlock", Unlock { key: locked.key }).await?;
        millis.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(millis)
}

async fn watch(place: &Place) -> anyhow::Result<Vec<f64>> {
    let mut watching = place.connect().await?;
    watching.grpc.ready().await?;
    let wanted = Watch { create: Some(Range { key: b"watched".to_vec() }) };
    // The stream of requests stays open: etcd ends a watch whose requests have ended.
    let requests = futures::StreamExt::chain(
        futures::stream::once(async move { wanted }),
        futures::stream::pending(),
    );
    let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
    let codec = ProstCodec::<Watch, Told>::default();
    let answer = watching.grpc.streaming(tonic::Request::new(requests), path, codec).await?;
    let mut told = answer.into_inner();
    ensure!(told.message().await?.is_some_and(|first| first.created), "it is watched");
    let mut caller = place.connect().await?;
    let mut millis = Vec::new();
    for n in 0..WATCHED {
        let value = n.to_string();
        let begun = Instant::now();
        let (put, told) = tokio::join!(caller.put("watched", &value), told.message());
        let took = begun.elapsed();
        put?;
        let event = told?.context("the watch ended")?.events.pop().context("an event")?;
        ensure!(event.kv.context("a change")?.value == value.as_bytes(), "another change");
        millis.push(took.as_secs_f64() * 1000.0);
    }
    Ok(millis)
}
