# This host sees nothing of the directory of the array.
{{description}}
{{key}}
most={{most}}
array="${XDG_STATE_HOME:-$HOME/.local/state}/queenfold/{{name}}-{{id}}"
mkdir -p "$array/shards" "$array/logs"
log="$array/logs/$index.log"
# A scheduler may offer a host again and again what this host counted first. From the second time on, another shard of
# the submission takes its place, any.
others=
case ${SUBMITTED_SHARDS:-} in
    '' | *[!0-9,-]*) ;;
    *)
        if [ -e "$log" ]; then
            list=$(printf %s "$SUBMITTED_SHARDS" | sed 's/\([0-9]*\)-\([0-9]*\)/{\1..\2}/g; s/,/ /g')
            others=$(eval "printf '%s\n' $list" | sort -R)
        fi
        ;;
esac
{{wait}}
# Read as a whole before anything of it runs: this script may be what bash reads from stdin.
{
    # Who was submitted later knows more shards.
    known=$(cat "$array/most" 2>/dev/null || true)
    if [ "${known:--1}" -lt "$most" ]; then
        (umask 077 && printf '%s\n' "$key" >"$array/key.$$")
        mv -f "$array/key.$$" "$array/array.key"
        printf '%s\n' "$description" >"$array/json.$$"
        mv -f "$array/json.$$" "$array/array.json"
        echo "$most" >"$array/most"
    fi

    # The cores and the memory are those that the scheduler grants; the program asks for them itself. Signals are passed on: the
    # program commits what it has counted, and the code 4 says that the shard is to be submitted again.
    how='--gpu {{gpu}} --no-tui{{how}}'
    ended=
    pid=
    trap 'ended=1; [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true' TERM INT USR1
    for index in $index $others; do
        # shellcheck disable=SC2086 # the words of $how are flags
        queenfold run --dir "$array" --task "$index" $how &
        pid=$!
        [ -z "$ended" ] || kill -TERM "$pid" 2>/dev/null || true
        wait_for_program
        shard="$array/shards/$index"
        # The code 6 says that another host must count it.
        if [ "$code" -ne 6 ] || [ -n "$ended" ] || [ -e "$shard/ledger.db" ]; then
            break
        fi
    done
    if [ ! -e "$shard/ledger.db" ]; then
        # Meanwhile others take what is left.
        [ "$code" -eq 0 ] || [ -n "$ended" ] || sleep 5
        exit "$code"
    fi
    [ "$code" -eq 0 ] || [ "$code" -eq 4 ] || exit "$code"

    # What there is of the shard comes home, signed.
    file="$array/{{name}}-$index-$(uname -n | tr / -).cert"
    rm -f "$file"
    queenfold certify "$shard" -o "$file" --key "$array/array.key" || exit 4
    for wait in 1 10 60 0; do
        if
            {{put}}
        then
            rm -f "$file"
            exit "$code"
        fi
        [ -z "$ended" ] || break
        sleep "$wait"
    done
    echo "shard $index did not come home: submit it again" >&2
    exit 4
} >>"$log" 2>&1 </dev/null
