"""Draws pictures: Matplotlib figures, each with a text of its numbers. Only this package imports Matplotlib.

A function here draws each picture of the course: ``gnt.plot.gantt(profile)``.
"""

# Import all functions now, not on first use: a module and its function share a name (gantt, ladder), so a later import
# of the module would hide the function.
from gn_tutorial.plot.accuracy import accuracy_map
from gn_tutorial.plot.bits import bits_over_orders
from gn_tutorial.plot.bounds import bounds_and_times
from gn_tutorial.plot.cores import time_against_cores
from gn_tutorial.plot.finding import finding
from gn_tutorial.plot.fusion import fusion
from gn_tutorial.plot.gantt import gantt, gantt_cores, gantt_launches
from gn_tutorial.plot.global_memory import gm_access
from gn_tutorial.plot.gradient import step_errors
from gn_tutorial.plot.interactive import LiveTimeline, timeline
from gn_tutorial.plot.ladder import ladder, ladder_of
from gn_tutorial.plot.machine import Ceiling, bounds_roofline, copy_order, core_balance, vector_core
from gn_tutorial.plot.objectives import class_goals, goals
from gn_tutorial.plot.picture import Picture, block_map, variance_errors
from gn_tutorial.plot.roofline import launch_roofline, limits
from gn_tutorial.plot.shares import shares
from gn_tutorial.plot.tiles import tile_stairs
from gn_tutorial.plot.training import compare_losses
from gn_tutorial.plot.tuning import tuning_curve, tuning_curves
from gn_tutorial.plot.unified_buffer import ub_map

__all__ = [
    "Ceiling",
    "LiveTimeline",
    "Picture",
    "accuracy_map",
    "bits_over_orders",
    "block_map",
    "bounds_and_times",
    "bounds_roofline",
    "class_goals",
    "compare_losses",
    "copy_order",
    "core_balance",
    "finding",
    "fusion",
    "gantt",
    "gantt_cores",
    "gantt_launches",
    "gm_access",
    "goals",
    "ladder",
    "ladder_of",
    "launch_roofline",
    "limits",
    "shares",
    "step_errors",
    "tile_stairs",
    "time_against_cores",
    "timeline",
    "tuning_curve",
    "tuning_curves",
    "ub_map",
    "variance_errors",
    "vector_core",
]
