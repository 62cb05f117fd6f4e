"""What the contenders measured, and what follows from it."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

OURS = "gistmill"
GOAL = 3
LARGEST_GROWTH = 2


@dataclass(frozen=True)
class Contender:
    """A queue that takes part."""

    name: str
    label: str
    prepare: Callable


def short(size):
    return f"{size // 1_000_000}m" if size >= 1_000_000 else f"{size // 1_000}k"


class Results:
    """Everything that was printed, by contender."""

    def __init__(self, contenders):
        self.labels = {contender.name: contender.label for contender in contenders}
        self.durability = {}
        self.troubles = {}
        self._values = defaultdict(list)
        self._disturbances = [0.0]

    def failed(self, name, reason):
        print(f"  {name}: {reason}", flush=True)
        self.troubles.setdefault(name, reason)

    def disturbed(self, cores):
        """Remembers how many cores other programs used during a measurement."""
        self._disturbances.append(cores)

    def typical_disturbance(self):
        return median(self._disturbances)

    def worst_disturbance(self):
        return max(self._disturbances)

    def is_out(self, name):
        return name in self.troubles

    def add(self, name, size, output):
        """Keeps the lines of a program; yields them in few words."""
        for text in output.splitlines():
            line = json.loads(text)
            measure = line.pop("measure")
            if measure == "durability":
                self.durability[name] = line
                if (line["synchronous"], line["journal_mode"]) != (2, "wal"):
                    self.failed(name, "its connection is not WAL with synchronous=FULL")
                yield f"synchronous={line['synchronous']} journal_mode={line['journal_mode']}"
                continue
            for key, value in line.items():
                if value is not None:
                    self._values[name, size, measure, key].append(value)
            p99 = line["claim_p99_us"]
            claims = "" if p99 is None else f", claim p99 {p99:,.0f} µs"
            yield f"{measure} {line['jobs_per_second']:,.0f} jobs/s{claims}"

    def value(self, name, size, measure, key="jobs_per_second"):
        """The median of the rounds; `None` when nothing was measured."""
        values = self._values.get((name, size, measure, key))
        return median(values) if values else None

    def best_peer(self, size, measure):
        """The quickest peer that is durable and finished, and its rate."""
        rates = [
            (rate, name)
            for name in self.labels
            if name != OURS and not self.is_out(name)
            if (rate := self.value(name, size, measure)) is not None
        ]
        return max(rates, default=None)

    def ratio(self, size, measure):
        ours, best = self.value(OURS, size, measure), self.best_peer(size, measure)
        return ours / best[0] if ours and best else None

    def growth(self, sizes):
        """How many times longer the slowest claims of the largest table are than those of the smallest."""
        small = self.value(OURS, sizes[0], "claim", "claim_p99_us")
        large = self.value(OURS, sizes[-1], "claim", "claim_p99_us")
        return large / small if small and large else None

    def figures(self, sizes):
        """The lines that say whether the goals are met."""
        for measure, name in (("enqueue", "enqueue"), ("claim", "claim"), ("own", "own-way")):
            for size in sizes:
                ratio = self.ratio(size, measure)
                yield figure(f"{name}-ratio-{short(size)}", ratio, f">={GOAL}", lambda r: r >= GOAL)
        growth = self.growth(sizes)
        name = f"claim-p99-{short(sizes[-1])}-to-{short(sizes[0])}"
        yield figure(name, growth, f"<={LARGEST_GROWTH}", lambda g: g <= LARGEST_GROWTH)


def figure(name, value, goal, is_met):
    if value is None:
        return f"figure {name} nan x goal {goal} missed"
    return f"figure {name} {value:.2f} x goal {goal} {'met' if is_met(value) else 'missed'}"
