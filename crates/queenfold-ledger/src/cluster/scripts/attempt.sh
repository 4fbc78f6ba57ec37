array='{{path}}'
if [ ! -e "$array/array.json" ]; then
    echo "$array holds no job array: if it was moved, give its queenfold array command again, with --replace and the new place as --dir" >&2
    exit 2
fi

# The cores and the memory are those that the scheduler grants; the program asks for them itself.
how='--gpu {{gpu}} --no-tui{{how}}'
set -- run --dir "$array" --task "$index"
program={{program}}
