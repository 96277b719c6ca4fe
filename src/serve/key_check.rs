//! Keys in the heads of requests, checked before bodies are read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::ClientAddress;
use super::body::{discard, query_fields};
use super::state::Server;

/// Refuses requests without a known key in the header `Authorization: Bearer KEY`, if work needs one.
pub async fn need_key(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let key = bearer(request.headers());
    if server.access().needs_key() { check(&server, key, request, next).await } else { next.run(request).await }
}

/// Refuses requests with an unknown key in the header or in the parameter `api_key` of the query, if work needs one. Without
/// a key there, the body may have it, as in LibreTranslate's API.
pub async fn need_key_or_body(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let key = bearer(request.headers()).or_else(|| api_key(&request));
    let is_checked = server.access().needs_key() && key.is_some();
    if is_checked { check(&server, key, request, next).await } else { next.run(request).await }
}

async fn check(server: &Server, key: Option<String>, mut request: Request, next: Next) -> Response {
    match server.access().check(key.as_deref(), ClientAddress::of(request.extensions())) {
        Ok(key) => {
            request.extensions_mut().insert(key);
            next.run(request).await
        }
        Err(error) => {
            discard(request);
            error.into_response()
        }
    }
}

/// Returns the key in the header `Authorization: Bearer KEY`.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let (scheme, key) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then(|| key.to_owned())
}

/// Returns the key in the parameter `api_key` of the query.
fn api_key(request: &Request) -> Option<String> {
    let mut keys = query_fields(request.uri()).into_iter().filter(|field| field.name == "api_key");
    keys.find(|key| !key.value.is_empty()).map(|key| key.value)
}
