"""What reading device code for C++ that CANN does not take costs: each compilation of a kernel pays it.

    python benchmarks/rules_cost.py [--rounds 9] [--json]

The text is the longest kernel with the headers that it shares with others, more than 3,000 lines. The figure is
processor time, the least of the rounds: a collection of the garbage of earlier work takes longer than the rules. The
target is half a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from gn_tutorial.cpp.portability_rules import OwnText, find
from gn_tutorial.operators.registry import find_kernel

TARGET = 0.5
LONGEST = "group_norm/any"


def longest_text() -> OwnText:
    """Return the kernel and every header of its folder and of ``kernels/common`` as one text."""
    kernel = find_kernel(LONGEST)[1].file
    headers = [*(kernel.parents[1] / "common").glob("*.h"), *kernel.parent.glob("*.h")]
    text = "\n".join(path.read_text("utf-8") for path in [*sorted(headers), kernel])
    return OwnText(text, tuple((kernel.name, line) for line in range(1, text.count("\n") + 2)))


def seconds(own: OwnText, rounds: int) -> float:
    """Return the least processor time of one reading."""
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        if find(own):
            raise SystemExit("the rules find something in a kernel of the registry: ./gnt test tests/compiler")
        found.append(time.process_time() - begin)
    return min(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("--rounds must be at least 1")
    own = longest_text()
    least = seconds(own, given.rounds)
    row = {"kernel": LONGEST, "lines": len(own.places), "seconds": least, "target": TARGET, "met": least <= TARGET}
    if given.json:
        print(json.dumps(row, indent=2))
    else:
        verdict = "met" if row["met"] else "MISSED"
        print(f"{LONGEST}, {len(own.places):,} lines: {least:.3f} s, at most {TARGET:g}: {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
