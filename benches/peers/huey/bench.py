"""Measures huey with its SqliteHuey, whose storage is one connection behind a lock, shared by threads.

huey deletes a task as it is claimed and keeps nothing of finished ones but their results, when they have
any. So `claim` runs tasks that return a value: taking it and storing its result are two commits, as with
the others. `own` runs tasks without a result, huey's own way: one commit, and a task in flight at a
crash is lost.
"""

import argparse
import json
import logging
import pickle
import sqlite3
import threading
import time

from huey import SqliteHuey

PRODUCERS = 16
WORKERS = 8
PAYLOAD = "Summarize the quarterly figures in five sentences."

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["fill", "enqueue", "claim", "own"])
parser.add_argument("--database", required=True)
parser.add_argument("--finished", type=int, default=0)
parser.add_argument("--pending", type=int, default=0)
parser.add_argument("--seconds", type=float, default=1)
arguments = parser.parse_args()

logging.getLogger("huey").setLevel(logging.ERROR)
huey = SqliteHuey("bench", filename=arguments.database, fsync=True, journal_mode="wal")


@huey.task()
def with_result(payload):
    return True


@huey.task()
def without_result(payload):
    return None


def print_line(**line):
    print(json.dumps(line), flush=True)


def print_durability():
    [(synchronous,)] = huey.storage.sql("pragma synchronous", results=True)
    [(journal_mode,)] = huey.storage.sql("pragma journal_mode", results=True)
    print_line(
        measure="durability",
        synchronous=synchronous,
        journal_mode=journal_mode,
        sqlite=sqlite3.sqlite_version,
    )


def careless():
    """A connection that does not care what a crash would do."""
    connection = sqlite3.connect(arguments.database, isolation_level=None)
    connection.execute("pragma synchronous = off")
    return connection


def fill():
    connection = careless()
    connection.execute(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < ?) "
        "insert into kv (queue, key, value) "
        "select 'bench', printf('00000000-0000-4000-8000-%012x', i), ? from n",
        (arguments.finished, pickle.dumps(True)),
    )
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()


def make_pending(task):
    """Empties the line and puts so many tasks into it, each with an identifier of its own."""
    connection = careless()
    connection.execute("begin")
    connection.execute("delete from task")
    connection.executemany(
        "insert into task (queue, data, priority) values ('bench', ?, 0)",
        ((huey.serialize_task(task.s(PAYLOAD)),) for _ in range(arguments.pending)),
    )
    connection.execute("commit")
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()


def run_for(threads, step):
    """Runs `step` in so many threads until the time is over or a step finds nothing to do."""
    counts = [0] * threads
    began = time.perf_counter()
    deadline = began + arguments.seconds

    def loop(number):
        while time.perf_counter() < deadline and step():
            counts[number] += 1

    running = [threading.Thread(target=loop, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sum(counts), time.perf_counter() - began


def percentile(latencies, share):
    if not latencies:
        return None
    return sorted(latencies)[round((len(latencies) - 1) * share)] * 1e6


def print_throughput(measure, jobs, seconds, claims=(), cycles=()):
    print_line(
        measure=measure,
        jobs=jobs,
        seconds=seconds,
        jobs_per_second=jobs / seconds,
        claim_p50_us=percentile(claims, 0.5),
        claim_p99_us=percentile(claims, 0.99),
        cycle_p50_us=percentile(cycles, 0.5),
        cycle_p99_us=percentile(cycles, 0.99),
    )


def enqueue():
    print_durability()

    def produce():
        without_result(PAYLOAD)
        return True

    print_throughput("enqueue", *run_for(PRODUCERS, produce))


def claim(measure, task):
    make_pending(task)
    print_durability()
    claims, cycles = [], []

    def work():
        began = time.perf_counter()
        claimed = huey.dequeue()
        claims.append(time.perf_counter() - began)
        if claimed is None:
            return False
        huey.execute(claimed)
        cycles.append(time.perf_counter() - began)
        return True

    print_throughput(measure, *run_for(WORKERS, work), claims, cycles)


if arguments.command == "fill":
    fill()
elif arguments.command == "enqueue":
    enqueue()
elif arguments.command == "claim":
    claim("claim", with_result)
else:
    claim("own", without_result)
