#!/usr/bin/env bash
# Measures a GPU in ten minutes: exact totals of 10 to 22 queens, both kernels on samples of 20 to 28 by the rows left, a
# board of 24 whole with its certificate, counted again by the other kernel, and the same with CPU workers beside.
#
#   benches/gpu.sh RESULTS      a folder that is made
#
# It takes the program of this clone, or else the installed one. The samples need `cargo build --release --example gpu_samples`.
# FOR is the time for the totals, SAMPLES and BOARD are other boards: FOR=1s SAMPLES=12 BOARD=12 takes seconds.
set -euo pipefail
results=${1:?where the results go}
bin=${BIN:-$(dirname "$(realpath "$0")")/../target/release}
PATH=$bin:$bin/examples:$PATH
command -v queenfold >/dev/null || { echo "no queenfold: cargo build --release" >&2; exit 1; }
mkdir "$results"
failed=

step() {
    local name=$1 begun=$SECONDS
    shift
    echo "== $name: $*"
    "$@" >"$results/$name" 2>"$results/$name.log" || { echo "   ended with $?: $results/$name.log"; failed+=" $name"; }
    echo "   $((SECONDS - begun)) s"
}

board=${BOARD:-24}
read -ra samples <<<"${SAMPLES:-20 22 24 26 28}"
step machine.txt queenfold selftest
step samples.txt gpu_samples "${samples[@]}"
step whole.json queenfold bench --gpu --for "${FOR:-10m}" --json
step run.txt queenfold run -n "$board" --gpu cuda --workers 0 --engine colour --dir "$results/run" --json
step again.txt queenfold verify --again "$results/run" --gpu cuda --workers 0 --json
step certificate queenfold certify "$results/run" -o "$results/run.cert"
step check.txt queenfold check "$results/run.cert"
step mixed.txt queenfold run -n "$board" --gpu cuda --engine colour --json
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
