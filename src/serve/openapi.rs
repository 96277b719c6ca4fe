//! The description of the APIs, and a page that shows it.

use std::borrow::Cow;
use std::fmt::Write;

use axum::Json;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use html_escape::encode_double_quoted_attribute as escaped;
use serde_json::Value;
use utoipa::OpenApi;

use super::error::ErrorBody;
use super::{libretranslate, opennmt, page, steps, translate_file, v1};

/// Description of all paths, made from their types.
#[derive(OpenApi)]
#[openapi(
    info(title = "softalign", description = "Translations with word links by models with attention."),
    paths(
        v1::translate,
        v1::align,
        v1::score,
        v1::models,
        v1::pairs,
        steps::steps,
        libretranslate::languages,
        libretranslate::translate,
        libretranslate::detect_language,
        libretranslate::frontend_settings,
        libretranslate::suggest,
        translate_file::translate_file,
        translate_file::download_file,
        opennmt::translate,
        opennmt::models,
        page::metrics,
        page::health
    ),
    components(schemas(ErrorBody))
)]
struct ApiDescription;

/// `GET /spec`: the description in OpenAPI's JSON.
pub async fn spec() -> Json<utoipa::openapi::OpenApi> {
    Json(ApiDescription::openapi())
}

/// `GET /docs`: the page that shows the description.
pub async fn docs() -> Result<Html<String>, super::error::ApiError> {
    let description = serde_json::to_value(ApiDescription::openapi()).map_err(anyhow::Error::from)?;
    Ok(Html(document(&description)))
}

/// `GET /docs.css`: the style of the page that shows the description.
pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("docs.css")).into_response()
}

/// Returns the page of a description.
fn document(description: &Value) -> String {
    let mut html = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>softalign: APIs</title>\n<link rel=\"stylesheet\" href=\"page.css\">\n\
         <link rel=\"stylesheet\" href=\"docs.css\">\n<main>\n<h1>APIs</h1>\n\
         <p>The same as <a href=\"spec\">OpenAPI</a>. <a href=\"./\">Back to the page</a>.</p>\n",
    );
    let no_paths = serde_json::Map::new();
    for (path, methods) in description["paths"].as_object().unwrap_or(&no_paths) {
        for (method, operation) in methods.as_object().unwrap_or(&no_paths) {
            add_operation(&mut html, path, method, operation);
        }
    }
    html += "<h2>Schemas</h2>\n";
    for (name, schema) in description["components"]["schemas"].as_object().unwrap_or(&no_paths) {
        let text = serde_json::to_string_pretty(schema).unwrap_or_default();
        let (name, text) = (escaped(name), escaped(&text));
        let _ = writeln!(html, "<details id=\"{name}\"><summary>{name}</summary><pre>{text}</pre></details>");
    }
    html + "</main>\n</html>\n"
}

fn add_operation(html: &mut String, path: &str, method: &str, operation: &Value) {
    let _ = writeln!(
        html,
        "<section>\n<h2><code><span class=\"method\">{}</span>{}</code></h2>\n<p>{} {}</p>",
        method.to_uppercase(),
        escaped(path),
        escaped_text(&operation["summary"]),
        escaped_text(&operation["description"])
    );
    if let Some(body) = schema_names(&operation["requestBody"]) {
        let _ = writeln!(html, "<p>Body: {body}</p>");
    }
    let no_responses = serde_json::Map::new();
    *html += "<dl>\n";
    for (status, response) in operation["responses"].as_object().unwrap_or(&no_responses) {
        let body = schema_names(response).map(|body| format!(": {body}")).unwrap_or_default();
        let text = escaped_text(&response["description"]);
        let _ = writeln!(html, "<dt>{}</dt><dd>{text}{body}</dd>", escaped(status));
    }
    *html += "</dl>\n</section>\n";
}

/// Returns a text of the description for HTML; nothing if it is missing.
fn escaped_text(value: &Value) -> Cow<'_, str> {
    escaped(value.as_str().unwrap_or_default())
}

/// Returns links to the schema of a body, if it has one.
fn schema_names(body: &Value) -> Option<String> {
    let schema = body["content"].as_object()?.values().next()?.get("schema")?;
    let (kind, reference) = match schema["items"]["$ref"].as_str() {
        Some(reference) => ("list of ", reference),
        None => ("", schema["$ref"].as_str()?),
    };
    let name = escaped(reference.rsplit('/').next()?);
    Some(format!("{kind}<a href=\"#{name}\">{name}</a>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_the_description_is_on_its_page() {
        let description = serde_json::to_value(ApiDescription::openapi()).unwrap();
        let page = document(&description);
        let paths = description["paths"].as_object().unwrap();
        assert!(paths.len() >= 13 && paths.keys().all(|path| page.contains(&*escaped(path))));
        assert!(page.contains("<details id=\"TranslateRequest\">") && !page.contains("<script"));
        for reference in page.split("href=\"#").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
    }
}
