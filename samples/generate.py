#!/usr/bin/env python3
"""Generate the sample PDFs from their sources.

    python3 -m pip install typst==0.15.2
    samples/generate.py [--check]

Needs the Noto fonts (on Debian: fonts-noto-core and fonts-noto-cjk). The same sources, compiler and
fonts give the same bytes. With --check nothing is written; the exit code is 1 when a PDF differs.
"""

import pathlib
import sys

import typst

HERE = pathlib.Path(__file__).resolve().parent

# 2 March 2026, noon UTC: no file may depend on the day it was made.
TIMESTAMP = 1_772_452_800

DOCUMENTS = [
    "compost-trials",
    "cooperative-minutes",
    "disaster-plan-ja",
    "lease-guide",
    "research-notes-ja",
]


def main():
    check = "--check" in sys.argv[1:]
    stale = []
    for name in DOCUMENTS:
        content = typst.compile(
            str(HERE / "sources" / f"{name}.typ"),
            root=str(HERE / "sources"),
            format="pdf",
            timestamp=TIMESTAMP,
        )
        target = HERE / f"{name}.pdf"
        if check:
            if not target.exists() or target.read_bytes() != content:
                stale.append(target.name)
        else:
            target.write_bytes(content)
            print(f"{target.name}: {len(content) / 1000:.0f} kB")
    if stale:
        print("out of date: " + ", ".join(stale))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
