//! `softalign export`: a translator in one HTML file.

use softalign::DecodeOptions;

use crate::common::{TestDir, model_path};

/// Model that comes with the program.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");

/// Text between two marks.
fn between<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
    let rest = page.split_once(before).unwrap_or_else(|| panic!("{before} is missing")).1;
    rest.split_once(after).unwrap().0
}

#[test]
fn exports_the_shipped_model_in_a_page_that_loads_nothing() {
    let dir = TestDir::new();
    for (page, most) in [("full", 2_100_000), ("plain", 2_000_000)] {
        dir.run(&["export", "--model", SHIPPED, "--page", page, "--output", "page.html"]).worked();
        let written = dir.text("page.html");
        assert!(written.len() < most, "{page}: {} bytes", written.len());
        let policy = between(&written, "Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("connect-src"), "{policy}");
        let markup = between(&written, "<!doctype html>", "id=\"packed-model\"");
        for loaded in ["src=\"page.js\"", "href=\"page.css\"", "href=\"docs\"", "{{"] {
            assert!(!markup.contains(loaded), "{page}: {loaded}");
        }
        assert_eq!(between(&written, "id=\"facts\">", "</script>"), "{\"about\":null,\"title\":\"en-fr\"}");
        assert_eq!(between(&written, "data-digest=\"", "\"").len(), 64);
    }
}

#[test]
fn dry_run_writes_nothing() {
    let dir = TestDir::new();
    let predicted = dir.run(&["export", "--model", model_path(), "--dry-run"]);
    predicted.worked();
    assert!(predicted.stderr.starts_with("translator.html would have 0."), "{predicted:?}");
    assert!(!dir.path("translator.html").exists());
}

#[test]
fn title_and_text_cannot_leave_their_block() {
    let dir = TestDir::new();
    dir.write("about.md", "</script><script>alert(1)</script>");
    let title = "<b>Breton</b>";
    dir.run(&["export", "--model", model_path(), "--title", title, "--about", "about.md", "-o", "page.html"]).worked();
    let written = dir.text("page.html");
    assert!(!written.contains("alert(1)</script>") && !written.contains(title));
}

#[test]
fn larger_weights_make_a_larger_page() {
    let dir = TestDir::new();
    let mut sizes = Vec::new();
    for weights in ["int8", "f16", "f32"] {
        dir.run(&["export", "--model", model_path(), "--weights", weights, "-o", "page.html"]).worked();
        sizes.push(dir.read("page.html").len());
    }
    assert!(sizes.is_sorted_by(|one, next| one < next), "{sizes:?}");
}

#[test]
fn page_has_the_default_search() {
    let dir = TestDir::new();
    dir.run(&["export", "--model", model_path(), "-o", "page.html"]).worked();
    let DecodeOptions { beam, length_penalty, coverage_penalty, brevity_penalty, .. } = DecodeOptions::default();
    let defaults = format!(
        "{{ beam = {beam}, length_penalty: lengthPenalty = {length_penalty}, coverage_penalty: coveragePenalty = \
         {coverage_penalty}, brevity_penalty: brevityPenalty = {brevity_penalty} }}"
    );
    assert!(dir.text("page.html").contains(&defaults), "{defaults}");
}
