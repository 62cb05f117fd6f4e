"""The page of the comparison."""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from results import short

NOTES = """\
## What is measured

Every contender runs on SQLite with `journal_mode=WAL` and `synchronous=FULL`; both pragmas are asked on
the connection that the queue writes through, and whoever answers something else is left out.

- **enqueue**: 16 producers; each waits until its job is on disk before it brings the next.
- **claim + complete**: 8 workers; each claims *one* job, does nothing, completes it. Like for like, so this is
  what the claim figures compare.
- **own way**: the same work as the queue itself does it. Gistmill: one dispatcher claims up to ten, eight
  workers complete. effectum: one worker of eight jobs at once. apalis: its worker with batches of ten.
  plainjob: eight of its workers. huey: tasks without a result.

A rate is jobs in the measured time. Latencies are seen by the caller, so they contain the wait for the other
workers. All values are medians of the rounds, in which the contenders take turns. A
measurement during which other programs kept a core busy is made again, as far as there is time.

## How each contender is made comparable

| contender | durability | finished jobs in the table | remarks |
| --- | --- | --- | --- |
| Gistmill | as the product opens it | jobs, each with attempt, result and batch | `Store::submit`, `claim`, `complete`, one writer with group commit. A claim records an attempt, a completion a result; neither has a counterpart in the peers. |
| effectum | it sets NORMAL and leaves the journal at DELETE (`journal` is no pragma), on a connection that nobody can reach: three lines of a copy of its source are changed (`benches/peers/effectum/make-durable`) | `jobs` rows with status *succeeded* | Gives jobs out by itself: no claim can be timed. What it shows is the time from one job's start to the next on a worker, completion and claim together. One writer with group commit, too. |
| apalis-sqlite | its `setup` sets OFF on one connection of the pool: the migrations are run without it, FULL comes by the pool's options | `Jobs` rows with status *Done* | The queries of its worker (`fetch_next`, `ack_tasks`) with one connection; *claim* leaves out its optional `lock` statement, which would be a third commit. |
| plainjob | it sets NORMAL; FULL is set afterwards on the same connection | `plainjob_jobs` rows with status *done* | Synchronous: a process does one thing at a time, so 16 producers take turns. |
| huey | its option `fsync=True` | huey deletes a task when it is claimed; it has as many stored results instead | *claim* stores a result, which makes the completion durable; *own way* has none: a single commit, and a task is lost in a crash. |
"""


def fsync_microseconds(folder):
    """How long the disk takes to keep a page of the log: the median of some."""
    file = folder / "probe"
    took = []
    with open(file, "wb", buffering=0) as probe:
        probe.write(b"x" * 4_152 * 1_000)
        os.fsync(probe.fileno())
        probe.seek(0)
        for _ in range(500):
            probe.write(b"y" * 4_152)
            began = time.perf_counter()
            os.fdatasync(probe.fileno())
            took.append(time.perf_counter() - began)
    file.unlink()
    return statistics.median(took) * 1e6


def file_system(folder):
    """The kind of file system that a folder is on."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    found = [line.split()[1:3] for line in mounts.read_text().splitlines()]
    inside = [(len(place), kind) for place, kind in found if folder.is_relative_to(place)]
    return max(inside)[1]


def processor():
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version(*command):
    if shutil.which(command[0]) is None:
        return "none"
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()


def machine(folder, take_precedence):
    """What the figures depend on."""
    probe = "import report, sys, pathlib; print(report.fsync_microseconds(pathlib.Path(sys.argv[1])))"
    # A process of its own, which runs as the measurements do.
    fdatasync = subprocess.run(
        [sys.executable, "-B", "-c", probe, folder],
        cwd=Path(__file__).resolve().parent,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=take_precedence,
    )
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "file system": file_system(folder),
        "one fdatasync": f"{float(fdatasync.stdout):.0f} µs (median)",
        "versions": f"{version('rustc', '--version')}, Node.js {version('node', '--version')}, "
        f"Python {platform.python_version()}",
    }


def cell(value):
    return "–" if value is None else f"{value:,.0f}"


def summary(results, sizes):
    """The tables, as Markdown."""
    lines = []
    for size in sizes:
        lines += [
            f"### {size:,} finished jobs",
            "",
            "| | enqueue, jobs/s | claim + complete, jobs/s | claim p50 / p99, µs "
            "| claim + complete p50 / p99, µs | own way, jobs/s |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        for name, label in results.labels.items():
            if results.is_out(name):
                lines.append(f"| {label} | not counted: {results.troubles[name]} | | | | |")
                continue
            rates = {step: results.value(name, size, step) for step in ("enqueue", "claim", "own")}
            times = {
                key: cell(results.value(name, size, "claim", f"{key}_us"))
                for key in ("claim_p50", "claim_p99", "cycle_p50", "cycle_p99")
            }
            lines.append(
                f"| {label} | {cell(rates['enqueue'])} | {cell(rates['claim'])} "
                f"| {times['claim_p50']} / {times['claim_p99']} "
                f"| {times['cycle_p50']} / {times['cycle_p99']} | {cell(rates['own'])} |"
            )
        lines += ["", *comparisons(results, size), ""]
    lines += ["### Durability", "", "| | synchronous | journal_mode | SQLite |", "| --- | --- | --- | --- |"]
    for name, found in results.durability.items():
        lines.append(
            f"| {results.labels[name]} | {found['synchronous']} | {found['journal_mode']} | {found['sqlite']} |"
        )
    lines += ["", "### Goals", "", "```", *results.figures(sizes), "```"]
    return "\n".join(lines) + "\n"


def comparisons(results, size):
    words = {"enqueue": "enqueue", "claim": "claim + complete", "own": "own way"}
    for step, word in words.items():
        best, ratio = results.best_peer(size, step), results.ratio(size, step)
        if best and ratio:
            yield f"- {word}: {ratio:.2f} times the best peer ({results.labels[best[1]]})"


def page(text, facts, sizes, rounds, seconds, pending):
    """docs/benchmarks.md."""
    machine_lines = "\n".join(f"| {name} | {fact} |" for name, fact in facts.items())
    return (
        "# Benchmarks\n\n"
        "How quick the queue is beside four others that store their jobs in SQLite. Written by "
        "`make bench-queue`; don't edit it.\n\n"
        f"{NOTES}\n"
        "## The last run\n\n"
        f"`make bench-queue`: {rounds} rounds, {seconds} s for each measurement, at least {pending:,} jobs "
        f"waiting before each claim, tables of {', '.join(map(short, sizes))} finished jobs.\n\n"
        f"| | |\n| --- | --- |\n{machine_lines}\n\n"
        f"{text}"
    )
