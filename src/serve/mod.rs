//! The server of `softalign serve`: HTTP/1.1 on one address, for people by a page and for programs by three APIs.
//!
//! # State
//!
//! `state::Server` holds everything that handlers share, as axum's `State<Arc<Server>>`. Its models are chosen by name or by
//! languages. A `state::ServedModel` is a name whose `loaded_model::LoadedModel`, a translator with its linker, never
//! changes: a reload replaces the whole. A handler that needs the model itself takes `state::ServedModel::current` once and
//! keeps it.
//!
//! # Work
//!
//! Handlers never compute on the threads of the runtime. Each request becomes a `job::Job`, such as a
//! `translation_job::TranslationJob` or a `pair_job::PairJob`. Its cost is computed and checked first (`cost`), and then it is
//! done in slices of about equal cost on the threads of the `scheduler::Scheduler`. Short jobs have a queue and threads of their
//! own. Translations with equal options share slices.
//!
//! Answers are sent slice by slice (`answer`). The memory of bodies, documents, slices and unread answers is bounded (`memory`).
//! Translated files wait in the `file_store::FileStore` for a while.
//!
//! A client that goes away drops its handler or its answer, which cancels its job: if it waits, it leaves the queue; if it runs,
//! it ends at the next step of the search or the next slice.
//!
//! # Routes
//!
//! `routes::router` is the one place that names all paths. Bodies are read by `body` with a limit and a deadline, and
//! every failure is an `error::ApiError`, which answers `{"error": text}`; `field_errors` puts those of the parser and of options
//! into the terms of requests. `security` checks every request before its handler and adds headers to every answer. `key_check`
//! refuses those without a known key before their bodies are read. An `exchange::Exchange` follows a request up to the last byte
//! of its answer.

mod access;
mod answer;
mod body;
mod collect;
mod connections;
mod cost;
mod detection;
mod directions;
mod error;
mod exchange;
mod field_errors;
mod file_store;
mod job;
mod key_check;
mod languages;
mod libretranslate;
mod loaded_model;
mod memory;
mod metrics;
mod openapi;
mod opennmt;
mod options;
mod page;
mod pair_job;
mod reload;
mod request_sizes;
mod routes;
mod scheduler;
mod security;
mod stalled;
mod state;
mod steps;
mod text_lines;
mod translate_file;
mod translation_job;
mod v1;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, Result};
use candle_core::Device;
use tokio::runtime::Runtime;

use crate::reporter::Reporter;

pub use options::{AllowedOrigin, ModelSpec, RequestLimits, ServeOptions};

/// Number of threads that read requests and write answers. Models compute elsewhere.
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
            let most = server.memory().limit() >> 20;
            reporter.note(&format!("requests take at most {most} MiB beside the models (--memory-limit)"));
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
