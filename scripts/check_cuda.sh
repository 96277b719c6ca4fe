#!/usr/bin/env bash
# Builds softalign with --features nccl, which has those of cuda, and checks what can be checked: the kernels compile, the program
# starts, and without a GPU it says so. With a GPU, training and decoding are compared with PyTorch's values and with the CPU, and
# two processes train the model of one.
#
# Needs neither a driver nor an installed CUDA toolkit: without `nvcc`, the toolkit comes from the Python package index (about
# 2 GB), so does NCCL where it is missing, and without a driver a stand-in for its library is linked, all in the folder of the
# first argument (default: target/cuda-toolkit). The first build takes about 20 minutes on two cores, most of it for candle's kernels.
# CUDA_COMPUTE_CAP is the architecture to compile for (default: 90).
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(cargo metadata --format-version 1 --no-deps --offline | sed -E 's/.*"target_directory":"([^"]*)".*/\1/')
folder=$(realpath -m "${1:-$target/cuda-toolkit}")
export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-90}
mkdir -p "$folder/link"

# from_python PACKAGE: installs a package of the Python package index in the folder.
from_python() {
    [ -d "$folder/python" ] || python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet "$1"
}

if ! command -v nvcc > /dev/null; then
    from_python "cuda-toolkit[nvcc,cudart,crt,nvvm,curand,cublas,cccl,nvrtc]==13.0.*"
    CUDA_HOME=$(echo "$folder"/python/lib/python3*/site-packages/nvidia/cu13)
    export CUDA_HOME CUDA_PATH=$CUDA_HOME CUDA_TOOLKIT_ROOT_DIR=$CUDA_HOME PATH="$CUDA_HOME/bin:$PATH"
    [ -e "$CUDA_HOME/lib64" ] || ln -s lib "$CUDA_HOME/lib64"
    for name in nvrtc curand cublas cublasLt cudart; do
        ln -sf "$(ls "$CUDA_HOME"/lib/lib$name.so.* | head -n 1)" "$folder/link/lib$name.so"
    done
    export LD_LIBRARY_PATH="$CUDA_HOME/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
if ! ldconfig -p | grep -q 'libnccl\.so '; then
    from_python nvidia-nccl-cu13
    nccl=$(echo "$folder"/python/lib/python3*/site-packages/nvidia/nccl/lib)
    ln -sf "$nccl/libnccl.so.2" "$folder/link/libnccl.so"
    export LD_LIBRARY_PATH="$nccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
export LIBRARY_PATH="$folder/link${LIBRARY_PATH:+:$LIBRARY_PATH}"

build=(--profile cuda --features nccl --locked)
cargo build "${build[@]}" --lib
gpu=false
if nvidia-smi > /dev/null 2>&1; then
    gpu=true
else
    # Every function that cudarc asks the driver for, answering that there is no GPU.
    library=$(ls -t "$target"/cuda/deps/libcudarc*.rlib | head -n 1)
    nm -u "$library" 2> /dev/null | grep -oE "U cu[A-Z][A-Za-z0-9_]*" | awk '{print "int "$2"(void){return 100;}"}' | sort -u \
        > "$folder/link/driver.c"
    cc -shared -o "$folder/link/libcuda.so.1" -Wl,-soname,libcuda.so.1 "$folder/link/driver.c"
    ln -sf libcuda.so.1 "$folder/link/libcuda.so"
    export LD_LIBRARY_PATH="$folder/link${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
cargo clippy "${build[@]}" --all-targets -- --deny warnings
cargo build "${build[@]}"
cargo test "${build[@]}" --lib kernels::cuda
softalign=$target/cuda/softalign
"$softalign" --version
if $gpu; then
    cargo test "${build[@]}" --test library cuda:: -- --test-threads 1
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    head -n 1000 data/train.tsv > "$work/pairs.tsv"
    # train NAME
    train() {
        "$softalign" train --device cuda --quiet "$work/pairs.tsv" --max-epochs 2 --out "$work/$1"
    }
    train one
    # Two processes share the GPU as if they were on two machines.
    for rank in 0 1; do
        NCCL_HOSTID=$rank NCCL_SOCKET_IFNAME=lo RANK=$rank LOCAL_RANK=0 WORLD_SIZE=2 train two &
    done
    wait
    losses() {
        grep '"event":"validation"' "$work/$1/log.jsonl" | grep -oE '"loss":[0-9.]+' | cut -d : -f 2
    }
    paste <(losses one) <(losses two) | awk '{ d = ($1 - $2) / $1; if (d * d > 1e-10) exit 1; n++ } END { exit n != 2 }' || {
        echo "two processes train another model than one" >&2
        exit 1
    }
else
    cargo test "${build[@]}" --test library --no-run
    if message=$("$softalign" translate --device cuda --quiet <<< "A hat." 2>&1); then
        echo "translated without a GPU" >&2
        exit 1
    fi
    echo "$message"
    grep -q "no GPU" <<< "$message"
fi
