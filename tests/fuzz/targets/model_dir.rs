//! Fuzzes one file of a model directory. SOFTALIGN_FUZZ_MODEL names the directory, which the fuzzer may overwrite, and
//! SOFTALIGN_FUZZ_FILE the file.
#![no_main]

#[path = "../../common/corrupt.rs"]
mod corrupt;

use std::path::PathBuf;
use std::sync::LazyLock;

use corrupt::use_model_dir;
use libfuzzer_sys::fuzz_target;
use softalign::checkpoint::ModelDir;

static MODEL_DIR: LazyLock<PathBuf> = LazyLock::new(|| PathBuf::from(variable("SOFTALIGN_FUZZ_MODEL")));
static FILE: LazyLock<PathBuf> = LazyLock::new(|| MODEL_DIR.join(variable("SOFTALIGN_FUZZ_FILE")));

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; scripts/fuzz.sh sets it"))
}

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("the file can be written");
    use_model_dir(&ModelDir::new(&MODEL_DIR), ["the red fox sleeps", "rufo mi dorma ."]);
});
