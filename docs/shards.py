#!/usr/bin/env python3
"""Keeps shards.txt, the list of who counts which shard of a board first and second. LONG_RUNS.md has the steps.

begin FILE              a new list: board, plans and number of shards are those of this certificate of a shard
join NAME FILE          puts down the key of a person: the one that signed this certificate, of any board
take NAME               gives NAME the first shard that lacks a counter, never one that NAME has already
give NAME NUMBER FILE   checks the certificate of a shard that NAME took, and copies it to certs/
check                   checks all that was given, and says what is missing

Needs Python 3.8 and `queenfold`. All is in this folder: git brings it to the others and back."""
import json, os, shlex, shutil, subprocess, sys

def need(holds, what):
    if not holds: sys.exit(f"refused: {what}")
def read(file):  # of which board and shard the certificate is, who signed it, and what `queenfold check` says
    found = subprocess.run(["queenfold", "check", "--json", file], stdout=subprocess.PIPE)
    need(found.returncode == 0, f"{file} is no certificate, or a wrong one")
    found = json.loads(found.stdout)
    with open(file) as lines: head = json.loads(lines.readline())
    number, head["shards"] = head.get("shard", "0/1").split("/")
    of = {field: head[field] for field in ("n", "queens", "holes", "plans", "shards") if field in head}
    return of, number, " and ".join(signature["key"] for signature in found["signatures"]), found
def path(number, name): return f"certs/{number}.{name}.cert"
def accept(file, number, name):  # the root of what this person counted of this shard
    of, shard, key, found = read(file)
    need((of, shard) == (board, number), f"{file} is of shard {shard} of {of}, not of shard {number} of {board}")
    need(key == keys.get(name), f"{file} is signed by {key or 'nobody'}, not by {name}")
    need(found["tasks"] == found["shard_tasks"], f"{file} has {found['tasks']} of {found['shard_tasks']} tasks")
    for other in filter(os.path.exists, (path(number, other) for other in shards[number] if other != name)):
        same = subprocess.run(["queenfold", "verify", file, "--against", other], stdout=subprocess.DEVNULL).returncode == 0
        need(same, f"{file} and {other} differ: `queenfold check FILE --challenge SEED` tells which is wrong")
    return found["root"]

command, *given = sys.argv[1:] or ["help"]
need({"begin": 1, "join": 2, "take": 1, "give": 3, "check": 0}.get(command) == len(given), __doc__)
if command == "begin":
    need(not os.path.exists("shards.txt"), "shards.txt is there already")
    board, keys = read(given[0])[0], {}
    shards = {str(number): {} for number in range(int(board["shards"].split()[0]))}
else:  # The first line is the board; then `key NAME KEY`, and `NUMBER NAME:ROOT NAME:ROOT`, without a root until it is given.
    with open("shards.txt") as lines: board, *rest = json.loads(lines.readline()), *map(str.split, lines)
    keys = {line[1]: line[2] for line in rest if line[0] == "key"}
    shards = {number: dict(one.split(":") for one in counters) for number, *counters in rest if number != "key"}
if command == "join":
    name, key = given[0], read(given[1])[2]
    need(name.isalnum() and name not in keys and key, f"{name} is taken, or no name, or nobody signed")
    keys[name] = key
need(len({*keys.values()}) == len(keys), "two people have one key")
if command == "take":
    name, = given
    need(name in keys, f"{name} has not joined")
    number = next((number for number, counters in shards.items() if len(counters) < 2 and name not in counters), None)
    need(number, f"no shard is left for {name}")
    shards[number][name] = ""
    engine = next(plan.split("-")[0] for plan in board["plans"] if not plan.startswith("census"))
    squares = [word for of in ("queens", "holes") if board.get(of) for word in (f"--{of}", board[of])]
    shard = f"{number}/{board['shards'].split()[0]}"
    print(shlex.join(["queenfold", "run", "-n", str(board["n"]), *squares, "--engine", engine, "--shard", shard, "--dir", f"s{number}"]))
if command == "give":
    name, number, file = given
    need(name in shards.get(number, {}), f"{name} did not take shard {number}")
    shards[number][name] = accept(file, number, name)
    os.makedirs("certs", exist_ok=True)
    shutil.copyfile(file, path(number, name))
if command == "check":
    counts = [(number, name, root) for number, counters in shards.items() for name, root in counters.items()]
    here = [one for one in counts if one[2] and os.path.exists(path(*one[:2]))]
    for number, name, root in here:
        need(accept(path(number, name), number, name) == root, f"{path(number, name)} is not what the list says")
    waits = ", ".join(f"{number} by {name}" for number, name, root in counts if (number, name, root) not in here)
    print(f"{len(here)} of {2 * len(shards)} counts are here, {2 * len(shards) - len(counts)} nobody took; missing: {waits or 'none'}")
    sys.exit(0 if len(here) == 2 * len(shards) else 4)
with open("shards.txt.new", "w") as file:
    file.write(json.dumps(board) + "\n" + "".join(f"key {name} {key}\n" for name, key in keys.items()))
    file.writelines(" ".join([number, *map(":".join, counters.items())]) + "\n" for number, counters in shards.items())
os.replace("shards.txt.new", "shards.txt")
