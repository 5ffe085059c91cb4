"""2,000 submissions judged by ``gnt judge``: are all verdicts as named, how many a minute, what do more workers bring.

    python benchmarks/judge_many.py [--count 2000] [--workers 1 2] [--kills 3] [--only exercise|exam] [--json]

The texts are variations of the course's named right and wrong solutions (tests/support/varied_texts.py); each is new,
and no judgement is known before. Every number of workers gets texts of its own, --count of them. --kills ends so many
judging processes, each in the middle of a text. Prints, for each number of workers, texts a minute and the processor
time of a text (of compilers, kernels and judges; attempts in Python are processes that it does not count); then every
verdict that is not the named one. Exit code 1 if one is wrong.

A part of it is quick: --count 60 --only exercise. The first texts of a judge take longest: what its cache lacks (the
headers, precompiled; for notebook 12 the host API) is made once by each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from varied_texts import Named, complaints, lay_out, named_exercises, named_tasks, varied  # noqa: E402

from gn_tutorial.course.classroom import process_tree, scheduler  # noqa: E402
from gn_tutorial.course.classroom.judge_class import HowFar, Where, judge_class  # noqa: E402


class Killer:
    """Ends ``kills`` judging processes, each a moment after a judgement, while another text is being judged."""

    def __init__(self, kills: int, texts: int) -> None:
        self._rng = random.Random(7)
        self._at = {self._rng.randrange(1, texts) for _ in range(kills)}
        self.ended: list[int] = []

    def look(self, progress: HowFar) -> None:
        """Note a judgement, and perhaps end a process."""
        if progress.done in self._at:
            threading.Timer(0.3, self._end_one).start()

    def _end_one(self) -> None:
        running = [one.pid for one in scheduler.running() if one.pid]
        if running:
            self.ended.append(self._rng.choice(running))
            process_tree.end(self.ended[-1])


def run(texts: Sequence[Named], workers: int, kills: int) -> dict[str, object]:
    """Judge the texts with so many workers, and return the figures."""
    killer = Killer(kills, len(texts))
    with tempfile.TemporaryDirectory(prefix="gnt-many-") as place:
        folder = Path(place) / "class"
        named = lay_out(texts, folder)
        begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        found = judge_class(folder, Path(place) / "judged", Where(workers), tell=killer.look)
        wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        own = sum(getattr(after, one) - getattr(before, one) for one in ("ru_utime", "ru_stime"))
        return {
            "workers": workers,
            "texts": len(texts),
            "wall_seconds": round(wall, 1),
            "texts_a_minute": round(len(texts) / wall * 60, 1),
            "processor_seconds_a_text": round(own / len(texts), 2),
            "seconds_a_text_median": sorted(row.seconds for row in found.rows)[len(found.rows) // 2],
            "killed": len(killer.ended),
            "complaints": complaints(found.rows, named),
            "alike": len(found.alike),
        }


def main() -> None:
    """Parse the options, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--workers", type=int, nargs="+", default=[scheduler.cores()])
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--only", choices=("exercise", "exam"))
    parser.add_argument("--seed", type=int, default=0, help="another order of the named texts, so another part of them")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        named = named_exercises() if asked.only != "exam" else []
        named += named_tasks(Path(folder)) if asked.only != "exercise" else []
    random.Random(asked.seed).shuffle(named)
    texts = list(varied(named, asked.count * len(asked.workers)))
    print(f"{len(named)} named texts, {asked.count} variations a run, {os.cpu_count()} processors", file=sys.stderr)
    wrong = 0
    for number, workers in enumerate(asked.workers):
        found = run(texts[number * asked.count : (number + 1) * asked.count], workers, asked.kills)
        said = found.pop("complaints")
        wrong += len(said)
        print(
            json.dumps(found | {"complaints": said}) if asked.json else "  ".join(f"{k} {v}" for k, v in found.items())
        )
        if not asked.json:
            print("\n".join(f"  {one}" for one in said) or "  every verdict is as named", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
