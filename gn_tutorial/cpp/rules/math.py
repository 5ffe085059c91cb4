"""Functions of single numbers that only hosts have: those of <cmath>.

No document names them for device code. The device's compiler has sqrt and abs of a float built in (public kernels call
them without a header); AscendC::Std has functions of its own, and functions of SIMT threads have those of C. Threads
run what has their words, and an entry that is marked ``__global__`` alone, with all that it calls:
``portability_rules`` leaves out what such an entry reaches.

Source: asc-devkit, include/simt_api/math_functions.h, and docs/zh/api, SIMT-API/SIMT编程简介/扩展语法,
函数执行空间限定符.md (what threads run) and 核函数配置.md (their entry).
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import call_of

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
_OF_THREADS = frozenset(("__simt_vf__", "__simt_callee__"))


def math(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each call of one of these."""
    for name in code.names.keys() & (_MATH | _MATH_OF_C):
        for node in code.names[name]:
            function = code.function_of(node)
            if function is None or function.words & _OF_THREADS or not call_of(node, code.syntax):
                continue
            if name in _MATH and code.is_of_std(node):
                yield code.finding("math", node, name=f"std::{name}", op=name)
            elif name in _MATH_OF_C and code.is_of_host(node):
                yield code.finding("math", node, name=name, op=name)
