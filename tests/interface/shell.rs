//! Shell completions, manual pages, and help written to a full disk.

use crate::common::{COMMANDS, TestDir};

#[test]
fn completions_cover_commands_and_options_in_every_shell() {
    let dir = TestDir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = dir.run(&["completions", shell]);
        let script = script.worked();
        for word in COMMANDS.into_iter().chain(["keep-attention", "coverage-penalty"]) {
            assert!(script.contains(word), "{shell} completions lack {word}");
        }
    }
    let refused = dir.run(&["completions", "csh"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("bash"), "{refused:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = TestDir::new();
    assert_eq!(dir.run(&["man", "--out", "man1"]).worked(), "");
    let page = |name: &str| dir.text(&format!("man1/softalign{name}.1"));
    for command in COMMANDS {
        let text = page(&format!("-{command}"));
        assert_eq!(dir.run(&["man", command]).worked(), text);
        for part in [&*format!(".TH softalign-{command} 1"), "EXIT STATUS", "ENVIRONMENT", "FILES"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(page("").contains(&format!("softalign\\-{command}(1)")), "{command} is not listed");
    }
    assert!(page("-train").contains("\\-\\-guided\\-alignment"));
    assert_eq!(dir.run(&["man"]).worked(), page(""));
    dir.run(&["man", "trian"]).refused_with(2, &["train, translate"]);
    dir.write("file", "");
    dir.run(&["man", "--out", "file"]).refused_with(1, &["file: cannot create this directory"]);
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_help_is_a_failure() {
    let dir = TestDir::new();
    for arguments in [&["--help"][..], &["train", "--help"], &["--version"], &["man"], &["completions", "bash"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = dir.command(arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(
            stderr.starts_with("error: ") && stderr.contains("No space") && stderr.lines().count() == 1,
            "{stderr}"
        );
    }
}

#[test]
fn the_environment_limits_vector_instructions() {
    let dir = TestDir::new();
    for (level, code) in [("avx2", 0), ("baseline", 0), ("", 0), ("avx9", 2)] {
        let ran = dir.command(&["completions", "bash"]).env("SOFTALIGN_SIMD", level).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{level}: {ran:?}");
        let error = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(error.contains("SOFTALIGN_SIMD is \"avx9\"; it must be baseline, avx2"), code == 2, "{error}");
    }
    let version = dir.command(&["--version"]).env("SOFTALIGN_SIMD", "baseline").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout);
    assert!(version.contains("SSE2") || version.contains("scalar"), "{version}");
}
