"""ctypes mirror of ``twin/launcher/job_file.h``: the structs at the start of a job file.

The meaning of each field is documented in the header; ``tests/abi/test_abi.py`` checks that both sides agree.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

from gn_tutorial.abi import structs

MAGIC = 0x4A544E47


class Phase(IntEnum):
    """The last step that the launcher reached."""

    STARTING = 0
    LOADING = 1
    RUNNING = 2
    FINISHED = 3


class LaunchOutcome(IntEnum):
    """Why the launcher stopped; UNKNOWN if the process ended without running the launcher's code (exit(), SIGKILL)."""

    UNKNOWN = 0
    RETURNED = 1
    SIGNAL = 2
    NOT_LOADED = 3
    WRONG_ABI = 4
    FORBIDDEN_CALL = 5


class JobFileArg(ctypes.Structure):
    """JobFileArg of job_file.h."""

    _fields_ = (
        ("name_at", ctypes.c_uint64),
        ("data_at", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("pages_at", ctypes.c_uint64),
        ("pages_bytes", ctypes.c_uint64),
        ("same_as", ctypes.c_uint64),
        ("kind", ctypes.c_uint32),
        ("role", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("poison", ctypes.c_uint64),
        ("element_bytes", ctypes.c_uint64),
        ("descriptor", ctypes.c_uint64),
        ("pages_address", ctypes.c_uint64),
        ("around", ctypes.c_uint64),
    )


class JobFileHeader(ctypes.Structure):
    """JobFile of job_file.h."""

    _fields_ = (
        ("magic", ctypes.c_uint32),
        ("header_bytes", ctypes.c_uint32),
        ("blocks", ctypes.c_uint32),
        ("arg_count", ctypes.c_uint32),
        ("tiling_key", ctypes.c_uint64),
        ("library_at", ctypes.c_uint64),
        ("entry_at", ctypes.c_uint64),
        ("args_at", ctypes.c_uint64),
        ("report_at", ctypes.c_uint64),
        ("report_bytes", ctypes.c_uint64),
        ("memory_bytes", ctypes.c_uint64),
        ("cpu_seconds", ctypes.c_uint32),
        ("wall_seconds", ctypes.c_uint32),
        ("head_bytes", ctypes.c_uint64),
        ("folder_at", ctypes.c_uint64),
        ("options", structs.GntOptions),
        ("trace_at", ctypes.c_uint64),
        ("trace_bytes", ctypes.c_uint64),
        ("chosen_at", ctypes.c_uint64),
        ("chosen_count", ctypes.c_uint64),
        ("watches_at", ctypes.c_uint64),
        ("watch_count", ctypes.c_uint64),
        ("with_origins", ctypes.c_uint64),
        ("severities_at", ctypes.c_uint64),
        ("phase", ctypes.c_uint32),
        ("outcome", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("signal", ctypes.c_int32),
        ("stack_overflow", ctypes.c_uint32),
        ("filtered", ctypes.c_uint32),
        ("observed", ctypes.c_uint32),
        ("here_line", ctypes.c_uint32),
        ("here_block", ctypes.c_uint32),
        ("signal_code", ctypes.c_int32),
        ("fault_address", ctypes.c_uint64),
        ("nanoseconds", ctypes.c_uint64),
        ("tally", structs.GntTally),
        ("trace", structs.GntTrace),
        ("here_file", ctypes.c_char * 1024),
        ("text", ctypes.c_char * 1024),
    )
