"""``gnt npu verify``: all that runs on an NPU, run there once, compared with the twin, in a report to send back.

``steps`` says what is done, ``report`` keeps what came of it; ``kernels`` is one kernel, in a process of its own, over
``direct``. Nothing here was run on an NPU; it is tested over a stand-in for CANN's runtime.
"""
