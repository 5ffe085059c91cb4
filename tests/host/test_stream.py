"""Streams of the host API: asynchronous, ordered, beside each other; errors come out when one waits.

No timers: a host function that waits for an event is a gate, and holds up all work behind it.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from ctypes import byref, c_uint8, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_api_support import first_call
from host_cases import CASES

from gn_tutorial import host, reference
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.errors import KernelError, KernelFault
from gn_tutorial.host import Code, Refused, Stream

FORWARD = CASES["GroupNorm"].call
LONG = 60.0  # seconds after which a hanging test is stopped; a right one never waits so long
SENTINEL = np.float32(-77.0)
FAULTY = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void group_norm_any(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                     GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  AscendC::GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, 4);
  yGm.SetGlobalBuffer((__gm__ float*)y, 4);
  if (xGm.GetValue(0) > 0.0f) {
    yGm.SetValue(4, 1.0f);
  }
  yGm.SetValue(0, xGm.GetValue(0));
  AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::ENTIRE_DATA_CACHE>(yGm);
}
"""


def data(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((2, 6, 4, 5)) * rng.uniform(0.5, 4, (1, 6, 1, 1)) + 3).astype(np.float32)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A group_norm_any that writes outside y where x begins with a positive number, and copies one number otherwise."""
    source = tmp_path_factory.mktemp("faulty") / "faulty.cpp"
    source.write_text(FAULTY)
    return {"group_norm_any": build_kernel(source, observed=True).library}


def gate(stream: Stream) -> threading.Event:
    """Holds the stream up until it is set."""
    opened = threading.Event()
    stream.launch_host_func(lambda: opened.wait(LONG))
    return opened


def test_the_call_returns_before_the_work_is_done() -> None:
    x, out = data(), np.full((2, 6, 4, 5), SENTINEL)
    with Stream() as stream:
        opened = gate(stream)
        made = host.group_norm(x, num_groups=3, stream=stream, out=out)
        assert (out == SENTINEL).all()
        opened.set()
        stream.synchronize()
        expected = reference.group_norm(x, num_groups=3)
        np.testing.assert_allclose(made.out, expected.y, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(made.rstd, expected.rstd, rtol=1e-5)


def test_work_runs_in_the_order_of_the_calls() -> None:
    x, middle, last = data(), *(np.full((2, 6, 4, 5), SENTINEL) for _ in range(2))
    order: list[int] = []
    with Stream() as stream:
        opened = gate(stream)
        host.group_norm(x, num_groups=3, stream=stream, out=middle)
        stream.launch_host_func(lambda: order.append(int((middle != SENTINEL).all() and (last == SENTINEL).all())))
        # It reads what the first writes, so a wrong order would normalise the sentinel.
        host.group_norm(middle, num_groups=1, stream=stream, out=last)
        for number in range(2, 50):
            stream.launch_host_func(lambda number=number: order.append(number))
        opened.set()
        stream.synchronize()
    assert order == [1, *range(2, 50)]
    expected = reference.group_norm(reference.group_norm(x, num_groups=3).y, num_groups=1).y
    np.testing.assert_allclose(last, expected, rtol=1e-5, atol=2e-5)


def test_a_stream_that_waits_holds_up_no_other() -> None:
    x = data()
    with Stream() as slow, Stream() as quick:
        opened = gate(slow)
        held = host.group_norm(x, num_groups=3, stream=slow, out=np.full(x.shape, SENTINEL))
        free = host.group_norm(x, num_groups=3, stream=quick)
        quick.synchronize()
        assert (held.out == SENTINEL).all()
        opened.set()
        slow.synchronize()
        np.testing.assert_array_equal(held.out, free.out)


def test_synchronise_waits_for_what_was_there_before_it() -> None:
    """Work that another thread adds behind it is not waited for: the second gate is still shut."""
    with Stream() as stream:
        first, entered = threading.Event(), threading.Event()
        done = threading.Event()

        def held() -> None:
            entered.set()
            first.wait(LONG)

        stream.launch_host_func(held)
        entered.wait(LONG)
        waiter = threading.Thread(target=lambda: (stream.synchronize(), done.set()))
        waiter.start()
        first.set()
        assert done.wait(LONG)
        waiter.join()
        second = gate(stream)
        second.set()
        stream.synchronize()


# --- errors ----------------------------------------------------------------------------------------------------------


def small(first: float) -> np.ndarray:
    return np.array([[first, 2.0, 3.0, 5.0]], np.float32)


def test_a_diagnostic_comes_out_of_synchronise(faulty: dict[str, Path]) -> None:
    with Stream(kernels=faulty) as stream:
        host.group_norm(small(1.0), num_groups=2, stream=stream)
        with pytest.raises(KernelFault) as caught:
            stream.synchronize()
        (found,) = caught.value.diagnostics
        assert found.id == "gm-out-of-bounds"
        assert FAULTY.splitlines()[found.line - 1].strip().startswith("yGm.SetValue(4")
        stream.synchronize()  # told once


def test_the_first_error_is_told_and_later_work_still_runs(faulty: dict[str, Path]) -> None:
    order: list[str] = []
    with Stream(kernels=faulty) as stream:
        host.group_norm(small(1.0), num_groups=2, stream=stream)
        stream.launch_host_func(lambda: order.append("behind"))
        good = host.group_norm(small(-4.0), num_groups=2, stream=stream)

        def fail() -> None:
            raise ValueError("a host function's own")

        stream.launch_host_func(fail)
        with pytest.raises(KernelFault):
            stream.synchronize()
        assert order == ["behind"]
        assert good.out[0, 0] == -4.0
        with pytest.raises(ValueError, match="a host function's own"):
            stream.synchronize()


def test_a_c_program_reads_the_same_in_the_text(faulty: dict[str, Path]) -> None:
    stream = Stream(kernels=faulty)
    host.group_norm(small(1.0), num_groups=2, stream=stream)
    library = host.library()
    assert library.GnSynchronizeStream(stream.handle) == Code.RUNTIME
    text = library.GnGetRecentErrMsg().decode()
    assert text.startswith("the twin stopped kernel group_norm_any:\n{")
    assert '"id": "gm-out-of-bounds"' in text or '"id":"gm-out-of-bounds"' in text
    assert "gnt explain" in text
    stream.destroy()


def test_an_error_nobody_asked_for_comes_out_of_destroy(faulty: dict[str, Path]) -> None:
    stream = Stream(kernels=faulty)
    host.group_norm(small(1.0), num_groups=2, stream=stream)
    with pytest.raises(KernelFault):
        stream.destroy()
    with pytest.raises(Refused, match="stream was destroyed"):
        stream.synchronize()


def test_a_kernel_that_is_not_there_is_refused_before_anything_is_queued() -> None:
    library = host.library()
    handle, answer = c_void_p(), first_call("GroupNorm", FORWARD)
    assert library.GnCreateStream(byref(handle)) == 0
    memory = (c_uint8 * answer.workspace)()
    assert library.GroupNorm(memory, answer.workspace, answer.executor, handle) == Code.INNER_FIND_KERNEL
    assert "kernel group_norm_any cannot be loaded" in library.GnGetRecentErrMsg().decode()
    assert library.GnDestroyStream(handle) == 0
    assert library.GnDestroyExecutor(answer.executor) == 0


def test_a_library_that_is_no_kernel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    for path in (tmp_path / "text.so", Path(host.build_library()), tmp_path / "absent.so"):
        with pytest.raises(KernelError, match="group_norm_any cannot be loaded"):
            Stream(kernels={"group_norm_any": path})


# --- ends ------------------------------------------------------------------------------------------------------------


def test_destroying_waits_for_pending_work() -> None:
    x, stream = data(), Stream()
    opened = gate(stream)
    made = host.group_norm(x, num_groups=3, stream=stream, out=np.full(x.shape, SENTINEL))
    ender = threading.Thread(target=stream.destroy)
    ender.start()
    assert (made.out == SENTINEL).all()
    opened.set()
    ender.join(LONG)
    np.testing.assert_allclose(made.out, reference.group_norm(x, num_groups=3).y, rtol=1e-5, atol=1e-5)
    with pytest.raises(Refused, match="stream was destroyed, or never made"):
        host.group_norm(x, num_groups=3, stream=stream)


def test_a_host_function_cannot_wait_for_its_own_stream() -> None:
    said: list[str] = []
    with Stream() as stream:
        for call in (stream.synchronize, lambda: host.check(host.library().GnDestroyStream(stream.handle))):

            def inside(call: Any = call) -> None:
                try:
                    call()
                except Refused as error:
                    said.append(error.what)

            stream.launch_host_func(inside)
        stream.synchronize()
    assert [text.partition(",")[0] for text in said] == [
        "a host function waits for its own stream",
        "a host function destroys its own stream",
    ]


def child(program: str) -> subprocess.CompletedProcess[str]:
    head = """
        import os, threading, warnings
        import numpy as np
        from gn_tutorial import host as host_api
        from gn_tutorial.host import Refused, Stream
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    """
    text = textwrap.dedent(head) + textwrap.dedent(program)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False)


def test_a_process_may_end_with_work_on_its_way() -> None:
    done = child("""
        stream = Stream()
        made = [host_api.group_norm(x, num_groups=3, stream=stream) for _ in range(50)]
        abandoned = Stream()
        host_api.library().GnLaunchHostFunc  # a stream without work ends, too
        print("queued")
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "queued\n", "")


def test_a_forked_child_cannot_use_its_parent_s_stream_and_makes_its_own() -> None:
    done = child("""
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, from Python 3.12 on
        parent = Stream()
        opened = threading.Event()
        parent.launch_host_func(lambda: opened.wait(60))
        held = host_api.group_norm(x, num_groups=3, stream=parent)
        pid = os.fork()
        if pid == 0:
            said = 0
            launch = lambda: host_api.group_norm(x, num_groups=3, stream=parent)
            for call in (parent.synchronize, parent.destroy, launch):
                try:
                    call()
                except Refused as error:
                    said += "forked from" in error.what
            with Stream() as own:
                made = host_api.group_norm(x, num_groups=3, stream=own)
                own.synchronize()
            assert abs(made.out.mean()) < 1e-5 and made.out.std() > 0.9
            os._exit(said)
        _, status = os.waitpid(pid, 0)
        opened.set()
        parent.synchronize()
        print(os.waitstatus_to_exitcode(status), abs(float(held.out.mean())) < 1e-5)
    """)
    assert (done.stdout, done.stderr) == ("3 True\n", "")


# --- threads ---------------------------------------------------------------------------------------------------------


def in_threads(count: int, work: Any) -> list[Any]:
    results: list[Any] = [None] * count
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        results[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return results


def test_threads_with_streams_of_their_own_and_with_one_stream() -> None:
    expected = [reference.group_norm(data(number), num_groups=3).y for number in range(6)]
    with Stream() as shared:

        def work(number: int) -> float:
            worst = 0.0
            for _ in range(5):
                with Stream() as own:
                    made = [host.group_norm(data(number), num_groups=3, stream=one) for one in (own, shared)]
                    own.synchronize()
                    shared.synchronize()
                worst = max(worst, *(float(np.abs(one.out - expected[number]).max()) for one in made))
            return worst

        assert max(in_threads(6, work)) < 2e-5


def test_of_many_threads_one_gets_the_executor() -> None:
    library = host.library()
    with Stream() as stream:
        handle = stream.ready("GroupNorm")
        for _ in range(20):
            answer = first_call("GroupNorm", FORWARD)
            memory = (c_uint8 * answer.workspace)()

            def use(_: int, answer: Any = answer, memory: Any = memory) -> int:
                return library.GroupNorm(memory, answer.workspace, answer.executor, handle)

            assert sorted(in_threads(6, use)) == [0] + [Code.PARAM_INVALID] * 5
            stream.synchronize()


def test_of_many_threads_one_destroys_the_stream() -> None:
    library, made = host.library(), c_void_p()
    assert library.GnCreateStream(byref(made)) == 0
    assert sorted(in_threads(6, lambda _: library.GnDestroyStream(made))) == [0] + [Code.PARAM_INVALID] * 5
