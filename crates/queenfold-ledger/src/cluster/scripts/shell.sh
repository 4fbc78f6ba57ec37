#!/bin/bash
# Counts {{array}}. Written by `queenfold array`;
# docs/CLUSTER.md of Queenfold says what is promised.
#
#   {{script}} SHARD
#       counts a shard, 0 to {{most}}
#   queenfold status {{path}}
#       shows how far the shards are, and on which hosts
#   queenfold gather {{path}}
#       adds up the shards, or names those that are missing
#
# {{if shared}}It may be started as often as you like: what is counted already is not counted again.
# {{if apart}}Start it again for what `queenfold gather` names: no host knows what others counted.
#

set -eu

case ${1:-} in
    '' | *[!0-9]* | ??????????*)
        echo "give the number of a shard: $0 SHARD" >&2
        exit 2
        ;;
esac
index=$((10#$1))
{{attempt}}

# In place of this shell, so that signals reach the program: it commits what it has counted, and ends with code 4, as it
# does when its time is over. To continue the shard, start it again. Whoever starts this keeps what it prints: nothing
# is written to the folder logs.
# shellcheck disable=SC2086 # the words of $how are flags
exec "$program" "$@" $how
