#!/bin/bash
# Counts {{array}}. Written by `queenfold array`;
# docs/CLUSTER.md of Queenfold says what is promised.
#
{{others}}
#   {{last}}
#       counts all shards (--partition, --account and the like may be added)
#   {{some}}
#       counts these alone
#   queenfold status {{path}}
#       shows how far the shards are, and on which hosts
#   queenfold gather {{path}}
#       adds up the shards, or names those that are missing
#
# It may be started as often as you like: what is counted already is not counted again.
#
#SBATCH --job-name={{name}}
# Too many for the MaxArraySize of the cluster (1001 by default) are an `Invalid job array specification`: submit parts. `sbatch --array=0-9 slurm.sh 10` counts the shards 10 to 19.
#SBATCH --array=0-{{most}}
#SBATCH --nodes=1 --ntasks=1
#SBATCH --cpus-per-task={{cpus}}
#SBATCH --mem={{memory}}M
#SBATCH --gpus={{gpus}}
#SBATCH --time={{clock}}
# So many seconds before the time is over (or up to a minute earlier), Slurm signals this script.
#SBATCH --signal=B:USR1@{{margin}}
# Slurm starts a task again if its host fails or somebody with priority takes it.
#SBATCH --requeue
# What an earlier attempt printed stays.
#SBATCH --open-mode=append
#SBATCH --output={{path}}/logs/%A-%{{width}}a.log
{{options}}

set -eu

index=$((${SLURM_ARRAY_TASK_ID:?is not set: submit this script with sbatch} + ${1:-0}))
{{attempt}}

# This shell passes signals on: USR1 when the time is nearly over, TERM when the job is cancelled or preempted,
# which the program may get from the scheduler too. It commits what it has counted, and ends with code 4.
time_is_over=
pid=
# A signal may come when the program has just ended; then there is nobody to pass it to.
trap 'time_is_over=1; [ -z "$pid" ] || kill -USR1 "$pid" 2>/dev/null || true' USR1
trap '[ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true' TERM

# shellcheck disable=SC2086 # the words of $how are flags
"$program" "$@" $how &
pid=$!
[ -z "$time_is_over" ] || kill -USR1 "$pid" 2>/dev/null || true
# A trap ends `wait` before the program has ended.
code=0
wait "$pid" || code=$?
while kill -0 "$pid" 2>/dev/null; do
    code=0
    wait "$pid" || code=$?
done

# Not done when the time was over: back into the queue, to continue. Codes above 128 are signals, which may
# come before the program listens for them. A cancelled job stays cancelled.
if [ -n "$time_is_over" ] && { [ "$code" -eq 4 ] || [ "$code" -gt 128 ]; }; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
