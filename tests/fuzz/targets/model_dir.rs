//! A model's folder of which one file is what the fuzzer makes of it. SOFTALIGN_FUZZ_MODEL is the folder, which belongs to
//! the fuzzer, and SOFTALIGN_FUZZ_FILE the file.
#![no_main]

#[path = "../../common/corrupt.rs"]
mod corrupt;

use std::path::PathBuf;
use std::sync::LazyLock;

use corrupt::use_model_dir;
use libfuzzer_sys::fuzz_target;
use softalign::checkpoint::ModelDir;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| PathBuf::from(variable("SOFTALIGN_FUZZ_MODEL")));
static FILE: LazyLock<PathBuf> = LazyLock::new(|| FOLDER.join(variable("SOFTALIGN_FUZZ_FILE")));

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; scripts/fuzz.sh sets it"))
}

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("the file can be written");
    use_model_dir(&ModelDir::new(&FOLDER), ["the red fox sleeps", "rufo mi dorma ."]);
});
