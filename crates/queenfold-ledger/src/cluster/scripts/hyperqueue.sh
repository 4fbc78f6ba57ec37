#!/bin/bash
# Counts {{array}}. Written by `queenfold array`;
# docs/CLUSTER.md of Queenfold says what is promised.
#
#   {{script}}
#       submits all shards (a server and workers must run: `hq server start`, `hq worker start`)
#   {{script}} 3,17-20
#       submits these alone
#   queenfold status {{path}}
#       shows how far the shards are, and on which hosts
#   queenfold gather {{path}}
#       adds up the shards, or names those that are missing
#
# {{if shared}}It may be started as often as you like: what is counted already is not counted again.
# {{if apart}}Start it again for what `queenfold gather` names: no host knows what others counted.
#
#HQ --name={{name}}
#HQ --array=0-{{most}}
#HQ --cpus={{cpus}}
#HQ --resource gpus/nvidia={{gpus}}
# {{if time}}Only workers that live for so long get the task. Past the limit they end it.
#HQ --time-request={{seconds}}s --time-limit={{seconds}}s
# A task whose worker is lost is started again, however often.
#HQ --crash-limit=unlimited
#HQ --stdout={{logs}}/%{SERVER_UID}-%{JOB_ID}-%{TASK_ID}-%{INSTANCE_ID}.out --stderr={{logs}}/%{SERVER_UID}-%{JOB_ID}-%{TASK_ID}-%{INSTANCE_ID}.err
{{if apart}}#HQ --cwd=/ --stdout=none --stderr=none
{{options}}

set -eu

most={{most}}
if [ -z "${HQ_TASK_ID-}" ]; then
    # Nobody's array task: submits itself, and hosts need not see this file.
{{list}}
    # {{if apart}}HyperQueue places what is submitted again as before, and a host refuses what it counted first. So some hosts
    # {{if apart}}are busy for five seconds, and others get it.
    {{if apart}}[ -z "${1-}" ] || ! grep -q '"again":' "$0" || hq submit --name=elsewhere --cpus=all --priority=1 --array="0-$((RANDOM % 4))" --cwd=/ --stdout=none --stderr=none sleep 5 >/dev/null
    exec hq submit --stdin --directives=stdin --array="$list" --env="SUBMITTED_SHARDS=$list" bash <"$0"
fi
index=$HQ_TASK_ID
{{attempt}}

# In place of this shell, so that HyperQueue's signals reach the program: it commits what it has counted. The
# code 4 says that the shard is not done. To continue it, submit it again.
# shellcheck disable=SC2086 # the words of $how are flags
exec "$program" "$@" $how </dev/null
