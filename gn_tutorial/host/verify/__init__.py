"""``gnt npu verify``: runs everything that can run on an NPU there once, compares it with the twin, writes a report.

``steps`` has the steps, ``report`` stores their results; ``kernels`` verifies one kernel in a separate process, using
``direct``. Nothing here was run on an NPU; it is tested with a stand-in for CANN's runtime.
"""
