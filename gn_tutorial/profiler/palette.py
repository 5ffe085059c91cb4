"""The colours that mean the same in every picture of this package.

Of Okabe and Ito's palette (Color Universal Design, 2008), which every common form of colour blindness can tell apart.
"""

from gn_tutorial.abi.trace import Pipe

#: In the order of the data's way: the scalar unit issues, MTE2 brings in, V computes, MTE3 takes out.
PIPE_COLOURS = {Pipe.S: "#555555", Pipe.MTE2: "#0072B2", Pipe.V: "#E69F00", Pipe.MTE3: "#009E73"}
#: What several pipes do together, or no pipe alone.
TOTAL = "#767676"
