"""Writes ``TEACHING.md``, which has the plans of plans.toml minute by minute: `./gnt lint notebooks --fix`.

``--check`` writes nothing, says whether the page differs, and ends with 1 if it does.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "teaching" / "TEACHING.md"
#: The rows of a plan that are no part of the course -> their titles.
PAUSES = {"pause": "Pause", "lunch": "Lunch"}

_HEAD = """# Teaching the course

<!-- Made from plans.toml: ./gnt lint notebooks --fix -->

Plans for the person in front of the room. Each part says what to show, what to ask, what goes wrong and what to say
then. The learners have done [before the workshop](before-the-workshop.md) the day before.

- Predict, then run: let everybody say a number before each picture. That is what they remember.
- Let kernels break. Learners read a report that they have caused, and skip one on a slide.
- Half of the time belongs to the exercises. Walk around, and ask to see the finding before you look at the code.
- Those who finish early go on with `gnt learn`; the others take the hints, and look at the solution after a pass.

Slides of a plan, made from the notebooks' own cells and outputs (`make_slides.py --help` says more):

```sh
python tools/pages/make_slides.py "Two hours" --out slides
```
"""


def load() -> dict[str, Any]:
    """The parts by name, and the plans."""
    return tomllib.loads((HERE / "plans.toml").read_text(encoding="utf-8"))


def notebook_file(number: str) -> Path:
    """The notebook of that number. Raises ValueError if there is none."""
    for path in (ROOT / "notebooks").glob(f"{number}_*.ipynb"):
        return path
    raise ValueError(f"plans.toml names notebook {number}, and there is none")


def clock(minutes: int) -> str:
    """Hours and minutes since the beginning."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def page(contents: Mapping[str, Any]) -> str:
    """TEACHING.md as a whole."""
    plans, parts = contents["plans"], contents["parts"]
    text = [_HEAD, *(_plan(plan, parts) for plan in plans), "\n## The parts\n", *map(_part, parts.values())]
    return "".join(text)


def _plan(plan: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    total = sum(minutes for _, minutes in plan["rows"])
    rows = "\n".join(_rows(plan["rows"], parts))
    head = "| from | minutes | part | exercises |\n|---|---|---|---|"
    return f"\n## {plan['name']}\n\n{clock(total)} hours, for {plan['for']}.\n\n{head}\n{rows}\n"


def _rows(rows: list[tuple[str, int]], parts: Mapping[str, Any]) -> Iterator[str]:
    began = 0
    for name, minutes in rows:
        if name in PAUSES:
            yield f"| {clock(began)} | {minutes} | *{PAUSES[name]}* | |"
        else:
            part = parts[name]
            anchor = "".join(one for one in part["title"].lower().replace(" ", "-") if one.isalnum() or one in "-_")
            yield f"| {clock(began)} | {minutes} | [{part['title']}](#{anchor}) | {', '.join(part.get('do', ()))} |"
        began += minutes


def _part(part: Mapping[str, Any]) -> str:
    notebook = f"[{part['notebook']}](../../notebooks/{notebook_file(part['notebook']).name})"
    cells = ", ".join(f"`{cell}`" for cell in part["show"])
    wrong = "".join(f"- {what} *Say:* {say}\n" for what, say in part["wrong"])
    do = f"**Do**: {', '.join(part['do'])}.\n\n" if "do" in part else ""
    return (
        f"\n### {part['title']}\n\n**Show**: notebook {notebook}, cells {cells}.\n\n"
        f"**Ask**: {part['ask']}\n\n{do}**What goes wrong**\n\n{wrong}"
    )


def main() -> int:
    """Write the page; with ``--check`` only compare it. Return 1 if it differs."""
    text = page(load())
    if "--check" in sys.argv[1:]:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        if not same:
            print("docs/teaching/TEACHING.md differs from plans.toml: ./gnt lint notebooks --fix")
        return int(not same)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
