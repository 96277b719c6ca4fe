#!/usr/bin/env bash
# Trains one model on several NVIDIA GPUs of this machine, by one process for each. Needs softalign built with --features nccl;
# the variable SOFTALIGN is its path if it is not on PATH.
#   scripts/train_on_gpus.sh GPUS pairs.tsv --out model [options of train]
set -euo pipefail
export WORLD_SIZE=$1
shift

processes=()
for ((rank = 0; rank < WORLD_SIZE; rank++)); do
    RANK=$rank LOCAL_RANK=$rank "${SOFTALIGN:-softalign}" train --device cuda "$@" &
    processes+=($!)
done

# Background processes of a script ignore Ctrl-C.
stopped=false
trap 'stopped=true; kill -TERM "${processes[@]}" 2> /dev/null || true' INT TERM
status=0
for ((running = WORLD_SIZE; running > 0; running--)); do
    ended=0
    wait -n || ended=$?
    if ((ended > 0 && status == 0)); then
        status=$ended
        # The others would wait for one that has failed. After Ctrl-C, all of them end by themselves.
        $stopped || { sleep 5; kill -KILL "${processes[@]}" 2> /dev/null || true; }
    fi
done
wait
exit $status
