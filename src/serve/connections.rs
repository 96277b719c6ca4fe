//! Connections: accepted until a signal, each with time limits.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::access::ClientAddress;
use super::exchange::Exchange;
use super::routes::router;
use super::stalled::{LimitedStream, WaitLimits};
use super::state::Server;

/// Time to send the headers of a request, and to begin the next one on a connection.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Times that a client may read nothing of an answer, and wait for one after it has ended its side of the connection.
const WAIT_LIMITS: WaitLimits = WaitLimits { write: Duration::from_secs(30), half_closed: Duration::from_secs(3) };
/// Maximum bytes of the headers of a request.
const MAX_HEADERS: usize = 32 * 1024;
/// Maximum number of open connections; further ones wait to be accepted. A lower limit of memory allows fewer.
const MAX_CONNECTIONS: u32 = 2048;
/// Pause after a connection could not be accepted, as when there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for running requests to be answered once the server stops.
const GRACE: Duration = Duration::from_secs(7);
/// Time for a stopping server to answer the requests whose work it has cut short.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// Channels to other threads.
pub struct Channels {
    /// Asks for a reload of the models and keys.
    pub reload: Sender<()>,
    /// Receives a line for each request, if they are logged.
    pub log: Option<Sender<String>>,
}

/// Serves connections until SIGINT or SIGTERM, then answers the running requests. SIGHUP asks for a reload.
///
/// # Errors
/// Signals cannot be received.
pub async fn serve(listener: TcpListener, server: Arc<Server>, channels: Channels) -> Result<()> {
    let Channels { reload, log } = channels;
    raise_file_limit();
    let router = router(Arc::clone(&server));
    let (stop, stopping) = watch::channel(false);
    let most = MAX_CONNECTIONS.min(server.memory().connections());
    let slots = Arc::new(Semaphore::new(most as usize));
    let mut signal = pin!(termination(reload)?);
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, connection) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut signal => break,
        };
        match connection {
            Ok((stream, address)) => {
                let client = Peer { address: address.ip(), log: log.clone() };
                let (router, stopping) = (router.clone(), stopping.clone());
                tokio::spawn(async move {
                    serve_connection(stream, client, router, stopping).await;
                    drop(slot);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    let _ = stop.send(true);
    // All slots are free once all connections are closed.
    if tokio::time::timeout(GRACE, slots.acquire_many(most)).await.is_err() {
        server.scheduler().cancel_all();
        let _ = tokio::time::timeout(LAST_GRACE, slots.acquire_many(most)).await;
    }
    Ok(())
}

/// Raises the number of files that this process may open, of which each connection is one, as far as it is allowed to.
#[cfg(unix)]
fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes the limits through a valid pointer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 {
        limit.rlim_cur = limit.rlim_max.min(libc::rlim_t::from(2 * MAX_CONNECTIONS)).max(limit.rlim_cur);
        // SAFETY: the call reads the limits through a valid pointer. Where it fails, there are fewer connections at once.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

#[cfg(not(unix))]
fn raise_file_limit() {}

/// Client of a connection, and the log of its requests, if they are logged.
struct Peer {
    address: IpAddr,
    log: Option<Sender<String>>,
}

async fn serve_connection(stream: TcpStream, client: Peer, router: Router, mut stopping: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let is_answering = Arc::new(AtomicBool::new(false));
    let stream = LimitedStream::new(stream, WAIT_LIMITS, Arc::clone(&is_answering));
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ClientAddress(client.address));
        let exchange = Exchange::begin(&mut request, client.address, &is_answering, client.log.clone());
        let answered = service.call(request);
        async move { answered.await.map(|response| exchange.answer(response)) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .max_buf_size(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), answer)
    );
    tokio::select! {
        // A client that misbehaves loses its connection, which is all that it needs to know.
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stopping| *stopping) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Returns a future that ends at SIGINT or SIGTERM. It sends a message at each SIGHUP.
#[cfg(unix)]
fn termination(reload: Sender<()>) -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => return,
                _ = terminate.recv() => return,
                // The receiver ends after this future.
                _ = hangup.recv() => drop(reload.send(())),
            }
        }
    })
}

#[cfg(not(unix))]
fn termination(reload: Sender<()>) -> Result<impl Future<Output = ()>> {
    Ok(async move {
        let _ = tokio::signal::ctrl_c().await;
        drop(reload);
    })
}
