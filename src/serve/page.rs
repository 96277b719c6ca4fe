//! The page, embedded in the program, and the state of health.

use axum::Json;
use axum::response::Html;
use serde::Serialize;

/// State of the server.
#[derive(Serialize)]
pub struct Health {
    /// `ok`.
    status: &'static str,
}

/// `GET /`
pub async fn index() -> Html<&'static str> {
    Html(include_str!("page/index.html"))
}

/// `GET /health`
pub async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}
