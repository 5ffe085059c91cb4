"""Chains of formulas: any list of them gives what the formulas give one after the other, unrounded in between."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from gn_tutorial import reference
from gn_tutorial.errors import CompileError
from gn_tutorial.operators.arguments import as_dtype, out
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import kernels_root

#: Formula -> how many inputs it takes, and what it computes.
FORMULAS = {
    "Plus": (2, np.add),
    "Times": (2, np.multiply),
    "Rectify": (1, reference.relu),
    "Silu": (1, reference.silu),
    "GeluTanh": (1, partial(reference.gelu, approximate="tanh")),
}
#: Chains of two to six formulas: with an operand of their own in front, in between, at the end; none; the same twice.
CHAINS = [
    ("Plus", "Rectify"),
    ("Silu", "Silu"),
    ("Times", "Plus", "Silu", "Times"),
    ("GeluTanh", "Times", "Rectify"),
    ("Rectify", "Plus", "GeluTanh", "Plus", "Times", "Silu"),
    ("Times", "Times", "Times", "Times", "Times"),
]


HEADERS = """
#include "{root}/common/common_chain.h"
#include "{root}/common/common_formulas.h"
#include "{root}/common/common_gelu_tanh.h"
"""
ENTRY = """
extern "C" __global__ __aicore__ void chained_{place}({inputs}GM_ADDR z, uint32_t n, uint32_t dtype) {{
  GM_ADDR in[{count}] = {{{names}}};
  GM_ADDR out[1] = {{z}};
  RunMapOf<Chain<{formulas}>>(dtype, in, out, n);
}}
"""


def inputs_of(chain: tuple[str, ...]) -> int:
    return 1 + sum(FORMULAS[name][0] - 1 for name in chain)


@pytest.fixture(scope="module")
def source() -> str:
    """One file with all chains, each as a learner would write it: headers are compiled once."""
    text = HEADERS.format(root=kernels_root())
    for place, chain in enumerate(CHAINS):
        names = [f"x{index}" for index in range(inputs_of(chain))]
        text += ENTRY.format(
            place=place,
            inputs="".join(f"GM_ADDR {name}, " for name in names),
            count=len(names),
            names=", ".join(names),
            formulas=", ".join(chain),
        )
    return text


def expected(chain: tuple[str, ...], inputs: list[np.ndarray]) -> np.ndarray:
    made, *others = (one.astype(np.float64) for one in inputs)
    for name in chain:
        count, compute = FORMULAS[name]
        own, others = others[: count - 1], others[count - 1 :]
        made = compute(made, *own)
    assert not others
    return made


@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
def test_a_chain_is_its_formulas_one_after_the_other(source: str, chain: tuple[str, ...]) -> None:
    run, entry = kernel(source=source), f"chained_{CHAINS.index(chain)}"
    count = inputs_of(chain)
    for dtype, size, numbered in (("float32", 5003, 0), ("float16", 77, 1), ("bfloat16", 4097, 27)):
        rng = np.random.default_rng(size)
        inputs = [rng.normal(0.3, 0.8, size).astype(as_dtype(dtype)) for _ in range(count)]
        result = run.run(*inputs, out(size, dtype), size, numbered, entry=entry, blocks=3)
        assert result.diagnostics == ()
        truth = expected(chain, inputs)
        ulp = {"float32": 1e-6, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
        # One rounding of the result, and float32's of sums that cancel.
        np.testing.assert_allclose(result.outputs["z"].astype(np.float64), truth, rtol=ulp * 1.01, atol=4e-6)


def test_a_formula_with_two_outputs_is_the_last_one_or_refused() -> None:
    root = kernels_root()
    text = f"""
#include "{root}/common/common_chain.h"
#include "{root}/common/common_formulas.h"
struct Both {{
  static constexpr uint32_t kInputs = 1;
  static constexpr uint32_t kOutputs = 2;
  static constexpr uint32_t kScratch = 0;
  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats*, int32_t n) {{
    AscendC::Muls(out[1], in[0], 2.0f, n);
    AscendC::Muls(out[0], in[0], 3.0f, n);
  }}
}};
extern "C" __global__ __aicore__ void two(GM_ADDR x, GM_ADDR y, GM_ADDR a, GM_ADDR b, uint32_t n) {{
  GM_ADDR in[2] = {{x, y}};
  GM_ADDR out[2] = {{a, b}};
  RunMapOf<Chain<ORDER>>(0, in, out, n);
}}
"""
    x = np.linspace(-2, 3, 100, dtype=np.float32)
    run = kernel(source=text.replace("ORDER", "Plus, Both"))
    result = run.run(x, x[::-1].copy() * 2, out(100, "float32"), out(100, "float32"), 100)
    total = x + x[::-1] * 2
    np.testing.assert_allclose(result.outputs["a"], total * 3, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(result.outputs["b"], total * 2, rtol=1e-6, atol=1e-6)
    with pytest.raises(CompileError, match="a formula that hands its result on has one output"):
        kernel(source=text.replace("ORDER", "Both, Plus")).run(x, x, out(100, "float32"), out(100, "float32"), 100)
