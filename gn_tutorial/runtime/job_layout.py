"""Where things lie in a job file: guards, pages and alignment of each argument."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.runtime.launch_types import LaunchArg
from gn_tutorial.runtime.mapping import BLOCK
from gn_tutorial.runtime.shared_memory import SharedMemory

#: Start of each tensor in global memory, in bytes. No looser than what a device allocation gives.
ALIGNMENT = 512
PAGE = mmap.PAGESIZE
#: Before and after each tensor; costs addresses, not memory. More than any Unified Buffer holds, so that no copy that
#: begins inside a tensor can jump over it.
GUARD = 256 * 1024


@dataclass(frozen=True, slots=True)
class ArgPlace:
    """Where one argument lies in the file, in bytes from its start. ``pages_at``: 0 without pages of its own.

    own: the memory that its pages are, if not the file's.
    """

    arg: LaunchArg
    data_at: int
    pages_at: int = 0
    pages_bytes: int = 0
    own: SharedMemory | None = None


def tail_bytes(arg: LaunchArg) -> int:
    """Bytes behind an array that a copy rounded up to whole blocks may touch: aclrtMalloc has them too.

    It rounds every size up to 32 bytes and adds 32 (docs of CANN 8.0, aclcppdevg_03_0095). They are not in the result.
    """
    return -(-arg.nbytes // 32) * 32 + 32 - arg.nbytes if arg.nbytes else 0


class JobLayout:
    """Hands out places in a file from its start to its end."""

    def __init__(self, taken: int) -> None:
        self.bytes = taken
        self.texts: list[tuple[int, bytes]] = []

    def take(self, size: int, alignment: int = 64) -> int:
        """Where ``size`` bytes lie."""
        at = -(-self.bytes // alignment) * alignment
        self.bytes = at + size
        return at

    def text(self, text: bytes) -> int:
        """Where a text lies, which ``texts`` has, ended by a NUL."""
        at = self.take(len(text) + 1, 1)
        self.texts.append((at, text + b"\0"))
        return at

    def arguments(self, args: Sequence[LaunchArg]) -> list[ArgPlace]:
        """A place for each. Values come first: between the tensors is nothing that the kernel may touch."""
        placed: dict[str, ArgPlace] = {}
        for arg in sorted(args, key=lambda one: one.kind != ArgKind.VALUE):
            placed[arg.name] = ArgPlace(arg, placed[arg.same_as].data_at) if arg.same_as else self._argument(arg)
        return [placed[arg.name] for arg in args]

    def _argument(self, arg: LaunchArg) -> ArgPlace:
        if arg.kind == ArgKind.VALUE:
            return ArgPlace(arg, self.take(arg.nbytes))
        room = -(-(arg.nbytes + tail_bytes(arg)) // ALIGNMENT) * ALIGNMENT
        pages_bytes = -(-room // PAGE) * PAGE
        # A large one begins where a huge page may.
        beginning = BLOCK if pages_bytes >= BLOCK else PAGE
        pages_at = -(-(self.bytes + GUARD) // beginning) * beginning
        self.bytes = pages_at + pages_bytes + GUARD
        return ArgPlace(arg, pages_at + pages_bytes - room, pages_at, pages_bytes)
