array='{{path}}'
if [ ! -e "$array/array.json" ]; then
    echo "$array holds no job array: if it was moved, give its queenfold array command again, with --replace and the new place as --dir" >&2
    exit 2
fi
shard=$(printf '%s/shards/%0{{width}}d' "$array" "$index")

# The cores and the memory are those that the scheduler grants; the program asks for them itself.
how='--gpu {{gpu}} --no-tui{{how}}'
if [ -e "$shard/ledger.db" ]; then
    # An earlier attempt was here. A finished shard ends at once.
    set -- resume "$shard"
else
    # This board, whatever a configuration says.
    set -- run -n {{n}} --queens {{queens}} --holes {{holes}} --board none --engine {{engine}} {{unique}} --shard "$index/{{shards}}" --dir "$shard"
fi
program={{program}}
