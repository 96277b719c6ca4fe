//! Checks of every request, and headers of every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;
use super::state::Server;

/// Headers of every answer. The page needs only files and answers of this server.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Lets requests pass that come from this machine's own pages or from programs.
pub async fn check(State(_server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    if request.headers().get(header::HOST).is_none() {
        return ApiError::with_status(StatusCode::BAD_REQUEST, "the request has no Host header").into_response();
    }
    next.run(request).await
}

/// Adds the headers of security to an answer.
pub async fn add_headers(mut response: Response) -> Response {
    response.headers_mut().extend(HEADERS);
    response
}
