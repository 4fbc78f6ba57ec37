    list=${1:-0-$most}
    if [[ ! $list =~ ^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$ ]]; then
        echo "$list: give shards as 3,17-20" >&2
        exit 2
    fi
    for range in ${list//,/ }; do
        if ((10#${range%-*} > 10#${range#*-} || 10#${range#*-} > most)); then
            echo "$range: there are the shards 0 to $most" >&2
            exit 2
        fi
    done
