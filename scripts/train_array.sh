#!/usr/bin/env bash
# One of several trainings on the same pairs, which differ in their seeds: a task of a SLURM array or of GNU parallel, whose number
# is the seed. The model is in OUT/seed-N. A task that was stopped continues when it is started again.
#   scripts/train_array.sh PAIRS OUT [options of softalign train]
#   sbatch --array=1-4 scripts/train_array.sh pairs.tsv models
#   parallel -N0 -j 2 scripts/train_array.sh pairs.tsv models --threads 1 ::: 1 2 3 4
#SBATCH --job-name=softalign
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --requeue
# Two minutes before the end, so that the training saves its state.
#SBATCH --signal=B:TERM@120
set -euo pipefail
if [ $# -lt 2 ]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
seed=${SLURM_ARRAY_TASK_ID:-${PARALLEL_SEQ:-}}
if [ -z "$seed" ]; then
    echo "train_array.sh: neither SLURM_ARRAY_TASK_ID nor PARALLEL_SEQ is set: start it with sbatch --array or parallel" >&2
    exit 2
fi
pairs=$1 model=$2/seed-$seed
softalign=${SOFTALIGN:-softalign}
threads=${SLURM_CPUS_PER_TASK:+--threads $SLURM_CPUS_PER_TASK}
resume=
[ -e "$model/resume.safetensors" ] && resume=--resume
mkdir -p "$2"
shift 2
# shellcheck disable=SC2086 # options, or nothing
exec "$softalign" train "$pairs" --seed "$seed" --out "$model" $threads $resume "$@"
