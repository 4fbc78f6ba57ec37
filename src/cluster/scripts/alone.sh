# This host sees nothing of the directory of the array.
{{description}}
{{key}}
array="${XDG_STATE_HOME:-$HOME/.local/state}/queenfold/{{name}}-{{id}}"
mkdir -p "$array/shards" "$array/logs"
log="$array/logs/$index.log"
# A scheduler may offer a host again and again what this host counted first. From the second time on, another shard of
# the submission takes its place, any.
others=
if [ -e "$log" ]; then
    list=$(printf %s "${SHARDS:-}" | sed 's/\([0-9]*\)-\([0-9]*\)/{\1..\2}/g; s/,/ /g')
    others=$(eval "printf '%s\n' $list" | sort -R)
fi
# Read as a whole before anything of it runs: this script may be what bash reads from stdin.
{
    # A description only grows: a shorter one was submitted earlier.
    if [ "$(cat "$array/array.json" 2>/dev/null | wc -c)" -le ${#description} ]; then
        (umask 077 && printf '%s\n' "$key" >"$array/key.$$")
        mv -f "$array/key.$$" "$array/array.key"
        printf '%s\n' "$description" >"$array/json.$$"
        mv -f "$array/json.$$" "$array/array.json"
    fi

    # The cores and the memory are those that the scheduler grants; the program asks for them itself. It gets signals from
    # the scheduler, too: it commits what it has counted, and the code 4 says that the shard is to be submitted again.
    how='--gpu {{gpu}} --no-tui{{how}}'
    for index in $index $others; do
        code=0
        # shellcheck disable=SC2086 # the words of $how are flags
        queenfold run --dir "$array" --task "$index" $how || code=$?
        shard="$array/shards/$index"
        [ "$code" -eq 6 ] && [ ! -e "$shard/ledger.db" ] || break
    done
    if [ ! -e "$shard/ledger.db" ]; then
        # Not for this host: meanwhile others take what is left.
        [ "$code" -ne 6 ] || sleep 5
        exit "$code"
    fi
    [ "$code" -eq 0 ] || [ "$code" -eq 4 ] || exit "$code"

    # What there is of the shard comes home, signed.
    file="$array/{{name}}-$index-$(uname -n).cert"
    rm -f "$file"
    queenfold certify "$shard" -o "$file" --key "$array/array.key" || exit 4
    for wait in 1 10 60 0; do
        if {{put}}; then
            rm -f "$file"
            exit "$code"
        fi
        sleep "$wait"
    done
    echo "shard $index did not come home: submit it again" >&2
    exit 4
} >>"$log" 2>&1 </dev/null
