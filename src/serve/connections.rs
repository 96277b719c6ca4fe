//! Connections: accepted until a signal, each with time limits.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::access::ClientAddress;
use super::routes::router;
use super::state::Server;

/// Time to send the headers of a request, and to begin the next one on a connection.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Maximum bytes of the headers of a request.
const MAX_HEADERS: usize = 64 * 1024;
/// Maximum number of open connections; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;
/// Pause after a connection could not be accepted, as when there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for running requests to be answered once the server stops.
const GRACE: Duration = Duration::from_secs(7);
/// Time for requests whose work was cut short then.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// Serves connections until SIGINT or SIGTERM, then answers the running requests. SIGHUP asks for a reload.
///
/// # Errors
/// Signals cannot be received.
pub async fn serve(listener: TcpListener, server: Arc<Server>, reload: Sender<()>) -> Result<()> {
    let router = router(Arc::clone(&server));
    let (stop, stopping) = watch::channel(false);
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
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
                let (router, stopping) = (router.clone(), stopping.clone());
                tokio::spawn(async move {
                    serve_connection(stream, address.ip(), router, stopping).await;
                    drop(slot);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    let _ = stop.send(true);
    let all_closed = || slots.acquire_many(MAX_CONNECTIONS as u32);
    if tokio::time::timeout(GRACE, all_closed()).await.is_err() {
        server.cancel_all();
        let _ = tokio::time::timeout(LAST_GRACE, all_closed()).await;
    }
    Ok(())
}

async fn serve_connection(stream: TcpStream, client: IpAddr, router: Router, mut stopping: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ClientAddress(client));
        service.call(request)
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
