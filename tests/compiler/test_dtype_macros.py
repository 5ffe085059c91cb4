"""What public kernels expect of their build: template arguments, operator dtypes, names of libc, helpers."""

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import inout
from gn_tutorial.operators.kernel import kernel

PORTABLE = '#include "kernel_operator.h"\nusing namespace AscendC;\n'


def run_on(array: np.ndarray, text: str, **how: object) -> np.ndarray:
    return kernel(source=PORTABLE + text, **how).run(inout(array))["x"]


def test_a_kernel_template_is_built_with_its_arguments() -> None:
    text = (
        "template <typename T, int N>\n__global__ __aicore__ void k(GM_ADDR x) {\n"
        "  GlobalTensor<T> g; g.SetGlobalBuffer((__gm__ T*)x); g.SetValue(0, T(N)); }\n"
    )
    assert run_on(np.zeros(8, np.float32), text, template="float, 16")[0] == 16
    assert run_on(np.zeros(8, np.int32), text, template="k<int32_t, 3>")[0] == 3


def test_a_kernel_in_a_namespace_is_launched_by_its_full_name() -> None:
    text = (
        "namespace a {\n__global__ __aicore__ void k(GM_ADDR x) {\n"
        "  GlobalTensor<float> g; g.SetGlobalBuffer((__gm__ float*)x); g.SetValue(0, 5.0f); }\n}\n"
    )
    assert run_on(np.zeros(8, np.float32), text)[0] == 5


@pytest.mark.parametrize("name", ["div", "asinh", "hypot", "abs"])
def test_a_kernel_may_be_named_like_a_function_of_libc(name: str) -> None:
    text = (
        f'#include <vector>\n#include <math.h>\nextern "C" __global__ __aicore__ void {name}(GM_ADDR x) {{\n'
        "  GlobalTensor<float> g; g.SetGlobalBuffer((__gm__ float*)x); g.SetValue(0, 2.0f); }\n"
    )
    assert run_on(np.zeros(8, np.float32), text)[0] == 2


def test_operator_dtypes_are_macros() -> None:
    text = (
        "__global__ __aicore__ void k(GM_ADDR x) {\n#if ORIG_DTYPE_X == DT_INT32 && FORMAT_X == FORMAT_ND\n"
        "  GlobalTensor<DTYPE_X> g; g.SetGlobalBuffer((__gm__ DTYPE_X*)x); g.SetValue(0, 9);\n#endif\n}\n"
    )
    assert run_on(np.zeros(8, np.int32), text, dtypes={"x": "int32"})[0] == 9
    with pytest.raises(ArgumentError, match="float64"):
        run_on(np.zeros(8, np.int32), text, dtypes={"x": "float64"})


def test_data_types_are_numbers_without_dtypes_too() -> None:
    text = (
        "#define ORIG_DTYPE_Z DT_BF16\n__global__ __aicore__ void k(GM_ADDR x) {\n"
        "#if ORIG_DTYPE_Z == DT_BF16 && DT_BF16 != DT_FLOAT16 && FORMAT_NCHW != FORMAT_ND\n"
        "  *(__gm__ int32_t*)x = DT_FLOAT * 100 + DT_INT4;\n#endif\n}\n"
    )
    assert run_on(np.zeros(1, np.int32), text)[0] == 29


@pytest.mark.parametrize("dtypes", [None, {"x": "float16"}])
def test_host_headers_beside_operator_dtypes(dtypes: dict[str, str] | None) -> None:
    # In a kernel with host code the names are enumerators of ge. If the build gets dtypes, they are macros instead.
    uses = "ge::DT_BF16" if dtypes is None else "DT_BF16"
    text = (
        '#include "tiling/tiling_api.h"\n'
        f"__global__ __aicore__ void k(GM_ADDR x) {{\n  const ge::DataType type = static_cast<ge::DataType>({uses});\n"
        "  *(__gm__ int32_t*)x = type; \n#if defined(DTYPE_X) && ORIG_DTYPE_X != DT_FLOAT16\n#error wrong\n#endif\n}\n"
    )
    assert run_on(np.zeros(1, np.int32), text, dtypes=dtypes)[0] == 27


def test_a_tiling_struct_registered_inside_the_kernel() -> None:
    text = PORTABLE + (
        "struct T { uint32_t n; };\n__global__ __aicore__ void k(GM_ADDR x, GM_ADDR tiling) {\n"
        "  REGISTER_TILING_DEFAULT(T);\n  GET_TILING_DATA(data, tiling);\n"
        "  GlobalTensor<int32_t> g; g.SetGlobalBuffer((__gm__ int32_t*)x);\n"
        "  g.SetValue(0, min(data.n, 100) + max(uint8_t(3), 2)); g.SetValue(1, block_idx + DivCeil(7, 2)); }\n"
    )
    out = kernel(source=text).run(inout(np.zeros(8, np.int32)), np.array([40], np.uint32))["x"]
    assert list(out[:2]) == [43, 4]
