# This host sees nothing of the directory of the array.
{{description}}
{{key}}
umask 077
array="${XDG_STATE_HOME:-$HOME/.local/state}/queenfold/{{name}}-{{id}}"
mkdir -p "$array/shards" "$array/logs"
exec >>"$array/logs/$index.log" 2>&1 </dev/null
# A description only grows: a shorter one was submitted earlier.
if [ "$(cat "$array/array.json" 2>/dev/null | wc -c)" -le ${#description} ]; then
    printf '%s\n' "$key" >"$array/key.$$"
    mv -f "$array/key.$$" "$array/array.key"
    printf '%s\n' "$description" >"$array/json.$$"
    mv -f "$array/json.$$" "$array/array.json"
fi

# The cores and the memory are those that the scheduler grants; the program asks for them itself. It gets signals from the
# scheduler, too: it commits what it has counted, and the code 4 says that the shard is to be submitted again.
how='--gpu {{gpu}} --no-tui{{how}}'
code=0
# shellcheck disable=SC2086 # the words of $how are flags
queenfold run --dir "$array" --task "$index" $how || code=$?
shard="$array/shards/$index"
if [ ! -e "$shard/ledger.db" ]; then
    # Not for this host: meanwhile others take what is left.
    [ "$code" -ne 4 ] || sleep 5
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
