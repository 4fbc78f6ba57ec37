# The exit code of the program. A trap ends `wait` before the program has ended.
wait_for_program() {
    code=0
    wait "$pid" || code=$?
    while kill -0 "$pid" 2>/dev/null; do
        code=0
        wait "$pid" || code=$?
    done
}
