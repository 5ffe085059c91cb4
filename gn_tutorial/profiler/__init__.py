"""Profiles of the timing model: the modelled cost of a launch on the chip; comparisons, exports, calibration."""
