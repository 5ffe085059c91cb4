"""The layout of a job file: pages and alignment of each argument."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.runtime.launch_types import LaunchArg
from gn_tutorial.runtime.mapping import BLOCK
from gn_tutorial.runtime.shared_memory import SharedMemory

#: Alignment in bytes of each tensor in global memory, as strict as that of a device allocation.
ALIGNMENT = 512
PAGE = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class ArgPlace:
    """The place of one argument in the file. data_at, pages_at: offsets in bytes from the file's start.

    pages_at: 0 if the argument has no pages of its own. own: separate memory for these pages; None if they are part of
    the file.
    """

    arg: LaunchArg
    data_at: int
    pages_at: int = 0
    pages_bytes: int = 0
    own: SharedMemory | None = None


def tail_bytes(arg: LaunchArg) -> int:
    """Return the number of bytes behind an array that a copy of whole blocks may touch, as on the device.

    On the device, aclrtMalloc rounds every size up to 32 bytes and adds 32 (docs of CANN 8.0, aclcppdevg_03_0095). The
    launch's result does not contain these bytes.
    """
    return -(-arg.nbytes // 32) * 32 + 32 - arg.nbytes if arg.nbytes else 0


class JobLayout:
    """Allocates ranges of a file one after the other. taken: bytes in use at the file's start.

    bytes: the file's size so far. head_bytes: the whole pages before the first tensor's pages, known after
    ``arguments``. texts: file offset and bytes of each text that ``place_texts`` placed.
    """

    def __init__(self, taken: int) -> None:
        self.bytes = taken
        self.head_bytes = 0
        self.texts: list[tuple[int, bytes]] = []

    def take(self, size: int, alignment: int = 64) -> int:
        """Allocate ``size`` bytes and return their offset in the file."""
        at = -(-self.bytes // alignment) * alignment
        self.bytes = at + size
        return at

    def place_texts(self, texts: Sequence[bytes | None]) -> list[int]:
        """Allocate NUL-terminated texts, add them to ``self.texts``, and return their file offsets; 0 for None."""
        places = []
        for text in texts:
            places.append(0 if text is None else self.take(len(text) + 1, 1))
            if text is not None:
                self.texts.append((places[-1], text + b"\0"))
        return places

    def arguments(self, args: Sequence[LaunchArg]) -> list[ArgPlace]:
        """Allocate a place for each argument, and return the places in the arguments' order.

        Values come first in the file, so that the launcher can map the tensors apart from everything else.
        """
        placed = {arg.name: ArgPlace(arg, self.take(arg.nbytes)) for arg in args if arg.kind == ArgKind.VALUE}
        self.head_bytes = self.take(0, PAGE)
        for arg in args:
            if arg.same_as:
                placed[arg.name] = ArgPlace(arg, placed[arg.same_as].data_at)
            elif arg.name not in placed:
                placed[arg.name] = self._tensor(arg)
        return [placed[arg.name] for arg in args]

    def _tensor(self, arg: LaunchArg) -> ArgPlace:
        room = -(-(arg.nbytes + tail_bytes(arg)) // ALIGNMENT) * ALIGNMENT
        pages_bytes = -(-room // PAGE) * PAGE
        # A large tensor begins where a huge page can begin.
        beginning = BLOCK if pages_bytes >= BLOCK else PAGE
        pages_at = self.take(pages_bytes, beginning)
        return ArgPlace(arg, pages_at + pages_bytes - room, pages_at, pages_bytes)
