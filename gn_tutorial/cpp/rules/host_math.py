"""Functions of single numbers that only hosts have: those of <cmath>.

No document names them for device code. The device's compiler has sqrt and abs of a float built in (public kernels call
them without a header); AscendC::Std has functions of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.declarations import Node
from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding

#: With std:: before them.
_MATH = frozenset(
    """sqrt cbrt hypot exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc
    tgamma lgamma fmod ceil floor round trunc rint nearbyint lround fmax fmin isnan isinf isfinite""".split()
)
#: Without std:: only those that the device's compiler does not have: its sqrt and abs of a float need no header.
_MATH_OF_C = frozenset(
    """exp exp2 expm1 log log2 log10 log1p pow sin cos tan tanh erf fmod expf exp2f logf log2f log10f powf sinf cosf
    tanf tanhf erff sqrtf fmodf""".split()
)


def math(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Functions of single numbers that only hosts have; no document names them for device code."""
    outline = code.outline
    if node.kind != "function" or not code.mentions(node) & (_MATH | _MATH_OF_C):
        return
    for at in range(node.params[1], node.body[1]):
        word, before = outline.text(at), outline.text(at - 1)
        if outline.text(at + 1) != "(" or word not in _MATH | _MATH_OF_C:
            continue
        of_std = before == "::" and outline.text(at - 2) == "std" and outline.text(at - 3) != "::"
        declared = before in (".", "->", "::") or (outline.is_name(at - 1) and before != "return")
        if of_std and word in _MATH:
            yield SourceFinding("language-math", outline.tokens[at].line, {"name": f"std::{word}", "op": word})
        elif word in _MATH_OF_C and not declared and not _is_own(code, word):
            yield SourceFinding("language-math", outline.tokens[at].line, {"name": word, "op": word})


def _is_own(code: DeviceCode, name: str) -> bool:
    """Whether the source has a function, or a lambda, of this name."""
    return bool(code.functions(name)) or any(code.outline.text(at + 1) == "=" for at in code.places(name))
