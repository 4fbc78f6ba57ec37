"""Makes the archives of a release, and checks what is in them.

    archive.py make FOLDER ARCHIVE    the same files and the same SOURCE_DATE_EPOCH give the same bytes, on any system
    archive.py links FOLDER           every link of the pages in FOLDER leads to a file in FOLDER
    archive.py notices FOLDER PROGRAM
                                      FOLDER/third-party and the list in PROGRAM name every crate of standard input
"""

import gzip
import json
import os
import re
import sys
import tarfile
import time
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

# `cargo auditable` keeps the list of crates in the program as JSON, compressed by zlib.
ZLIB_HEADERS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
# Pages for those who change the program link to its source, which no archive has.
SOURCE = (".c", ".cu", ".rs")


def make(folder, archive):
    folder = Path(folder)
    made = int(os.environ["SOURCE_DATE_EPOCH"])
    files = []
    for path in sorted(folder.rglob("*"), key=Path.as_posix):
        if path.is_file():
            name = path.relative_to(folder.parent).as_posix()
            # What else the mode says is the umask of whoever made the files.
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            files.append((name, mode, path.read_bytes()))
    if archive.endswith(".zip"):
        make_zip(files, made, archive)
    else:
        make_tar(files, made, archive)


def make_tar(files, made, archive):
    # Neither the name nor the time of the archive are in the header of gzip.
    with open(archive, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, mode, content in files:
                # A new entry belongs to user and group 0, without names.
                entry = tarfile.TarInfo(name)
                entry.mode, entry.mtime, entry.size = mode, made, len(content)
                tar.addfile(entry, BytesIO(content))


def make_zip(files, made, archive):
    with zipfile.ZipFile(archive, "w") as out:
        for name, mode, content in files:
            entry = zipfile.ZipInfo(name, time.gmtime(made)[:6])
            entry.create_system = 3  # Unix, wherever it is made: so the modes are kept.
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, content, compresslevel=9)


def links(folder):
    folder = Path(folder)
    dead = []
    pages = sorted(folder.rglob("*.md"))
    for page in pages:
        # A page of the lab book is never edited again, so its links may die.
        if page.parent.name == "lab":
            continue
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            there = (page.parent / link).exists()
            if not there and "://" not in link and not link.endswith(SOURCE):
                dead.append(f"{page.relative_to(folder)} links to {link}, which is not there")
    if dead or not (folder / "README.md") in pages:
        sys.exit("\n".join(dead) or "there is no README.md")


def crates(program):
    content = memoryview(program)
    for header in ZLIB_HEADERS:
        at = program.find(header)
        while at >= 0:
            try:
                text = zlib.decompressobj().decompress(content[at:], 1 << 24)
                if text.startswith(b'{"packages":'):
                    return json.loads(text)["packages"]
            except zlib.error:
                pass
            at = program.find(header, at + 1)
    sys.exit("the program does not say what it is made of (cargo auditable)")


def notices(folder, program):
    linked = {line.strip() for line in sys.stdin}
    notices = (Path(folder) / "third-party" / "crates.txt").read_text(encoding="utf-8")
    # The list also has crates that are only built with, and some of features that are not on.
    listed = {f"{crate['name']} {crate['version']}" for crate in crates(Path(program).read_bytes())}
    for place, names in (
        ("third-party/crates.txt", {line.strip() for line in notices.splitlines()}),
        ("the list in the program", listed),
    ):
        if not linked or linked - names:
            sys.exit(f"{place} lacks {sorted(linked - names)} of {len(linked)} crates")
    print(f"the licences are there, and the program lists the versions, of {len(linked)} crates")


COMMANDS = {"make": make, "links": links, "notices": notices}
if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
