"""How near a right operator comes to the lower bound, and what it loses for that. Modelled, not measured."""

from __future__ import annotations

from gn_tutorial.course.exam.hidden import HiddenCall
from gn_tutorial.course.exam.marks import Loss
from gn_tutorial.course.exam.task import SPEED, Task
from gn_tutorial.errors import GntError
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.projects.project import Project
from gn_tutorial.timing.machine import DEFAULT_MACHINE

#: Fewer points are none that a report shows.
_LEAST = 0.05


def speed(task: Task, project: Project, hidden: HiddenCall) -> tuple[float | None, tuple[Loss, ...]]:
    """The share of the bound in that call, None if it does not run; and what is lost for it."""
    most, read = float(task.points[SPEED]), task.reading(SPEED)
    # A chip whose times nobody has measured: those of the default one, tiled for its cores.
    machine = project.soc.machine or DEFAULT_MACHINE
    timed = project if project.soc.machine else project.on(machine)
    try:
        result = run_traced(timed, isolated=True, **hidden.arrays, **hidden.attributes)
        profile = profile_of(result, machine=machine, inputs=dict(hidden.arrays))
    except GntError as error:
        return None, (Loss(f"no time: {error.what}", {SPEED: most}, error.where, str(hidden), 1, read),)
    share = 1.0 / profile.of_bound if profile.of_bound else 0.0
    lost = most * (1.0 - min(1.0, share / task.bound.full_share))
    if lost < _LEAST:
        return share, ()
    what = (
        f"modelled time {profile.microseconds:.1f} us, {share:.0%} of what the bound allows "
        f"({task.bound.full_share:.0%} earns all points); the launch is limited by {profile.binding.name}"
    )
    return share, (Loss(what, {SPEED: lost}, case=str(hidden), cases=1, read=read),)
