//! Checks of where requests come from, and headers of every answer.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;
use super::options::AllowedOrigin;
use super::state::Server;

/// Headers of every answer. The pages need only files and answers of this server.
const HEADERS: [(HeaderName, HeaderValue); 7] = [
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
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Lets requests pass from programs, from the pages of this server, and from pages of allowed origins.
pub async fn check(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let allowed = server.allowed_origins();
    let origin = match source(request.version(), request.headers(), allowed) {
        Ok(origin) => origin,
        Err(error) => return error.into_response(),
    };
    let is_preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match (is_preflight, &origin) {
        (true, Some(_)) => StatusCode::NO_CONTENT.into_response(),
        _ => next.run(request).await,
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, content-type"));
    }
    response
}

/// Adds the headers of security to an answer.
pub async fn add_headers(mut response: Response) -> Response {
    response.headers_mut().extend(HEADERS);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("origin"));
    response
}

/// Returns the other origin of a request that may be answered, or none if it comes from a program or this server's pages.
///
/// Another name in `Host` would be that of a page which made its name point here, to read answers as its own (DNS
/// rebinding). Addresses cannot be pointed elsewhere.
fn source(version: Version, headers: &HeaderMap, allowed: &[AllowedOrigin]) -> Result<Option<HeaderValue>, ApiError> {
    let host = host(version, headers)?;
    if let Some(host) = &host
        && !is_own_name(host)
        && !allowed.iter().any(|origin| origin.name() == Some(without_port(host)))
    {
        return Err(ApiError::forbidden("this name of the server is not known; open it with --allow-origin"));
    }
    let Some(value) = headers.get(header::ORIGIN) else {
        // A page elsewhere that loads an address as an image or script sends no origin.
        let is_foreign = matches!(text(headers, "sec-fetch-site"), Some("cross-site" | "same-site"));
        let is_resource = is_foreign && text(headers, "sec-fetch-mode") != Some("navigate");
        return if is_resource { Err(foreign()) } else { Ok(None) };
    };
    let origin = value.to_str().map(str::to_ascii_lowercase).unwrap_or_default();
    let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    if own.is_some() && own == host.as_deref() {
        Ok(None)
    } else if allowed.iter().any(|allowed| allowed.as_str() == origin) {
        Ok(Some(value.clone()))
    } else {
        Err(foreign())
    }
}

fn foreign() -> ApiError {
    ApiError::forbidden("pages of this origin may not use the server; open it with --allow-origin")
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns the host that a request names, in lower case. Only one of HTTP/1.0 may name none: checks of load balancers do so,
/// browsers never.
fn host(version: Version, headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    match headers.get_all(header::HOST).iter().count() {
        0 if version < Version::HTTP_11 => Ok(None),
        0 => Err(ApiError::invalid("the request has no Host header")),
        1 => match text(headers, "host") {
            Some(host) => Ok(Some(host.to_ascii_lowercase())),
            None => Err(ApiError::invalid("the Host header is not valid")),
        },
        _ => Err(ApiError::invalid("the request has several Host headers")),
    }
}

/// True for an address and for the names of this machine itself.
fn is_own_name(host: &str) -> bool {
    let name = without_port(host);
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    address.parse::<IpAddr>().is_ok() || name == "localhost" || name.ends_with(".localhost")
}

/// Returns a host without its port.
pub fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(headers: &[(&str, &str)]) -> Result<Option<HeaderValue>, StatusCode> {
        let allowed = ["https://app.example.org".parse().unwrap()];
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        source(Version::HTTP_11, &map, &allowed).map_err(|error| error.into_response().status())
    }

    fn answer_to_origin(origin: &str) -> Result<Option<HeaderValue>, StatusCode> {
        answer(&[("host", "127.0.0.1:4114"), ("origin", origin)])
    }

    fn answer_to_other_page(mode: &str) -> Result<Option<HeaderValue>, StatusCode> {
        answer(&[("host", "localhost"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)])
    }

    #[test]
    fn accepts_addresses_and_names_of_this_machine() {
        for host in [
            "127.0.0.1:4114",
            "localhost:4114",
            "LOCALHOST",
            "[::1]:4114",
            "10.1.2.3",
            "a.localhost:1",
            "app.example.org:4114",
        ] {
            assert_eq!(answer(&[("host", host)]), Ok(None), "{host}");
        }
        for host in ["evil.example:4114", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "example.org"]
        {
            assert_eq!(answer(&[("host", host)]), Err(StatusCode::FORBIDDEN), "{host}");
        }
        assert_eq!(answer(&[]), Err(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn accepts_own_and_allowed_origins_only() {
        assert_eq!(answer_to_origin("http://127.0.0.1:4114"), Ok(None));
        let allowed = HeaderValue::from_static("https://app.example.org");
        assert_eq!(answer_to_origin("https://app.example.org"), Ok(Some(allowed)));
        for origin in [
            "http://127.0.0.1:80",
            "http://evil.example",
            "null",
            "",
            "http://app.example.org",
            "https://app.example.org.evil.example",
        ] {
            assert_eq!(answer_to_origin(origin), Err(StatusCode::FORBIDDEN), "{origin}");
        }
    }

    #[test]
    fn refuses_resources_of_other_pages_but_not_their_links() {
        assert_eq!(answer_to_other_page("navigate"), Ok(None));
        assert_eq!(answer_to_other_page("no-cors"), Err(StatusCode::FORBIDDEN));
    }
}
