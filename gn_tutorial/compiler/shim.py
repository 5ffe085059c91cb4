"""Makes the text that is compiled for a kernel: the twin's headers, the source, and a table of its entries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from gn_tutorial.compiler.dtype_macros import LIBC_NAMES
from gn_tutorial.cpp.entries import Entry
from gn_tutorial.cpp.launches import MAIN
from gn_tutorial.cpp.portability_rules import CHECKS, NOTHING_READ

# Every header that declares a function of LIBC_NAMES, in the spellings of C++ and of C. These headers are included
# before macros rename the kernels, because the macros would rename the declarations, too.
_LIBC_HEADERS = ("cmath", "cstdlib", "cstring", "math.h", "stdlib.h", "string.h", "strings.h", "sys/select.h")
#: The entry of a complete sample's own main.
MAIN_ENTRY = "main"


@dataclass(frozen=True)
class Shim:
    """The text to compile for a kernel. ``lines`` finds the kernel's line for an error in the table of entries."""

    source: PurePath
    observed: bool
    entries: tuple[Entry, ...]
    data_types: bool  # whether DT_FLOAT16, DT_FLOAT and so on are macros
    includes: tuple[PurePath, ...] = ()

    @property
    def head(self) -> list[str]:
        """Return the lines above the table of entries."""
        # A macro renames a kernel that has the name of a C library function. The macro stands after the library's
        # headers.
        renamed = [f"#define {name} gnt_kernel_{name}" for name in self._hiding()]
        return [
            f"#define GNT_OBSERVED {int(self.observed)}",
            '#include "kernel_operator.h"',
            *(
                ["#define GNT_DATA_TYPE_MACROS 1", '#include "gn_twin/base/data_type_macros.h"']
                if self.data_types
                else []
            ),
            *([*(f"#include <{header}>" for header in _LIBC_HEADERS), *renamed] if renamed else []),
            *(f'#include "{one}"' for one in (*self.includes, self.source)),
            *(f"#undef {name}" for name in self._hiding()),
            '#include "gn_twin/core/launch.h"',
            "GNT_LIBRARY_BEGIN",
        ]

    @property
    def text(self) -> str:
        """Return the whole text, except for the table of source findings of an observed library."""
        # The table is appended when the library is compiled (``build_request``).
        found = f"// source checks {CHECKS}\n" if self.observed else NOTHING_READ
        return "\n".join([*self.head, *(self._line(entry) for entry in self.entries), "GNT_LIBRARY_END", found])

    @property
    def lines(self) -> dict[int, int]:
        """Return a map: line of an entry in the table -> its line in the kernel."""
        first = len(self.head) + 1
        return {first + index: entry.line for index, entry in enumerate(self.entries)}

    def _hiding(self) -> list[str]:
        return sorted({entry.name for entry in self.entries} & LIBC_NAMES)

    def _line(self, entry: Entry) -> str:
        if entry.name == MAIN_ENTRY:
            return f"GNT_MAIN_ENTRY({MAIN})"
        if entry.name in LIBC_NAMES:
            return f'GNT_NAMED_ENTRY("{entry.name}", gnt_kernel_{entry.name})'
        if "<" in entry.name:
            return f'GNT_NAMED_ENTRY("{entry.name}", {entry.name})'
        return f"GNT_ENTRY({entry.name})"
