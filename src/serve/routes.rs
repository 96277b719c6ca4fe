//! All paths of the server.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};

use super::error::ApiError;
use super::state::Server;
use super::{key_check, libretranslate, metrics, openapi, opennmt, page, security, steps, translate_file, v1};

/// Returns the handlers of all paths, with the checks that go before them.
pub fn router(server: Arc<Server>) -> Router {
    let work = Router::new()
        .route("/v1/translate", post(v1::translate))
        .route("/v1/align", post(v1::align))
        .route("/v1/score", post(v1::score))
        .route("/v1/pairs", post(v1::pairs))
        .route("/v1/steps", post(steps::steps))
        .route("/translator/translate", post(opennmt::translate))
        .route_layer(from_fn_with_state(Arc::clone(&server), key_check::need_key));
    let work_of_libretranslate = Router::new()
        .route("/translate", post(libretranslate::translate))
        .route("/detect", post(libretranslate::detect_language))
        .route("/suggest", post(libretranslate::suggest))
        .route("/translate_file", post(translate_file::translate_file))
        .route_layer(from_fn_with_state(Arc::clone(&server), key_check::need_key_or_body));
    work.merge(work_of_libretranslate)
        .route("/", get(page::index))
        .route("/page.css", get(page::style))
        .route("/page.js", get(page::script))
        .route("/health", get(page::health))
        .route("/metrics", get(page::metrics))
        .route("/spec", get(openapi::spec))
        .route("/docs", get(openapi::docs))
        .route("/docs.css", get(openapi::style))
        .route("/v1/models", get(v1::models))
        .route("/languages", get(libretranslate::languages))
        .route("/download_file/{name}", get(translate_file::download_file))
        .route("/frontend/settings", get(libretranslate::frontend_settings))
        .route("/translator/models", get(opennmt::models))
        .route("/translator/health", get(page::health))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(Arc::clone(&server), security::check))
        .layer(from_fn_with_state(Arc::clone(server.metrics()), metrics::measure))
        .layer(map_response(security::add_headers))
        .with_state(server)
}

async fn no_such_path() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "there is nothing at this path; see /docs")
}

async fn no_such_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this path has another method; see /docs")
}
