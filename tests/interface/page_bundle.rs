//! The bundler of the pages' scripts, which is part of the build script.

use std::fs;

#[allow(dead_code)]
#[path = "../../build.rs"]
mod build_script;

use build_script::Bundle;

/// Bundles `pages/entry.js` of these files.
fn bundle(files: &[(&str, &str)]) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    for (name, text) in files {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    let root = format!("{}/", directory.path().display());
    match Bundle::from_entry(&path("pages/entry.js")) {
        Ok(bundle) => Ok(bundle.script),
        Err(message) => Err(message.replace(&root, "")),
    }
}

/// Error for an entry module, beside a module that exports `a` and has a private `b`.
fn error(entry: &str) -> String {
    bundle(&[("pages/entry.js", entry), ("pages/a.js", "export const a = 1;\nlet b = 2;\n")]).unwrap_err()
}

#[test]
fn modules_follow_those_they_import() {
    let entry = "import {\n  one,\n  Two,\n} from \"./b.js\";\nimport { three } from \"../shared/c.js\";\nrun(one, Two, three);\n";
    let b = "import { three } from \"../shared/c.js\";\r\nexport function one() {\r\n  return three;\r\n}\r\nexport class Two {}\r\n";
    let c = "// C\nconst hidden = 3;\nexport const three = hidden;\nexport async function four() {}\n";
    let script = bundle(&[("pages/entry.js", entry), ("pages/b.js", b), ("shared/c.js", c)]).unwrap();
    let expected = "// C\nconst hidden = 3;\nconst three = hidden;\nasync function four() {}\n\
                    function one() {\n  return three;\n}\nclass Two {}\nrun(one, Two, three);\n";
    assert_eq!(script, expected);
}

#[test]
fn imported_names_are_exported() {
    assert_eq!(error("import { a, b } from \"./a.js\";\n"), "pages/entry.js: pages/a.js does not export b");
    assert_eq!(error("import { a as c } from \"./a.js\";\n"), "pages/entry.js: pages/a.js does not export a as c");
    assert!(error("import { a } from \"./none.js\";\n").starts_with("pages/none.js: "));
}

#[test]
fn top_level_names_are_of_one_module() {
    for declaration in ["const b = 1;", "function b() {}", "export class b {}", "let b;"] {
        let message = error(&format!("import {{ a }} from \"./a.js\";\n{declaration}\n"));
        assert_eq!(message, "b is declared in pages/a.js and in pages/entry.js", "{declaration}");
    }
}

#[test]
fn modules_import_in_one_direction() {
    let files = [
        ("pages/entry.js", "import { a } from \"./a.js\";\n"),
        ("pages/a.js", "import { b } from \"./b.js\";\nexport const a = b;\n"),
        ("pages/b.js", "import { a } from \"./a.js\";\nexport const b = a;\n"),
    ];
    assert_eq!(bundle(&files).unwrap_err(), "pages/a.js imports itself, directly or through others");
}

#[test]
fn other_forms_are_errors() {
    for form in [
        "import a from \"./a.js\";",
        "import * as a from \"./a.js\";",
        "import \"./a.js\";",
        "import { a } from \"library\";",
        "import { a } from './a.js';",
        "export default a;",
        "export { a };",
        "export * from \"./a.js\";",
        "export let c = 1;",
        "export const { c } = d;",
        "const [c] = d;",
    ] {
        assert_eq!(error(&format!("{form}\n")), format!("pages/entry.js: unsupported: {form}"));
    }
    assert_eq!(error("import { a }\n"), "pages/entry.js: an import without an end");
}
