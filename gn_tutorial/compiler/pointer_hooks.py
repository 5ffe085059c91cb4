"""Makes a kernel report its accesses through plain pointers, by its assembly.

On the twin, ``GetPhyAddr`` and ``(__gm__ float*)x`` give ordinary pointers, so a load or a store through one is no
operation of the twin. With ``-fsanitize=thread`` g++ and clang call a function before each access to memory. The
compiler writes assembly with these calls. There, each call in a line of the learner's goes to
``gn_twin/tensor/pointer_hooks.h`` and gets the line as one more argument. Calls in lines of the twin, whose operations
are events already, are removed. So no part of ThreadSanitizer is linked, and a launch looks up no address.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.compiler.toolchain import ELF, Compiler

# Calls at the entry and exit of functions are not needed. A jump in place of a call and a return would not be found.
_SHARED = ("-fsanitize=thread", "-fno-optimize-sibling-calls", "-DGNT_POINTER_HOOKS=1")
_FLAGS = {
    "g++": ("--param=tsan-instrument-func-entry-exit=0",),
    # clang inserts the calls after vectorising, but reports no access of more than 16 bytes; and of `x[0] += 1` only
    # the store.
    "clang++": (
        *("-fno-vectorize", "-fno-slp-vectorize"),
        *("-mllvm", "-tsan-instrument-read-before-write=1"),
        *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
        *("-mllvm", "-tsan-instrument-atomics=0"),
        # clang 14 keeps vectors in places that it takes for aligned to 32 bytes, in functions that align no stack.
        "-mstackrealign",
    ),
}
#: The number of bits of a line in a site: ``kLineBits`` of gn_twin/tensor/pointer_hooks.h.
_LINE_BITS = 20
_FILE = re.compile(rb'\t\.file[ \t](\d+) "((?:[^"\\]|\\.)*)"(?: "((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(rb"\t\.loc[ \t](\d+) (\d+)")
_ACCESS = re.compile(rb"__tsan_(?:unaligned_)?(read|write)(_range|\d+)")
_DROPPED = re.compile(rb"__tsan_(?:vptr_\w+|func_\w+|init)")
_MEMORY = {b"memcpy": b"gnt_pointer_copy", b"memmove": b"gnt_pointer_copy", b"memset": b"gnt_pointer_fill"}
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)")
# What a file of the assembly is among sites, if it is none of the learner's: these are numbered from 1.
_OF_THE_TWIN, _OF_OTHERS = 0, -1


@dataclass(frozen=True)
class _Processor:
    """The assembly of one processor: a call of a function; how to call one; and how to set its arguments."""

    call: re.Pattern[bytes]
    to_call: bytes
    arguments: tuple[bytes, ...]
    to_set: bytes  # the argument, the lower 16 bits of a number, and the number without them

    def set(self, argument: int, number: int) -> bytes:
        """Return the line that sets an argument, counted from 0."""
        low, high = number & 0xFFFF, number >> 16
        return self.to_set % {b"to": self.arguments[argument], b"all": number, b"low": low, b"high": high}


_X86 = _Processor(
    re.compile(rb"\tcallq?\t(\w+)(?:@PLT)?$"),
    b"\tcall\t%b",
    (b"%edi", b"%esi", b"%edx", b"%ecx"),
    b"\tmovl\t$%(all)d, %(to)b",
)
_ARM = _Processor(
    re.compile(rb"\tbl\t(\w+)$"),
    b"\tbl\t%b",
    (b"w0", b"w1", b"w2", b"w3"),
    b"\tmov\t%(to)b, %(low)d\n\tmovk\t%(to)b, %(high)d, lsl 16",
)
_PROCESSORS = {"x86_64": _X86, "aarch64": _ARM}


def hook_flags(compiler: Compiler) -> tuple[str, ...] | None:
    """Return the flags with which the compiler inserts the calls; None if it cannot, or for another system."""
    if not ELF or platform.machine() not in _PROCESSORS or compiler.name not in _FLAGS:
        return None
    return (*_SHARED, *_FLAGS[compiler.name])


def bounds_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return the flags with which the compiler calls ``tensor/array_bounds.h`` for an index outside an array."""
    return {"g++": ("-fsanitize=bounds",), "clang++": ("-fsanitize=array-bounds",)}.get(compiler.name, ())


def with_sites(assembly: bytes, is_own: Callable[[Path], bool], twin: Path) -> bytes:
    """Return the assembly with the calls in lines of the learner's, as ``is_own`` says, and without the others.

    A line of another header, such as the standard library's, counts as the learner's line before it in the same
    function. twin: the folder of the twin's headers.
    """
    processor = _PROCESSORS[platform.machine()]
    files: dict[bytes, int] = {}
    paths: list[bytes] = []
    site = 0  # the learner's file and line; 0: none
    out: list[bytes] = []
    for line in assembly.split(b"\n"):
        if line.startswith(b"\t.loc") and (found := _LOC.match(line)):
            number = files.get(found[1], _OF_OTHERS)
            if number != _OF_OTHERS:
                site = number and number << _LINE_BITS | min(int(found[2]), (1 << _LINE_BITS) - 1)
        elif line.startswith(b"\t.file") and (found := _FILE.match(line)):
            folder, last = (b"", found[2]) if found[3] is None else (found[2] + b"/", found[3])
            name = last if last.startswith(b"/") else folder + last
            path = Path(_ESCAPED.sub(_byte, name).decode("utf-8", "surrogateescape"))
            if is_own(path):
                paths.append(name)
                files[found[1]] = len(paths)
            else:
                files[found[1]] = _OF_THE_TWIN if path.is_relative_to(twin) else _OF_OTHERS
        elif line == b"\t.cfi_startproc":
            site = 0
        elif (found := processor.call.match(line)) and (calls := _hooked(processor, found[1], site)) is not None:
            out += calls
            continue
        elif line.startswith(b"\t.addrsig_sym __tsan_"):
            continue
        out.append(line)
    return b"\n".join([*out, *_table(paths)])


def _hooked(processor: _Processor, name: bytes, site: int) -> list[bytes] | None:
    """Return the lines in place of a call from this site; None to keep the call."""
    if found := _ACCESS.fullmatch(name):
        if not site:
            return []
        size = [] if found[2] == b"_range" else [processor.set(1, int(found[2]))]
        hook = b"gnt_pointer_load" if found[1] == b"read" else b"gnt_pointer_store"
        return [*size, processor.set(2, site), processor.to_call % hook]
    if _DROPPED.fullmatch(name):
        return []
    plain = name.removeprefix(b"__tsan_")
    if plain in _MEMORY and site:
        return [processor.set(3, site), processor.to_call % _MEMORY[plain]]
    return [processor.to_call % plain] if plain in _MEMORY else None


def _table(paths: list[bytes]) -> list[bytes]:
    """Return the array ``gnt_pointer_files``: the path of each number of a file, which the sites have."""
    return [
        b'\t.section\t.data.rel.ro.local,"aw"\n\t.balign\t8',
        b"\t.globl\tgnt_pointer_files\n\t.hidden\tgnt_pointer_files\n\t.type\tgnt_pointer_files, %object",
        b"gnt_pointer_files:\n\t.quad\t0",
        *(b"\t.quad\t.Lgnt_path_%d" % number for number in range(len(paths))),
        b"\t.section\t.rodata",
        *(b'.Lgnt_path_%d:\n\t.string\t"%b"' % one for one in enumerate(paths)),
        b"",
    ]


def _byte(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 8) & 0xFF]) if len(found[1]) == 3 else found[1]
