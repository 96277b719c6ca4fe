//! Bodies of requests, read with a limit and a deadline, and the fields in them.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use futures_core::Stream;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::error::ApiError;
use super::field_errors::{parse_fields, parse_json};
use super::memory::{BodyMemory, MemoryPermit, RequestMemory};
use super::state::Server;

/// Time for a client to send a whole body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Bytes of a body that need no reservation: those of each connection have one.
const SMALL: usize = 16 * 1024;
/// Maximum number of parts of a body for each text that a request may have, beside [`MORE_PARTS`].
const PARTS_PER_TEXT: usize = 4;
/// Maximum number of parts of a body beside [`PARTS_PER_TEXT`].
const MORE_PARTS: usize = 10_000;
/// Number of parts of a body that need no reservation beside that of their bytes.
const FEW_PARTS: usize = 256;
/// Bytes of a part of a body beside its text.
const BYTES_OF_PART: usize = 64;

/// Maximum bytes beyond the limit that are read and discarded, so that the client reads the answer: a connection that is
/// closed before all is read would lose it.
const MAX_DISCARDED: usize = 16 << 20;

/// Content-Type of a form with files.
const MULTIPART: &str = "multipart/form-data";

/// Body in JSON, whatever its Content-Type.
pub struct JsonBody<T>(pub T);

/// Fields in JSON, or in a form if the Content-Type says so. Parameters of the query stand for missing ones.
pub struct Fields<T>(pub T);

/// Fields of a multipart form with a file, which may be larger than other bodies.
pub struct FileForm<T> {
    /// File of the field `file`, if there is one.
    pub file: Option<UploadedFile>,
    /// Fields other than the file.
    pub fields: T,
}

/// File as it was uploaded.
pub struct UploadedFile {
    /// Name that the client gave it.
    pub name: String,
    /// Content.
    pub bytes: Bytes,
}

/// One text or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
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
        parse_json(&read(request, server.body_limit(), server).await?).map(Self).map_err(ApiError::invalid)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for Fields<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let (head, body) = request.into_parts();
        let kind = content_type(&head.headers);
        let query = query_fields(&head.uri);
        let bytes = read(Request::from_parts(head.clone(), body), server.body_limit(), server).await?;
        let is_json = bytes.trim_ascii_start().first() == Some(&b'{') || kind == "application/json";
        let mut fields = match kind.as_str() {
            MULTIPART => texts(parts(Request::from_parts(head, bytes.into())).await?.fields),
            _ if is_json && query.is_empty() => return parse_json(&bytes).map(Self).map_err(ApiError::invalid),
            _ if is_json => parse_json(&bytes).map_err(ApiError::invalid)?,
            "application/x-www-form-urlencoded" => texts(form_fields(&bytes)),
            _ if bytes.is_empty() => Map::new(),
            _ => return Err(ApiError::invalid("send JSON or a form")),
        };
        for (name, value) in texts(query) {
            fields.entry(name).or_insert(value);
        }
        parse_fields(fields).map(Self).map_err(ApiError::invalid)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for FileForm<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let (head, body) = request.into_parts();
        if content_type(&head.headers) != MULTIPART {
            discard(Request::from_parts(head, body));
            return Err(ApiError::invalid("send a multipart form with a file"));
        }
        let limit = server.memory().upload();
        let bytes = read(Request::from_parts(head.clone(), body), limit, server).await?;
        let query = query_fields(&head.uri);
        let MultipartForm { fields, file } = parts(Request::from_parts(head, bytes.into())).await?;
        let fields = texts(fields.into_iter().chain(query).collect());
        Ok(Self { file, fields: parse_fields(fields).map_err(ApiError::invalid)? })
    }
}

/// Returns the kind of a body in lower case, without its parameters.
fn content_type(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Field of a form, or parameter of a query.
pub struct FormField {
    /// Name in requests.
    pub name: String,
    /// Text of the field.
    pub value: String,
}

/// Returns the parameters of a query.
pub fn query_fields(uri: &Uri) -> Vec<FormField> {
    form_fields(uri.query().unwrap_or_default().as_bytes())
}

fn form_fields(form: &[u8]) -> Vec<FormField> {
    // Any bytes are a form.
    let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(form).unwrap_or_default();
    fields.into_iter().map(|(name, value)| FormField { name, value }).collect()
}

/// Multipart form.
struct MultipartForm {
    fields: Vec<FormField>,
    /// File of the field `file`.
    file: Option<UploadedFile>,
}

/// Returns the texts and the file of a multipart form. Other files are left out.
async fn parts(mut request: Request) -> Result<MultipartForm, ApiError> {
    // The body was read within its limit.
    DefaultBodyLimit::disable().apply(&mut request);
    let mut form = Multipart::from_request(request, &()).await.map_err(|error| invalid_form(&error.body_text()))?;
    let mut found = MultipartForm { fields: Vec::new(), file: None };
    while let Some(part) = form.next_field().await.map_err(invalid_part)? {
        let Some(name) = part.name().map(str::to_owned) else { continue };
        match part.file_name().map(str::to_owned) {
            None => found.fields.push(FormField { name, value: part.text().await.map_err(invalid_part)? }),
            Some(given) if name == "file" => {
                let bytes = part.bytes().await.map_err(invalid_part)?;
                found.file = Some(UploadedFile { name: given, bytes });
            }
            Some(_) => {}
        }
    }
    Ok(found)
}

fn invalid_part(error: MultipartError) -> ApiError {
    invalid_form(&error.body_text())
}

fn invalid_form(reason: &str) -> ApiError {
    ApiError::invalid(format!("the form is not valid: {reason}"))
}

/// Returns fields by name; of several with a name, the first.
fn texts(fields: Vec<FormField>) -> Map<String, Value> {
    let mut named = Map::new();
    for FormField { name, value } in fields {
        named.entry(name).or_insert(value.into());
    }
    named
}

/// Reads a body of at most `limit` bytes. Its memory is reserved until the request is answered.
async fn read(request: Request, limit: usize, server: &Server) -> Result<Bytes, ApiError> {
    let is_multipart = content_type(request.headers()) == MULTIPART;
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > limit.saturating_add(MAX_DISCARDED) as u64) {
        return Err(too_large(limit));
    }
    let kept = request.extensions().get::<BodyMemory>().cloned();
    match tokio::time::timeout(BODY_TIME, collect_parts(request.into_body(), limit, is_multipart, server)).await {
        Ok(collected) => {
            let Collected { bytes, permit } = collected?;
            if let Some(kept) = kept {
                kept.keep(permit);
            }
            Ok(bytes)
        }
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {} s, or too many others were being read", BODY_TIME.as_secs()),
        )),
    }
}

/// Body with the memory reserved for it, which a small one does not need.
struct Collected {
    bytes: Bytes,
    permit: Option<MemoryPermit>,
}

/// Returns a body of at most `limit` bytes, with memory for the parts of its content. Those of a multipart form take no more
/// than their bytes.
async fn collect_parts(body: Body, limit: usize, is_multipart: bool, server: &Server) -> Result<Collected, ApiError> {
    let Collected { bytes, permit } = collect(body, limit, Some(server.memory())).await?;
    let parts = if is_multipart { 0 } else { count_parts(&bytes) };
    if parts > PARTS_PER_TEXT.saturating_mul(server.limits().texts).saturating_add(MORE_PARTS) {
        return Err(ApiError::too_large("the body has too many parts; send several requests"));
    }
    let permit = match parts {
        0..=FEW_PARTS => permit,
        _ => server.memory().reserve_body(parts.saturating_mul(BYTES_OF_PART), permit).await,
    };
    Ok(Collected { bytes, permit })
}

/// Returns a body of at most `limit` bytes. Waits until the memory for each of its chunks can be reserved.
async fn collect(body: Body, limit: usize, memory: Option<&RequestMemory>) -> Result<Collected, ApiError> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut length) = (Vec::new(), 0);
    let (mut permit, mut reserved) = (None, SMALL);
    while let Some(chunk) = poll_fn(|context| Pin::new(&mut chunks).poll_next(context)).await {
        let chunk = chunk.map_err(|_| ApiError::invalid("the body is cut off, or its chunks are not valid"))?;
        length += chunk.len();
        if length > limit.saturating_add(MAX_DISCARDED) {
            return Err(too_large(limit));
        }
        if length > limit {
            continue;
        }
        if let Some(memory) = memory.filter(|_| length > reserved) {
            permit = memory.reserve_body(length - reserved, permit).await;
            reserved = length;
        }
        bytes.extend_from_slice(&chunk);
    }
    if length <= limit { Ok(Collected { bytes: bytes.into(), permit }) } else { Err(too_large(limit)) }
}

/// Number of parts of a body: the values in its JSON, or the fields of its form. Each takes more memory than its bytes.
fn count_parts(bytes: &[u8]) -> usize {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return bytes.iter().filter(|&&byte| byte == b'&').count();
    }
    let (mut count, mut in_text, mut is_escaped) = (0, false, false);
    for &byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

fn too_large(limit: usize) -> ApiError {
    ApiError::too_large(format!("a body can have {limit} bytes; send several requests"))
}

/// Reads and discards the body of a request that is answered at once, so that its client reads the answer. A client that
/// waits for leave to send its body need not send it.
pub fn discard(request: Request) {
    if !request.headers().contains_key(header::EXPECT) {
        tokio::spawn(tokio::time::timeout(BODY_TIME, collect(request.into_body(), 0, None)));
    }
}
