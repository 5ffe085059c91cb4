"""What a fused launch is compared with: its parts give the same numbers, and the counted bytes are right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from picture_support import texts

import gn_tutorial as gnt
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import load_registry
from gn_tutorial.operators.spec import Part
from gn_tutorial.plot.fusion import fusion
from gn_tutorial.profiler.bench.fusion_gain import fusion_gain
from gn_tutorial.profiler.bench.replaced_launches import run_parts

REGISTRY = load_registry()
FUSED = [op for op in REGISTRY.values() if op.replaces]
GROUPED = ("group_norm_silu", "group_norm_silu_backward")
SHAPES = dict.fromkeys(GROUPED, (3, 6, 4, 5))
ATTRIBUTES = {key: {"num_groups": 3} for key in GROUPED}


@pytest.mark.parametrize("op", FUSED, ids=lambda op: op.name)
def test_the_parts_give_what_the_fused_launch_gives(op: gnt.operators.spec.OpSpec) -> None:
    shape, attributes = SHAPES.get(op.name, (7, 333)), ATTRIBUTES.get(op.name, {})
    for dtype in op.kernels[-1].dtypes:
        arrays = random_inputs.inputs(op, shape, seed=4, dtype=dtype, attributes=attributes)
        results, made = run_parts(op, arrays, attributes)
        assert [one.kernel for one in results] == [part.kernel for part in op.replaces]
        fused = Kernel.registered(op, op.kernels[-1])(*arrays.values(), **attributes)
        expected = random_inputs.expected(op, arrays, attributes)
        assert fused.compare(expected, op.kernels[-1].tolerance).ok
        for name, array in made.items():
            # What passes through memory is rounded to the dtype on its way, once for each part.
            ulp = {"float32": 2e-6, "float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
            assert array.dtype == fused.outputs[name].dtype
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(array.astype(np.float64), expected[name], rtol=2 * ulp, atol=ulp * scale)


def test_bytes_launches_and_time_of_a_chain() -> None:
    n = 100_003
    rng = np.random.default_rng(2)
    gate, up = (rng.normal(size=n).astype(np.float32) for _ in range(2))
    gain = fusion_gain("swiglu", gate, up)
    # silu reads one array and writes one; the product reads two and writes one. The fused launch reads two, writes one.
    assert gain.bytes == (5 * 4 * n, 3 * 4 * n)
    assert gain.launches == (2, 1)
    assert [one.kernel for one in gain.parts] == ["silu/queue", "elementwise_mul/map"]
    assert gain.microseconds[0] == pytest.approx(sum(one.microseconds for one in gain.parts))
    assert gain.pays
    assert gain.speed_up > 1.2
    assert "40% fewer bytes, 1 launch less" in gain.reason
    # Two intermediate tensors instead of one: a fused launch needs more of the local memory.
    assert gain.ub_bytes[1] > gain.ub_bytes[0]
    text = repr(gain)
    assert "2 launches" in text
    assert "The fusion pays" in text
    assert f"{gain.bytes[1]:,}" in gain._repr_html_()


def test_in_halves_the_parts_round_once_more() -> None:
    rng = np.random.default_rng(3)
    gate, up = (rng.normal(size=20_000).astype(np.float16) for _ in range(2))
    gain = fusion_gain("swiglu", gate, up, warm=True)
    assert gain.errors[1] < gain.errors[0] < 2e-3
    assert "warm L2 cache" in repr(gain)


def test_a_slower_fusion_says_so() -> None:
    x = np.random.default_rng(5).normal(size=(2, 4, 64)).astype(np.float32)
    gain = fusion_gain("group_norm_silu", x, num_groups=2)
    slow = replace(gain, parts=(gain.parts[1],))
    assert gain.pays
    if not slow.pays:
        assert "slower by" in slow.reason
        assert "does not pay" in repr(slow)
    assert slow.speed_up == pytest.approx(slow.parts[0].microseconds / gain.fused.microseconds)


def test_refusals() -> None:
    x = np.zeros((2, 4, 8), np.float32)
    with pytest.raises(ArgumentError, match=r"group_norm is no fusion: its op.toml has no \[\[replaces\]\]"):
        fusion_gain("group_norm/any", x, num_groups=2)
    with pytest.raises(ArgumentError, match="is not registered"):
        fusion_gain(gnt.kernel(source='extern "C" __global__ __aicore__ void nothing(GM_ADDR x) {}'), x)
    with pytest.raises(ArgumentError, match="3 arrays for 2 inputs"):
        fusion_gain("swiglu", x, x, x)
    op = REGISTRY["swiglu"]
    broken = structs.replace(op, replaces=(Part("elementwise_mul/map", {"x": "nobody", "y": "up", "z": "z"}),))
    with pytest.raises(RegistryError, match="'x' of elementwise_mul/map is 'nobody', which is no array of the call"):
        run_parts(broken, {"gate": x, "up": x}, {})


def test_the_picture_has_a_bar_for_each_launch_and_pipe() -> None:
    rng = np.random.default_rng(6)
    x, y = (rng.normal(size=50_000).astype(np.float32) for _ in range(2))
    gain = gnt.fusion_gain("add_relu", x, y)
    picture = fusion(gain)
    above, below = picture.figure.axes
    launches = (*gain.parts, gain.fused)
    widths = {bar.get_gid(): bar.get_width() for bar in above.patches}
    bars = {one.kernel: pytest.approx(one.microseconds) for one in launches}
    assert widths == bars | {f"start of {one.kernel}": pytest.approx(one.timeline.launch_us) for one in launches}
    starts = {bar.get_gid(): bar.get_x() for bar in above.patches}
    assert all(starts[f"start of {kernel}"] == starts[kernel] for kernel in bars)
    assert len(below.patches) == 8
    assert f"{gain.fused.microseconds:.2f} us" in " ".join(texts(above))
    assert f"{gain.bytes[0]:,} and {gain.bytes[1]:,}" in picture.alt
