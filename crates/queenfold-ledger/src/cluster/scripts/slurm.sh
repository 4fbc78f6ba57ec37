#!/bin/bash
# Counts {{array}}. Written by `queenfold array`;
# docs/CLUSTER.md of Queenfold says what is promised.
#
#   {{script}}
#       submits all shards, in parts where the cluster takes no array of so many
#   {{script}} 3,17-20
#       submits these alone
#   queenfold status {{path}}
#       shows how far the shards are, and on which hosts
#   queenfold gather {{path}}
#       adds up the shards, or names those that are missing
#
# It may be started as often as you like: what is counted already is not counted again.
#
#SBATCH --job-name={{name}}
#SBATCH --array=0-{{most}}
#SBATCH --nodes=1 --ntasks=1
#SBATCH --cpus-per-task={{cpus}}
#SBATCH --gpus={{gpus}}
#SBATCH --time={{clock}}
# {{margin}} seconds before the time is over (or up to a minute earlier), Slurm signals this script.
#SBATCH --signal=B:USR1@{{margin}}
# Slurm starts a task again if its host fails or somebody with priority takes it.
#SBATCH --requeue
# What an earlier attempt printed stays.
#SBATCH --open-mode=append
#SBATCH --output={{path}}/logs/%A-%{{width}}a.log
{{options}}

set -eu

most={{most}}
if [ -z "${SLURM_ARRAY_TASK_ID-}" ]; then
    # Nobody's array task: submits itself. A part has as many array tasks as the largest power of ten that the cluster
    # takes, so that the first digits of a shard in the name of its log are those of the part.
{{list}}
    if ! config=$(scontrol show config 2>/dev/null); then
        echo "no Slurm answers here: \`scontrol show config\` fails" >&2
        exit 1
    fi
    [[ $config =~ MaxArraySize\ *=\ ([0-9]+) ]]
    size=${BASH_REMATCH[1]} part=$((10 ** {{width}}))
    ((size > most)) || while ((part > size && part > 1)); do ((part /= 10)); done
    for ((first = 0; first <= most; first += part)); do
        tasks='' last=$((first + part - 1)) name=$(printf '%0{{width}}d' "$first")
        for range in ${list//,/ }; do
            from=$((10#${range%-*})) to=$((10#${range#*-}))
            ((from >= first)) || from=$first
            ((to <= last)) || to=$last
            ((from > to)) || tasks+=,$((from - first))-$((to - first))
        done
        [ -z "$tasks" ] || sbatch ${REFUSED_BY:+--exclude="$REFUSED_BY"} --array="${tasks#,}" --job-name="{{name}}+$first" \
            --output="{{path}}/logs/%A-${name%"${part#1}"}%$((${#part} - 1))a.log" \
            '{{script}}' "$first"
    done
    exit
fi

# The array task, of the part that begins with this shard.
index=$((SLURM_ARRAY_TASK_ID + ${1:-0}))
{{attempt}}

{{wait}}

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
wait_for_program

# Not done when the time was over: back into the queue, to continue. Codes above 128 are signals, which may
# come before the program listens for them. A cancelled job stays cancelled.
if [ -n "$time_is_over" ] && { [ "$code" -eq 4 ] || [ "$code" -gt 128 ]; }; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
# Not for this node: for one of those that have not given the shard back yet.
if [ "$code" -eq 6 ] && [ -n "${SLURMD_NODENAME-}" ]; then
    export REFUSED_BY="${REFUSED_BY:+$REFUSED_BY,}$SLURMD_NODENAME"
    env -u SLURM_ARRAY_TASK_ID '{{script}}' "$index"
fi
exit "$code"
