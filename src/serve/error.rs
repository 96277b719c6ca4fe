//! Errors of the APIs.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Description, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::error::UsageError;

/// Error of a request: `{"error": text}` with a status.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    message: String,
    /// Time after which the request may succeed.
    retry_after: Option<Duration>,
}

/// Body of an error.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody {
    /// Description of the failure, and of what helps.
    error: String,
}

impl ApiError {
    /// Returns the error of an invalid request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Returns the error of a request that is not allowed.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// Returns the error of a request beyond a limit of size.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// Returns the error of a client beyond a limit of requests in a minute.
    pub fn too_many(limit: &str, retry_after: Duration) -> Self {
        let message = format!("{limit}; wait {} s", retry_after.as_secs() + 1);
        Self { retry_after: Some(retry_after), ..Self::new(StatusCode::TOO_MANY_REQUESTS, message) }
    }

    /// Returns the error of a request that waits for too many others.
    pub fn busy() -> Self {
        let retry_after = Some(Duration::from_secs(1));
        let message = "too many sentences wait for this model; try again later";
        Self { retry_after, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    /// Returns the error of a request that a stopping server cannot answer.
    pub fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping; try again later")
    }

    /// Returns the error of a defect in this program.
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed; please report this")
    }

    /// Returns an error with this status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }
}

impl From<ApiError> for ErrorBody {
    fn from(error: ApiError) -> Self {
        Self { error: error.message }
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(error: anyhow::Error) -> Self {
        let is_usage = error.downcast_ref::<UsageError>().is_some();
        let status = if is_usage { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self::new(status, crate::Error::from(error).in_arguments())
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(_: tokio::task::JoinError) -> Self {
        Self::internal()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let retry_after = self.retry_after;
        let mut response = (self.status, Json(ErrorBody::from(self))).into_response();
        if let Some(time) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, (time.as_secs() + 1).into());
        }
        response
    }
}

impl IntoResponses for ApiError {
    /// Describes the statuses of requests of work, each with an [`ErrorBody`].
    fn responses() -> BTreeMap<String, RefOr<Description>> {
        let statuses = [
            (StatusCode::BAD_REQUEST, "The request is invalid"),
            (StatusCode::FORBIDDEN, "A key is missing or unknown, or the server does not allow this"),
            (StatusCode::PAYLOAD_TOO_LARGE, "The request is beyond a limit"),
            (StatusCode::TOO_MANY_REQUESTS, "The client sent too many requests"),
            (StatusCode::INTERNAL_SERVER_ERROR, "The model failed"),
            (StatusCode::SERVICE_UNAVAILABLE, "The server is busy or stopping"),
        ];
        let mut responses = BTreeMap::new();
        for (status, text) in statuses {
            let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build();
            let response = ResponseBuilder::new().description(text).content("application/json", body).build();
            responses.insert(status.as_str().to_owned(), RefOr::T(response));
        }
        responses
    }
}
