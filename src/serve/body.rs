//! Bodies of requests, read with a limit and a deadline.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use futures_core::Stream;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use super::error::ApiError;
use super::state::Server;

/// Time to send a whole body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Maximum bytes beyond the limit that are read and discarded, so that the client reads the answer: a connection that is
/// closed before all is read would lose it.
const MAX_DISCARDED: usize = 16 << 20;

/// Body in JSON, whatever its Content-Type.
pub struct JsonBody<T>(pub T);

/// Body in JSON, or as a form if its Content-Type says so.
pub struct JsonOrForm<T>(pub T);

/// One text or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Texts {
    /// One text.
    One(String),
    /// Several texts.
    Several(Vec<String>),
}

impl Texts {
    /// Returns the texts in order.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        Ok(Self(parse_json(&read(request, server.body_limit()).await?)?))
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for JsonOrForm<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "multipart/form-data" {
            return Err(ApiError::invalid(
                "multipart forms are not read; send JSON or application/x-www-form-urlencoded",
            ));
        }
        let bytes = read(request, server.body_limit()).await?;
        let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
        if kind != "application/x-www-form-urlencoded" || is_object {
            return Ok(Self(parse_json(&bytes)?));
        }
        let form = serde_urlencoded::from_bytes(&bytes);
        Ok(Self(form.map_err(|reason| ApiError::invalid(format!("the form is not valid: {reason}")))?))
    }
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|reason| ApiError::invalid(format!("the JSON is not valid: {reason}")))
}

/// Reads a body of at most `limit` bytes.
async fn read(request: Request, limit: usize) -> Result<Bytes, ApiError> {
    let too_large = || ApiError::too_large(format!("a body can have {limit} bytes; send several requests"));
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > limit.saturating_add(MAX_DISCARDED) as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_TIME, collect(request.into_body(), limit)).await {
        Ok(bytes) => bytes.ok_or_else(too_large),
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {} s", BODY_TIME.as_secs()),
        )),
    }
}

/// Returns a body, or none if it has more than `limit` bytes or its client went away.
async fn collect(body: Body, limit: usize) -> Option<Bytes> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(chunk) = poll_fn(|context| Pin::new(&mut chunks).poll_next(context)).await {
        let chunk = chunk.ok()?;
        length += chunk.len();
        if length > limit.saturating_add(MAX_DISCARDED) {
            return None;
        }
        if length <= limit {
            bytes.extend_from_slice(&chunk);
        }
    }
    (length <= limit).then(|| bytes.into())
}
