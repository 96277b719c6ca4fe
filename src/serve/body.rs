//! Bodies of requests, read with a limit and a deadline.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::state::Server;

/// Time to send a whole body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Body in JSON, whatever its Content-Type.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let bytes = read(request, server.body_limit()).await?;
        let value = serde_json::from_slice(&bytes);
        Ok(Self(value.map_err(|reason| ApiError::invalid(format!("the body is not valid: {reason}")))?))
    }
}

/// Reads a body of at most `limit` bytes.
async fn read(request: Request, limit: usize) -> Result<Bytes, ApiError> {
    let too_large = || {
        ApiError::with_status(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a body can have {limit} bytes; send several requests"),
        )
    };
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > limit as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_TIME, to_bytes(request.into_body(), limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        // The client would not see another error.
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(ApiError::with_status(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {} s", BODY_TIME.as_secs()),
        )),
    }
}
