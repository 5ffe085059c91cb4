"""Restricts a program, such as a project's script or a learner's exercise, to writing files in one folder.

=================================  =====================================  ==========================================
the program, and its children      Linux with Landlock (5.13 and newer)   elsewhere
=================================  =====================================  ==========================================
writes, deletes, renames files     refused outside the folder; writing    not prevented; its HOME, its TMPDIR and its
                                   to _DEVICES is allowed                 working folder lie in the folder
binds or connects a TCP socket     refused (6.7 and newer)                not prevented
signals other processes            refused (6.12 and newer)               not prevented
changes the priority, processors   refused (by seccomp, also without      not prevented
or memory of other processes       Landlock; x86-64 and AArch64)
reads files, starts programs       allowed                                allowed
writes a file without end          stopped at 4 GiB                       stopped at 4 GiB
fills the memory                   refused at the limit (RLIMIT_DATA)     not limited on macOS
runs without end                   stopped with its process group; a      the same
                                   process in a session of its own
                                   outlives it
outlives a killed Python           killed at once (PDEATHSIG), but its    not prevented
                                   children are not
=================================  =====================================  ==========================================

The restrictions protect against mistakes, not against an attacker. This file, run as a program, restricts its own
process and then executes the other program in it. It imports nothing of this package, so that it starts quickly.
Source: Linux, Documentation/userspace-api/landlock.rst and seccomp_filter.rst; the numbers of system calls are those of
its tables (arch/x86/entry/syscalls, include/uapi/asm-generic/unistd.h).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import sys

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
#: The rights to remove a folder or file, and to make a character device, folder, file, socket, pipe, block device or
#: symbolic link.
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
_TCP = 1 << 0 | 1 << 1
_SCOPE_SIGNAL = 1 << 1
#: Devices that the program may write to.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_LARGEST_FILE = 4 << 30
_NO_NEW_PRIVILEGES, _PARENT_DEATH_SIGNAL = 38, 1

#: seccomp: the option and the mode of prctl, and the two answers of a filter: allow the call, or fail it with EPERM.
_SECCOMP, _FILTER = 22, 2
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1
#: Instructions of a filter: load a word of the filter's data, jump if it equals a constant, answer. Then the offsets of
#: these words: the call's number, the processor, and the lower halves of the first two arguments.
_LOAD, _EQUAL, _ANSWER = 0x20, 0x15, 0x06
_NUMBER, _PROCESSOR, _ARGUMENTS = 0, 4, (16, 24)
#: Processor -> its number in a filter's data (AUDIT_ARCH), and the numbers of the system calls in the order of _OWN.
_CALLS = {
    "x86_64": (0xC000003E, (141, 203, 142, 144, 314, 251, 101, 311)),
    "aarch64": (0xC00000B7, (140, 122, 118, 119, 274, 30, 117, 271)),
}
#: System call -> how many of its first arguments must be 0, which means the caller itself; None: always refuse it.
_OWN = {
    "setpriority": 2,
    "sched_setaffinity": 1,
    "sched_setparam": 1,
    "sched_setscheduler": 1,
    "sched_setattr": 1,
    "ioprio_set": None,
    "ptrace": None,
    "process_vm_writev": None,
}


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def landlock_version() -> int:
    """Return the version of Landlock in the running kernel; 0 if it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def write_only_in(folder: str) -> bool:
    """Restrict this process and its children with Landlock. Return False if the system cannot.

    They may write only to files below ``folder`` and to _DEVICES. Newer versions of Landlock also refuse TCP sockets
    and signals to other processes.
    """
    version = landlock_version()
    if version == 0:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rights = _WRITE_FILE | _CHANGE_FOLDERS | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(rights, _TCP if version >= 4 else 0, _SCOPE_SIGNAL if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    for path in (folder, *_DEVICES):
        with contextlib.suppress(OSError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = rights if path == folder else rights & (_WRITE_FILE | _TRUNCATE)
            rule = _PathRule(allowed, opened)
            libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
            os.close(opened)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0
    os.close(ruleset)
    return done


class _Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("equal", ctypes.c_uint8), ("other", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction))]


def leave_others_alone() -> bool:
    """Make the system calls of _OWN, which can change other processes, fail with EPERM. Return False if impossible.

    This holds for this process and its children. Calls that concern only the caller are allowed if _OWN has a number.
    """
    if not sys.platform.startswith("linux") or platform.machine() not in _CALLS:
        return False
    processor, numbers = _CALLS[platform.machine()]
    # Allow all calls of 32-bit programs, because these calls have other numbers there.
    code = [(_LOAD, 0, 0, _PROCESSOR), (_EQUAL, 1, 0, processor), (_ANSWER, 0, 0, _ALLOW)]
    for number, zeros in zip(numbers, _OWN.values(), strict=True):
        rule = [(_ANSWER, 0, 0, _REFUSE)]
        if zeros is not None:
            rule.insert(0, (_ANSWER, 0, 0, _ALLOW))
            for at in reversed(_ARGUMENTS[:zeros]):  # refuse if the argument is not 0
                rule[:0] = [(_LOAD, 0, 0, at), (_EQUAL, 0, len(rule) - 1, 0)]
        code += [(_LOAD, 0, 0, _NUMBER), (_EQUAL, 0, len(rule), number), *rule]
    code.append((_ANSWER, 0, 0, _ALLOW))
    program = _Program(len(code), (_Instruction * len(code))(*code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0


def die_with_parent() -> None:
    """Make the system kill this process when its parent ends; Linux only. Source: prctl(2), PR_SET_PDEATHSIG."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def command(folder: str, memory_bytes: int, words: list[str]) -> list[str]:
    """Return the command line that runs the command ``words`` with these restrictions. memory_bytes: RLIMIT_DATA."""
    return [sys.executable, "-I", "-S", __file__, folder, str(memory_bytes), *words]


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(what, (value, value))


def main() -> None:
    """Restrict this process, and run PROGRAM in it: ``write_sandbox.py FOLDER MEMORY_BYTES PROGRAM WORD...``."""
    folder, memory, *words = sys.argv[1:]
    die_with_parent()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _LARGEST_FILE)
    _limit(resource.RLIMIT_DATA, int(memory))
    write_only_in(folder)
    leave_others_alone()
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
