"""The colours and words that mean the same in every picture of this package, be it drawn by Matplotlib or a browser.

Of Okabe and Ito's palette (Color Universal Design, 2008), which every common form of colour blindness can tell apart;
FASTER is of Paul Tol's "muted" one (2021). The colour of a pipe stands for nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from gn_tutorial.abi.trace import Pipe

#: In the order of the data's way: the scalar unit issues, MTE2 brings in, V computes, MTE3 takes out.
PIPE_COLOURS = {Pipe.S: "#555555", Pipe.MTE2: "#0072B2", Pipe.V: "#E69F00", Pipe.MTE3: "#009E73"}
#: What several pipes do together, or no pipe alone: the time of a launch. Grey, or the ink of the text.
TOTAL = "#767676"
#: What nothing can be faster than: a bound, a binding limit, the memory.
BOUND = "#56B4E9"
#: The better and the worse of two, and what is refused.
FASTER, SLOWER = "#332288", "#D55E00"
#: What the host function chose.
CHOSEN = "#CC79A7"


class Look(NamedTuple):
    """colour: of PIPE_COLOURS. hatch: so that no colour is needed at all. ink: of text upon it. does: what the pipe
    does, in three words."""

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
