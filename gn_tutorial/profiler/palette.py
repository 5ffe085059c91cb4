"""Colours and texts that mean the same in every picture of this package, in Matplotlib and in a browser.

All colours but the greys and FASTER are those of Okabe and Ito (Color Universal Design, 2008), which readers with any
common form of colour blindness can distinguish. FASTER is from Paul Tol's "muted" palette (2021). A pipe's colour is
used for nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from gn_tutorial.abi.trace import Pipe

#: In the order of the data's path: the scalar unit issues, MTE2 copies in, V computes, MTE3 copies out.
PIPE_COLOURS = {Pipe.S: "#555555", Pipe.MTE2: "#0072B2", Pipe.V: "#E69F00", Pipe.MTE3: "#009E73"}
#: For quantities of no single pipe, such as the time of a launch: grey.
TOTAL = "#767676"
#: For a lower bound of the time, and for limits of the memory.
BOUND = "#56B4E9"
#: FASTER: for the better of two. SLOWER: for the worse, and for a refused value.
FASTER, SLOWER = "#332288", "#D55E00"
#: For the host function's choice.
CHOSEN = "#CC79A7"


class Look(NamedTuple):
    """The look of a pipe. colour: from PIPE_COLOURS. hatch: Matplotlib's pattern, for readers who see no colours.

    ink: the colour of text on ``colour``. does: the pipe's work, in two or three words."""

    colour: str
    hatch: str
    ink: str
    does: str


LOOKS = {
    Pipe.S: Look(PIPE_COLOURS[Pipe.S], "", "#ffffff", "scalar unit"),
    Pipe.MTE2: Look(PIPE_COLOURS[Pipe.MTE2], "//", "#ffffff", "GM to UB"),
    Pipe.V: Look(PIPE_COLOURS[Pipe.V], "", "#000000", "vector unit"),
    Pipe.MTE3: Look(PIPE_COLOURS[Pipe.MTE3], "\\\\", "#ffffff", "UB to GM"),
}
