"""Shows the values that a puzzle's lines wrote beside the expected ones, lane by lane: as SVG, or as characters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby

import numpy as np

from gn_tutorial.compare.elements import shown
from gn_tutorial.profiler.palette import CHOSEN, FASTER, SLOWER, TOTAL

#: Stands for the block number of an element that several blocks wrote.
SEVERAL = -2
#: The most boxes in a row (a vector repeat has 64 floats) and in a picture. Boxes show their values if each is one lane
#: and no row has more than _NUMBERED.
_ROW, _MOST, _NUMBERED = 64, 256, 16
_LEFT, _WIDTH, _WIDEST, _HEIGHT = 78.0, 576.0, 48.0, 15.0


@dataclass(frozen=True)
class _State:
    """A state of a lane after the lines ran, and how the picture shows it.

    sign: the character in a terminal. words: the meaning. colour: the colour of the box, "" if nothing wrote the lane.
    mark: the character in the box.
    """

    sign: str
    words: str
    colour: str
    mark: str = ""


#: A box for several lanes shows the first of these states that any of its lanes has.
_STATES = {
    "spoilt": _State("!", "written, and should not be", SLOWER, "!"),
    "wrong": _State("x", "written, wrong", SLOWER, "x"),
    "missing": _State("o", "not written, and should be", "", "o"),
    "right": _State("=", "written, right", FASTER),
    "left": _State(".", "left as it was, right", ""),
}
#: The colours of blocks, used in turn; a box also shows the number of the block that wrote it.
_BLOCKS = (FASTER, TOTAL, CHOSEN)
#: The colour of text on each colour, with a contrast of at least 4.5 to 1.
_INKS = {FASTER: "#ffffff", TOTAL: "#ffffff", SLOWER: "#000000", CHOSEN: "#000000"}


@dataclass(frozen=True)
class Lanes:
    """One output of a puzzle. A lane is one element; wrong, empty and meant are flat masks with a value for each lane.

    wrong: the lane has a wrong value. empty: nothing wrote the lane. meant: the lane should stay as it was.
    blocks: the number of the block that wrote each lane, -1 for none, or SEVERAL; None if the picture shows no blocks.
    """

    name: str
    got: np.ndarray
    want: np.ndarray
    wrong: np.ndarray
    empty: np.ndarray
    meant: np.ndarray
    blocks: np.ndarray | None = None

    @property
    def each(self) -> int:
        """The number of lanes that one box stands for."""
        return -(-self.wrong.size // _MOST)

    def states(self) -> list[str]:
        """Return the state of each box, a key of _STATES."""
        lanes = [
            ("spoilt" if meant else "missing" if empty else "wrong") if wrong else ("left" if meant else "right")
            for wrong, empty, meant in zip(self.wrong, self.empty, self.meant, strict=True)
        ]
        parts = (lanes[first : first + self.each] for first in range(0, len(lanes), self.each))
        return [next(key for key in _STATES if key in part) for part in parts]

    def rows(self) -> Iterator[range]:
        """Yield the boxes of each row of the picture: as many as a row of the array has lanes, 64 for a vector.

        If the array's row has more than 64 lanes, a row of the picture has 64 boxes too.
        """
        boxes = -(-self.wrong.size // self.each)
        columns = self.got.shape[-1] if self.got.ndim > 1 and self.got.shape[-1] <= _ROW else _ROW
        for first in range(0, boxes, columns):
            yield range(first, min(first + columns, boxes))

    def text(self) -> str:
        """Return the picture as text: one character for each box, and a legend."""
        states = self.states()
        several = f", {self.each} for each sign" if self.each > 1 else ""
        lines = [f"{self.name}, {self.wrong.size:,} lane{'s' * (self.wrong.size != 1)}{several}"]
        for row in self.rows():
            expected = "".join("." if self._meant(box) else "=" for box in row)
            lines.append(f"  {row[0] * self.each:5}  expected |{expected}|")
            lines.append(f"         got      |{''.join(_STATES[states[box]].sign for box in row)}|")
        lines.append("  " + ", ".join(f"{one.sign} {one.words}" for key, one in _STATES.items() if key in states))
        lines += [f"  {who} wrote {spot}" for who, spot in self._runs()]
        return "\n".join(lines)

    def svg(self) -> str:
        """Return the picture as SVG. Each row has a strip of expected values above a strip of written ones.

        If the picture shows blocks, a third strip has the number of the block that wrote the box's first lane. Tooltips
        show the values.
        """
        states, parts, top = self.states(), [], 18.0
        widest = max(len(row) for row in self.rows())
        width = min(_WIDTH / widest, _WIDEST)
        numbered = widest <= _NUMBERED and self.each == 1
        for row in self.rows():
            parts.append(_label(top, f"{self.name}[{row[0] * self.each}]"))
            for column, box in enumerate(row):
                x, state = _LEFT + column * width, _STATES[states[box]]
                want, got = (shown(one.reshape(-1)[box * self.each]) for one in (self.want, self.got))
                meant = self._meant(box)
                tip = escape(f"{self._spot(box)}: expected {'no change' if meant else want}, got {got}")
                parts.append(_box(x, top, width, "" if meant else TOTAL, tip))
                parts.append(_box(x, top + _HEIGHT + 2, width, state.colour, tip))
                if numbered and not meant:
                    parts.append(_word(x, top, width, want, TOTAL))
                word = got if numbered and state.mark != "o" else state.mark
                parts.append(_word(x, top + _HEIGHT + 2, width, word, state.colour) if word else "")
                if self.blocks is not None:
                    parts += self._block_box(box, x, top + 2 * _HEIGHT + 4, width)
            if self.blocks is not None:
                parts.append(_label(top + 2 * _HEIGHT + 4, "by block"))
            top += (3 if self.blocks is not None else 2) * (_HEIGHT + 2) + 8
        several = f" ({self.each} lanes a box)" if self.each > 1 else ""
        said = ", ".join(f"{states.count(key)} {one.words}" for key, one in _STATES.items() if key in states)
        title = escape(f"{self.name}{several}: expected above, got below; {said}")
        right = max(_LEFT + widest * width + 2, 480.0)
        return (
            f'<svg role="img" aria-label="{title}" width="{right:g}" height="{top:g}" viewBox="0 0 {right:g} {top:g}" '
            f'style="min-width:{right:g}px" font-family="sans-serif">'
            f'<text x="0" y="11" font-size="11" fill="currentColor">{title}</text>'
            f'<g stroke="currentColor" stroke-opacity="0.4" stroke-width="0.5">{"".join(parts)}</g></svg>'
        )

    def _meant(self, box: int) -> bool:
        return bool(self.meant[box * self.each : (box + 1) * self.each].all())

    def _spot(self, box: int) -> str:
        first, last = box * self.each, min((box + 1) * self.each, self.wrong.size) - 1
        return f"{self.name}[{first}]" + (f" to {self.name}[{last}]" if last > first else "")

    def _block_box(self, box: int, x: float, top: float, width: float) -> list[str]:
        block = int(self.blocks[box * self.each]) if self.blocks is not None else -1
        if block == SEVERAL:
            tip = f"{self._spot(box)}: several blocks"
            return [_box(x, top, width, SLOWER, tip), _word(x, top, width, "+", SLOWER)]
        if block < 0:
            return [_box(x, top, width, "", f"{self._spot(box)}: no block")]
        tip = f"{self._spot(box)}: block {block}"
        colour = _BLOCKS[block % len(_BLOCKS)]
        return [_box(x, top, width, colour, tip), _word(x, top, width, str(block), colour)]

    def _runs(self) -> Iterator[tuple[str, str]]:
        """Yield ("block 1", "y[0] to y[7]") for each run of lanes that one block, or several blocks, wrote."""
        at = 0
        for block, run in groupby([] if self.blocks is None else self.blocks.tolist()):
            length = len(list(run))
            if block != -1:
                yield (
                    "several blocks" if block == SEVERAL else f"block {block}",
                    f"{self.name}[{at}] to {self.name}[{at + length - 1}]",
                )
            at += length


def _box(x: float, top: float, width: float, colour: str, tip: str) -> str:
    fill = f'fill="{colour}"' if colour else 'fill="currentColor" fill-opacity="0.06"'
    return (
        f'<rect x="{x:.1f}" y="{top:g}" width="{max(width - 0.5, 1):.1f}" height="{_HEIGHT:g}" {fill}>'
        f"<title>{tip}</title></rect>"
    )


def _word(x: float, top: float, width: float, text: str, ground: str) -> str:
    """Return text in the middle of a box of colour ``ground``. SVG ignores background-color; contrast tests read it."""
    ink = _INKS.get(ground, "currentColor")
    below = f' style="background-color:{ground}"' if ground else ""
    return (
        f'<text x="{x + width / 2:.1f}" y="{top + 11:g}" font-size="10" text-anchor="middle" stroke="none" '
        f'pointer-events="none" fill="{ink}"{below}>{escape(text[: max(int(width // 6), 1)])}</text>'
    )


def _label(top: float, text: str) -> str:
    return f'<text x="0" y="{top + 12:g}" font-size="11" stroke="none" fill="currentColor">{escape(text)}</text>'
