//! All paths of the server.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};

use super::error::ApiError;
use super::state::Server;
use super::{page, security, v1};

/// Returns the routes.
pub fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/health", get(page::health))
        .route("/v1/translate", post(v1::translate))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(Arc::clone(&server), security::check))
        .layer(map_response(security::add_headers))
        .with_state(server)
}

async fn no_such_path() -> ApiError {
    ApiError::with_status(StatusCode::NOT_FOUND, "there is nothing at this path; see /docs")
}

async fn no_such_method() -> ApiError {
    ApiError::with_status(StatusCode::METHOD_NOT_ALLOWED, "this path has another method; see /docs")
}
