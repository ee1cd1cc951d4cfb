//! The page at `/`: a document and a script, both of ours, and a policy that lets them load nothing else.

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};

/// The document.
pub(crate) fn page() -> Response {
    (of_type("text/html; charset=utf-8"), include_str!("page.html")).into_response()
}

/// Its script.
pub(crate) fn script() -> Response {
    (of_type("text/javascript; charset=utf-8"), include_str!("page.js")).into_response()
}

fn of_type(kind: &'static str) -> [(HeaderName, HeaderValue); 5] {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; \
                          img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ]
}
