//! The page, embedded in the program, and the state of the server for programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::state::Server;

/// State of a running server.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// `GET /`: the page.
pub async fn index() -> Html<&'static str> {
    Html(include_str!("page/index.html"))
}

/// `GET /page.css`: the style of the page.
pub async fn style() -> Response {
    const STYLE: &str = concat!(include_str!("../render/page/page.css"), include_str!("page/serve.css"));
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), NOT_CACHED], STYLE).into_response()
}

/// `GET /page.js`: the script of the page.
pub async fn script() -> Response {
    // build.rs bundles it from the modules that `page/serve.js` imports.
    const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/serve.js"));
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), NOT_CACHED], SCRIPT).into_response()
}

/// Header of the page's parts: browsers ask for them again, since a newer program has a newer page.
const NOT_CACHED: (HeaderName, &str) = (header::CACHE_CONTROL, "no-cache");

/// Tells that the server answers.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses((status = 200, description = "The server answers", body = Health))
)]
pub async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Counts requests, sentences and durations.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses((status = 200, description = "Metrics in the text format of Prometheus", body = String))
)]
pub async fn metrics(State(server): State<Arc<Server>>) -> Response {
    const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, TEXT_FORMAT)], server.metrics().render()).into_response()
}

#[cfg(test)]
mod tests {
    use crate::translator::DecodeOptions;

    #[test]
    fn page_begins_with_the_default_search() {
        let DecodeOptions { beam, length_penalty, coverage_penalty, brevity_penalty, .. } = DecodeOptions::default();
        let page = include_str!("page/state.js");
        for (option, default) in [
            ("beam", beam as f64),
            ("length_penalty", length_penalty),
            ("coverage_penalty", coverage_penalty),
            ("brevity_penalty", brevity_penalty),
        ] {
            assert!(page.contains(&format!(" {option}: {default},")), "{option} is {default}");
        }
    }
}
