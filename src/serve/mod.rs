//! The server of `softalign serve`: HTTP/1.1 on one address, for people by a page and for programs by three APIs.
//!
//! # State
//!
//! `state::Server` holds everything that handlers share, as axum's `State<Arc<Server>>`. Its models are chosen by name or by
//! languages. A `state::ServedModel` is a name whose `loaded_model::LoadedModel`, a translator with its linker, never
//! changes: a reload replaces the whole. A handler that needs the model itself takes `state::ServedModel::current` once and
//! keeps it.
//!
//! # Batching
//!
//! Each model has two worker threads (`batching`). A handler gives its sentences to `state::ServedModel::translate` and
//! awaits the translations; a worker translates what waits with equal options in one batch. Other work on a model, such as
//! forced decoding, runs on the same threads by `state::ServedModel::run`. Handlers never compute on the threads of the
//! runtime.
//!
//! A client that goes away drops its handler, which cancels its work: waiting sentences leave the queue, and running ones
//! end at the next step of the search. `stalled` lets a client that only ends its side of the connection wait for a moment.
//!
//! # Routes
//!
//! `routes::router` is the one place that names all paths. Bodies are read by `body` with a limit and a deadline, and
//! every failure is an `error::ApiError`, which answers `{"error": text}`; `field_errors` puts those of the parser and of options
//! into the terms of requests. `security` checks every request before its handler and adds headers to every answer. `key_check`
//! refuses those without a known key before their bodies are read. An `exchange::Exchange` follows a request up to the last byte
//! of its answer.

mod access;
mod batching;
mod body;
mod collect;
mod connections;
mod detection;
mod error;
mod exchange;
mod field_errors;
mod key_check;
mod languages;
mod libretranslate;
mod loaded_model;
mod metrics;
mod openapi;
mod opennmt;
mod options;
mod page;
mod reload;
mod request_sizes;
mod routes;
mod security;
mod stalled;
mod state;
mod steps;
mod v1;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, Result};
use candle_core::Device;
use tokio::runtime::Runtime;

use crate::reporter::Reporter;

pub use options::{AllowedOrigin, ModelSpec, RequestLimits, ServeOptions};

/// Threads that read requests and write answers. Models compute elsewhere.
const RUNTIME_THREADS: usize = 2;
/// Time for work on other threads, such as saving a pair, once the connections are closed.
const BLOCKING_GRACE: Duration = Duration::from_millis(500);

/// Serves models until SIGINT or SIGTERM. Reports the address once connections are accepted.
///
/// # Errors
/// A model or a file cannot be loaded, or the address cannot be listened on.
pub fn run(options: &ServeOptions, device: &Device, reporter: &dyn Reporter) -> Result<()> {
    let address = SocketAddr::new(options.host, options.port);
    let listener = TcpListener::bind(address)
        .with_context(|| format!("{address}: cannot listen here; choose another --port or --host"))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(RUNTIME_THREADS)
        .enable_all()
        .build()
        .context("cannot start the threads of the server")?;
    let server = Arc::new(state::Server::new(options, device)?);
    let (reload, asked) = mpsc::channel();
    let (log, lines) = mpsc::channel::<String>();
    let channels = connections::Channels { reload, log: options.access_log.then_some(log) };
    std::thread::scope(|scope| {
        let models = Arc::clone(&server);
        scope.spawn(move || lines.into_iter().for_each(|line| reporter.note(&line)));
        scope.spawn(move || reload::run(&models, options.watch, &asked, reporter));
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            reporter.note(&format!("serving {} at http://{address}/", server.model_names().join(", ")));
            connections::serve(listener, Arc::clone(&server), channels).await
        });
        // Connections that are still open keep the log open.
        end(runtime);
        served
    })
}

/// Ends the threads of the server. Work that still computes, which nothing can cancel, ends with the program.
fn end(runtime: Runtime) {
    runtime.shutdown_timeout(BLOCKING_GRACE);
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn blocking_work_does_not_keep_the_server_from_ending() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(RUNTIME_THREADS).build().unwrap();
        runtime.spawn_blocking(|| std::thread::sleep(Duration::from_secs(20)));
        let began = Instant::now();
        end(runtime);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
