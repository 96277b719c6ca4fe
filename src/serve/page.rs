//! The page, embedded in the program, and the state of the server for programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::state::Server;

/// State of the server.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    status: &'static str,
}

/// `GET /`
pub async fn index() -> Html<&'static str> {
    Html(include_str!("page/index.html"))
}

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
