//! Translation of files as in LibreTranslate's API: uploaded, and downloaded in their format.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use utoipa::ToSchema;

use super::access::Caller;
use super::body::{FileForm, UploadedFile};
use super::cost::Lane;
use super::directions::{DocumentDirection, translate_document};
use super::error::{ApiError, ErrorBody};
use super::file_store::{LIFETIME, StoredFile};
use super::libretranslate::{given, missing};
use super::memory::MemoryPermit;
use super::request_sizes::check_sizes;
use super::security::without_port;
use super::state::Server;
use crate::error::message_of;
use crate::formats::{Document, open_bytes, uncompressed_name, unpacked_bytes};
use crate::translator::DecodeOptions;

/// Maximum characters of the name of a file, without its extension.
const MAX_NAME: usize = 80;
/// Maximum bytes of an extension.
const MAX_EXTENSION: usize = 10;
/// Time to wait for the memory of a document while others are translated.
const MEMORY_TIME: Duration = Duration::from_secs(60);

/// Fields of a form with a file to translate.
#[derive(Deserialize)]
pub struct FileFields {
    source: Option<String>,
    target: Option<String>,
    model: Option<String>,
    tag_source: Option<String>,
    api_key: Option<String>,
}

/// Form with a file to translate.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the fields")]
pub struct FileRequest {
    /// File to translate, in a format of `supportedFilesFormat`.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// Code of the source language, or `auto`.
    source: Option<String>,
    /// Code of the target language.
    target: Option<String>,
    /// Name of the model, in place of the languages.
    model: Option<String>,
    /// Tag before each sentence, with a name of the model.
    tag_source: Option<String>,
    /// Key, if the server needs one.
    api_key: Option<String>,
}

/// Translated file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranslatedFile {
    /// Address from which the file can be downloaded for ten minutes.
    translated_file_url: String,
}

/// Translates a file, as `softalign translate --input` does.
#[utoipa::path(
    post,
    path = "/translate_file",
    tag = "LibreTranslate",
    request_body(content = FileRequest, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The address of the translated file", body = TranslatedFile),
        ApiError
    )
)]
pub async fn translate_file(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
    form: FileForm<FileFields>,
) -> Result<Json<TranslatedFile>, ApiError> {
    let FileForm { file, fields } = form;
    let base = base_address(&server, &headers);
    let client = server.access().admit(&caller, fields.api_key.as_deref())?;
    let UploadedFile { name, bytes } = file.ok_or_else(|| missing("file"))?;
    let direction = fields.direction(&server)?;
    let name = clean_name(&name);
    let opened = open(&server, &name, bytes).await?;
    let texts: Vec<String> = opened.document.texts().into_iter().map(str::to_owned).collect();
    server.check_characters(texts.iter().map(String::as_str))?;
    let name = translated_name(&name, direction.target());
    let translations = translate_document(&server, texts, direction).await?;
    let OpenedFile { document, lane, memory } = opened;
    let written = server.run(lane, move |_| document.with_translations(&translations)).await??;
    drop(memory);
    let path =
        format!("/download_file/{}.{}", server.files().add(client, name.clone(), written.into())?, in_ascii(&name));
    tokio::spawn(async move {
        tokio::time::sleep(LIFETIME).await;
        server.files().remove_expired();
    });
    Ok(Json(TranslatedFile { translated_file_url: base + &path }))
}

impl FileFields {
    /// Returns the direction that is asked for.
    ///
    /// # Errors
    /// Languages are missing, or no model has the name.
    fn direction(self, server: &Server) -> Result<DocumentDirection, ApiError> {
        let Self { source, target, model, tag_source, .. } = self;
        if let Some(name) = model.filter(|name| !name.is_empty()) {
            check_sizes(&DecodeOptions::default(), None, tag_source.as_deref())?;
            return Ok(DocumentDirection::of_model(server.model(Some(&name))?, tag_source));
        }
        Ok(DocumentDirection::Languages { source: given(source, "source")?, target: given(target, "target")? })
    }
}

/// Sends a translated file. Its name is the key to it.
#[utoipa::path(
    get,
    path = "/download_file/{name}",
    tag = "LibreTranslate",
    params(("name" = String, Path, description = "Name at the end of `translatedFileUrl`")),
    responses(
        (status = 200, description = "The file", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, description = "There is no such file, or no longer", body = ErrorBody)
    )
)]
pub async fn download_file(State(server): State<Arc<Server>>, Path(path): Path<String>) -> Result<Response, ApiError> {
    let token = path.split('.').next().unwrap_or_default();
    let Some(StoredFile { name, bytes, .. }) = server.files().get(token) else {
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "there is no such file, or its time is over; translate it again",
        ));
    };
    // Nothing that a browser would show here: a page could act as one of this server.
    let disposition =
        format!("attachment; filename=\"{}\"; filename*=UTF-8''{}", in_ascii(&name), percent_encoded(&name));
    let headers =
        [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, bytes).into_response())
}

/// Document with the memory that is reserved for it.
struct OpenedFile {
    document: Box<dyn Document>,
    /// Queue of the work on all of the document at once.
    lane: Lane,
    memory: MemoryPermit,
}

/// Opens a file as a document once there is memory for it.
///
/// # Errors
/// It is no document of a known format (400), or too large (413); or others keep the memory (503).
async fn open(server: &Server, name: &str, bytes: Bytes) -> Result<OpenedFile, ApiError> {
    let most = server.memory().document() as u64;
    let (given, given_name) = (bytes.clone(), name.to_owned());
    let unpacked = server.run(Lane::of_characters(given.len()), move |_| unpacked_bytes(&given)).await?.min(most);
    let reserved = tokio::time::timeout(MEMORY_TIME, server.memory().reserve_document(unpacked as usize)).await;
    let memory = reserved.ok().flatten().ok_or_else(ApiError::busy)?;
    let lane = Lane::of_characters(unpacked as usize);
    let opened = server.run(lane, move |_| open_bytes(&given_name, bytes.into(), unpacked)).await?;
    // All that can be wrong is in the file.
    let document = opened.map_err(|error| ApiError::invalid(message_of(&error)))?;
    Ok(OpenedFile { document, lane, memory })
}

/// Returns the name of a file without directories and without characters that systems or readers misunderstand.
fn clean_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = last.replace(
        |one: char| one.is_control() || one.general_category() == GeneralCategory::Format || "<>:\"|?*".contains(one),
        "",
    );
    let name = name.trim_matches(['.', ' ']);
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= MAX_EXTENSION => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let stem: String = stem.chars().take(MAX_NAME).collect();
    if stem.is_empty() { format!("file{extension}") } else { stem + &extension }
}

/// Returns the name of the translation of a file, such as `letter_fr.docx`. It is never compressed.
fn translated_name(name: &str, target: &str) -> String {
    let name = uncompressed_name(FilePath::new(name)).to_string_lossy().into_owned();
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}_{target}.{extension}"),
        None => format!("{name}_{target}"),
    }
}

/// Returns a name whose characters have no meaning in addresses and headers.
fn in_ascii(name: &str) -> String {
    name.chars().map(|one| if one.is_ascii_alphanumeric() || "._-".contains(one) { one } else { '_' }).collect()
}

fn percent_encoded(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Returns the address under which the client reached the server. A proxy tells the path to it in `X-Forwarded-Prefix`.
fn base_address(server: &Server, headers: &HeaderMap) -> String {
    let host = header_text(headers, "host").to_ascii_lowercase();
    let public = server.allowed_origins().iter().find(|origin| origin.name() == Some(without_port(&host)));
    let prefix = header_text(headers, "x-forwarded-prefix").trim_end_matches('/');
    let is_path =
        prefix.starts_with('/') && prefix.chars().all(|one| one.is_ascii_alphanumeric() || "/._~-".contains(one));
    let prefix = if is_path { prefix } else { "" };
    match public {
        Some(origin) => format!("{}{prefix}", origin.as_str()),
        None if host.is_empty() => prefix.to_owned(),
        None => format!("http://{host}{prefix}"),
    }
}

/// Returns the text of a header, empty if there is none.
fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_directories_and_no_tricks() {
        for (given, clean) in [
            ("letter.docx", "letter.docx"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\Mon été.odt", "Mon été.odt"),
            ("a\"; filename=\"b.html", "a; filename=b.html"),
            ("x\u{202e}fdp.md\r\n", "xfdp.md"),
            ("..", "file"),
            (".md", "md"),
            ("", "file"),
        ] {
            assert_eq!(clean_name(given), clean, "{given}");
        }
        let long = clean_name(&format!("{}.docx", "é".repeat(500)));
        assert!(long.ends_with("é.docx") && long.chars().count() == MAX_NAME + 5);
        assert_eq!(translated_name("a.b.po.gz", "fr"), "a.b_fr.po");
        assert_eq!(translated_name("notes", "fr"), "notes_fr");
        assert_eq!(in_ascii("été \"1\".po"), "_t___1_.po");
        assert_eq!(percent_encoded("é 1.po"), "%C3%A9%201.po");
    }
}
