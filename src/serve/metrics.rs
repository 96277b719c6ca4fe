//! Counts and durations in the text format of Prometheus.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

const REQUESTS: &str = "softalign_requests_total";
const SECONDS: &str = "softalign_request_seconds";
const SENTENCES: &str = "softalign_sentences_total";
const BATCH: &str = "softalign_batch_sentences";
const RUNNING: &str = "softalign_requests_running";

/// Upper bounds of the buckets of durations, in seconds.
const SECONDS_BUCKETS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];
/// Upper bounds of the buckets of batch sizes.
const BATCH_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Metrics of one server.
pub struct ServerMetrics {
    recorder: PrometheusRecorder,
}

impl ServerMetrics {
    /// Returns metrics that count from zero.
    ///
    /// # Errors
    /// None: the buckets are not empty.
    pub fn new() -> Result<Self> {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(SECONDS.to_owned()), &SECONDS_BUCKETS)?
            .set_buckets_for_metric(Matcher::Full(BATCH.to_owned()), &BATCH_BUCKETS)?
            .build_recorder();
        metrics::with_local_recorder(&recorder, || {
            describe_counter!(REQUESTS, "Answered requests by path and status.");
            describe_histogram!(SECONDS, Unit::Seconds, "Time from the headers of a request to those of its answer.");
            describe_gauge!(RUNNING, "Requests that are being answered.");
            describe_counter!(SENTENCES, "Translated sentences by model.");
            describe_histogram!(BATCH, "Sentences that were translated together.");
        });
        Ok(Self { recorder })
    }

    /// Counts a batch of sentences.
    pub fn add_batch(&self, model: &str, sentences: usize) {
        metrics::with_local_recorder(&self.recorder, || {
            counter!(SENTENCES, "model" => model.to_owned()).increment(sentences as u64);
            histogram!(BATCH, "model" => model.to_owned()).record(sentences as f64);
        });
    }

    /// Returns the metrics in the text format of Prometheus.
    pub fn render(&self) -> String {
        self.recorder.handle().render()
    }

    fn add_request(&self, path: &str, status: u16, duration: Duration) {
        metrics::with_local_recorder(&self.recorder, || {
            counter!(REQUESTS, "path" => path.to_owned(), "status" => status.to_string()).increment(1);
            histogram!(SECONDS, "path" => path.to_owned()).record(duration.as_secs_f64());
        });
    }

    fn add_running(&self, difference: f64) {
        metrics::with_local_recorder(&self.recorder, || gauge!(RUNNING).increment(difference));
    }
}

/// Guard that counts a request as running until it is dropped.
struct RunningRequest(Arc<ServerMetrics>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.add_running(-1.0);
    }
}

/// Counts a request with its path, status and duration.
pub async fn measure(State(metrics): State<Arc<ServerMetrics>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let path =
        request.extensions().get::<MatchedPath>().map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    metrics.add_running(1.0);
    let _running = RunningRequest(Arc::clone(&metrics));
    let response = next.run(request).await;
    metrics.add_request(&path, response.status().as_u16(), start.elapsed());
    response
}
