"""``gnt npu verify``: runs all that can run on an NPU, compares the results with the twin's, and writes a report.

``steps`` has the steps, and ``report`` stores their results. ``kernels`` verifies one kernel in a separate process, and
``pytorch`` our PyTorch operators in another. Nothing here was run on an NPU; the tests use a stand-in for CANN's
runtime.
"""
