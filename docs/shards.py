#!/usr/bin/env python3
"""Keeps shards.json, the list of who counts which shard of a board first and second. LONG_RUNS.md has the steps.

begin FILE          makes the list, for the board and the number of shards of this certificate of a shard
join NAME FILE      puts down the key of a person: the one that signed this certificate, of any board
take NAME           prints how to count a shard: the one that NAME still has to give, or the first that lacks a counter
give NAME FILE...   puts down the roots of certificates, and copies those to certs/ whose shards have two roots
drop NAME NUMBER    takes away from NAME a shard and its certificate
check               checks all certificates, and says what is missing (exit code 4)

Needs Python 3.8 and `queenfold`."""
import json, os, re, shutil, subprocess, sys

def need(holds, what):
    if not holds:
        sys.exit(f"refused: {what}")

def read(file):
    """What a certificate says, if it is right."""
    check = subprocess.run(["queenfold", "check", "--json", file], stdout=subprocess.PIPE)
    need(check.returncode == 0, f"{file} is no certificate, or a wrong one")
    found = json.loads(check.stdout)
    with open(file) as lines:
        head, *lines = map(json.loads, lines)
    found["number"], of = head.get("shard", "0/1").split("/")
    found["board"] = {field: head[field] for field in ("n", "queens", "holes", "plans") if field in head}
    found["board"]["shards"] = of
    found["key"] = " and ".join(signature["key"] for signature in found["signatures"])
    found["sessions"] = {line["session"] for line in lines if "session" in line}
    return found

def path(number, name):
    return f"certs/{number}.{name}.cert"

def accept(file, name):
    """The number and the root of a shard that NAME took, if this is their own count of it."""
    found = read(file)
    number, root, counters = found["number"], found["root"], shards.get(found["number"], {})
    need(found["board"] == board, f"{file} is of another board, plan or number of shards")
    need(name in counters, f"{file} is of shard {number}, which {name} did not take")
    need(found["key"] == keys[name], f"{file} is signed by {found['key'] or 'nobody'}, not by {name}")
    need(found["tasks"] == found["shard_tasks"], f"{file} has {found['tasks']} of {found['shard_tasks']} tasks")
    need(counters[name] in ("", root), f"{file} is not what the list says")
    for other in counters.keys() - {name}:
        theirs = path(number, other)
        copied = os.path.exists(theirs) and read(theirs)["sessions"] & found["sessions"]
        need(root != counters[other] and not copied, f"{name} and {other} gave one count of shard {number}")
    return number, root

def begin(file):
    board.update(read(file)["board"])
    need(not shards and board["shards"] != "1", f"there is a list already, or {file} is of no shard")
    shards.update((str(number), {}) for number in range(int(board["shards"].split()[0])))

def join(name, file):
    key = read(file)["key"]
    need(name.isalnum() and key, f"{name} is no name, or nobody signed {file}")
    need(name not in keys and key not in keys.values(), "somebody joined by this name or key")
    keys[name] = key

def take(name):
    need(name in keys, f"{name} has not joined")
    begun = [number for number in shards if shards[number].get(name) == ""]
    free = [number for number in shards if len(shards[number]) < 2 and name not in shards[number]]
    need(begun or free, f"no shard is left for {name}")
    number = (begun or free)[0]
    shards[number][name] = ""
    engine = next(plan.split("-")[0] for plan in board["plans"] if not plan.startswith("census"))
    words = ["queenfold", "run", "-n", str(board["n"]), "--engine", engine]
    words += [word for field in ("queens", "holes") if board.get(field) for word in (f"--{field}", board[field])]
    words += ["--shard", f"{number}/{board['shards'].split()[0]}", "--dir", f"s{number}"]
    # Anybody may have written the list, and a shell runs this.
    need(all(re.fullmatch("-{0,2}[a-z0-9,/]+", word) for word in words), "the list asks for more than a count")
    print(*words)

def give(name, *files):
    need(name in keys, f"{name} has not joined")
    for file, (number, root) in [(file, accept(file, name)) for file in files]:
        shards[number][name] = root
        if len(shards[number]) == 2 and all(shards[number].values()):
            os.makedirs("certs", exist_ok=True)
            shutil.copyfile(file, path(number, name))
        else:
            print(f"give {file} again when shard {number} has two roots")

def drop(name, number):
    need(name in shards.get(number, {}), f"{name} did not take shard {number}")
    del shards[number][name]
    if os.path.exists(path(number, name)):
        os.remove(path(number, name))

def check():
    counts = [(number, name) for number in shards for name in shards[number]]
    here = [count for count in counts if os.path.exists(path(*count))]
    for number, name in here:
        file = path(number, name)
        need(accept(file, name) == (number, shards[number][name]), f"{file} is not what the list says")
        for other in (path(*count) for count in here if count[0] == number and count[1] < name):
            same = subprocess.run(["queenfold", "verify", file, "--against", other], stdout=subprocess.DEVNULL)
            need(same.returncode == 0, f"{file} and {other} differ: `queenfold check FILE --challenge SEED` tells which is wrong")
    every = 2 * len(shards)
    missing = ", ".join(f"{number} by {name}" for number, name in counts if (number, name) not in here)
    print(f"{len(here)} of {every} counts are here, {every - len(counts)} nobody took; missing: {missing or 'none'}")
    sys.exit(0 if len(here) == every else 4)

steps = {"begin": (begin, 1), "join": (join, 2), "take": (take, 1), "give": (give, 2), "drop": (drop, 2), "check": (check, 0)}
step, *given = sys.argv[1:] or ["--help"]
if step in ("-h", "--help"):
    sys.exit(print(__doc__))
need(step in steps and (len(given) == steps[step][1] or step == "give" and len(given) > 2), "see `shards.py --help`")
try:
    board, keys, shards = {}, {}, {}
    if step != "begin" or os.path.exists("shards.json"):
        with open("shards.json") as file:
            board, keys, shards = json.load(file).values()
    steps[step][0](*given)
    with open("shards.json.new", "w") as file:
        # A line for each shard: git joins what people change in different places.
        lines = ",\n".join(f"{json.dumps(number)}: {json.dumps(counters)}" for number, counters in shards.items())
        file.write(f'{{"board": {json.dumps(board)},\n"keys": {json.dumps(keys)},\n"shards": {{\n{lines}\n}}}}\n')
    os.replace("shards.json.new", "shards.json")
except OSError as error:
    sys.exit(f"refused: {error}")
