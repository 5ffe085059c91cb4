"""ctypes mirror of ``gn_twin/base/abi.h``: the structs that pass between Python and a compiled kernel library.

The meaning of each field is documented in the header; ``tests/abi/test_abi.py`` checks that both sides agree.
"""

import ctypes
from enum import IntEnum

ABI_VERSION = 9


class ArgKind(IntEnum):
    """How a kernel parameter is passed: as a pointer to global memory, or by value."""

    TENSOR = 0
    VALUE = 1


class Role(IntEnum):
    """How a kernel uses a tensor argument."""

    IN = 0
    OUT = 1
    INOUT = 2
    WORKSPACE = 3
    TILING = 4
    LIST = 5  # a list of tensors: abi/tensor_list.py


class Status(IntEnum):
    """Return value of ``gnt_run``."""

    OK = 0
    STOPPED = 1
    BAD_CALL = 2


class GntArg(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("kind", ctypes.c_uint32),
        ("role", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("poison", ctypes.c_uint64),
        ("element_bytes", ctypes.c_uint64),
    )


class GntOptions(ctypes.Structure):
    _fields_ = (
        ("half_overflow", ctypes.c_uint32),
        ("integer_overflow", ctypes.c_uint32),
        ("minmax_nan", ctypes.c_uint32),
        ("half_tree", ctypes.c_uint32),
        ("reduce_lanes", ctypes.c_uint32),
        ("axpy_fused", ctypes.c_uint32),
        ("pad_dummy", ctypes.c_uint32),
        ("empty_deque", ctypes.c_uint32),
        ("compare_nan", ctypes.c_uint32),
        ("compare_tail", ctypes.c_uint32),
        ("denormals", ctypes.c_uint32),
        ("sigmoid_half", ctypes.c_uint32),
        ("counter_compare", ctypes.c_uint32),
        ("repeat_order", ctypes.c_uint32),
        ("pair_unit", ctypes.c_uint32),
        ("event_ids", ctypes.c_uint32),
        ("approximate", ctypes.c_uint32),
        ("auto_sync", ctypes.c_uint32),
        ("races", ctypes.c_uint32),
        ("delayed_dma", ctypes.c_uint32),
        ("block_order", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("cores", ctypes.c_uint32),
    )


class GntTally(ctypes.Structure):
    _fields_ = (
        ("instructions", ctypes.c_uint64 * 4),
        ("bytes_in", ctypes.c_uint64),
        ("bytes_out", ctypes.c_uint64),
        ("ub_high_water", ctypes.c_uint64),
    )


class GntWatch(ctypes.Structure):
    _fields_ = (
        ("block", ctypes.c_uint32),
        ("event", ctypes.c_uint32),
        ("operand", ctypes.c_uint32),
        ("seen", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


class GntTrace(ctypes.Structure):
    _fields_ = (
        ("slots", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("chosen", ctypes.POINTER(ctypes.c_uint32)),
        ("chosen_count", ctypes.c_uint32),
        ("full", ctypes.c_uint32),
        ("used", ctypes.c_uint64),
        ("lines_read", ctypes.c_uint64),
        ("lines_cold", ctypes.c_uint64),
        ("lines_bypassed", ctypes.c_uint64),
        ("lines_written", ctypes.c_uint64),
        ("lines_dirty", ctypes.c_uint64),
        ("lines_held", ctypes.c_uint64),
        ("blocks_bypassed", ctypes.c_uint64),
        ("watches", ctypes.c_void_p),
        ("watch_count", ctypes.c_uint64),
        ("with_origins", ctypes.c_uint64),
    )


class GntJob(ctypes.Structure):
    _fields_ = (
        ("abi_version", ctypes.c_uint32),
        ("blocks", ctypes.c_uint32),
        ("tiling_key", ctypes.c_uint64),
        ("args", ctypes.POINTER(GntArg)),
        ("arg_count", ctypes.c_uint32),
        ("observed", ctypes.c_uint32),
        ("options", GntOptions),
        ("tally", GntTally),
        ("report", ctypes.c_char_p),
        ("report_bytes", ctypes.c_uint64),
        ("nanoseconds", ctypes.c_uint64),
        ("here_file", ctypes.c_char_p),
        ("here_line", ctypes.c_uint32),
        ("here_block", ctypes.c_uint32),
        ("here_stack", ctypes.c_uint64),
        ("trace", GntTrace),
        ("severities", ctypes.c_char_p),
        ("poisons", ctypes.c_uint32),
    )
