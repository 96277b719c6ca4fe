//! Errors of the APIs.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::UsageError;

/// Error of a request: `{"error": text}` with a status.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    message: String,
}

/// Body of an error.
#[derive(Debug, Serialize)]
pub struct ErrorBody {
    /// What failed, and what to do.
    error: String,
}

impl ApiError {
    /// Returns the error of an invalid request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::with_status(StatusCode::BAD_REQUEST, message)
    }

    /// Returns an error with this status.
    pub fn with_status(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Returns the error of a request that a stopping server cannot answer.
    pub fn stopping() -> Self {
        Self::with_status(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping; try again later")
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(error: anyhow::Error) -> Self {
        let is_usage = error.downcast_ref::<UsageError>().is_some();
        let status = if is_usage { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self::with_status(status, format!("{error:#}"))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorBody { error: self.message })).into_response()
    }
}
