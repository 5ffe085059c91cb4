"""The process that runs a learner's tiling function: ``python -m gn_tutorial.exercises.tiling_child JOB_FOLDER``.

C++ of a learner may divide by zero or never end, and neither may take a notebook with it. The protocol is that of
attempt_job.py: the first fact says whether the header compiles; then one for each call, with the fields, or with the
sentence by which the function refused.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.exercises.attempt_child import read_job, report, report_of
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.operators.tiling import load_tiling


def main(folder: Path) -> None:
    """Compile the header if need be, then call its function once for each entry of ``calls``."""
    job = read_job(folder)
    spec = TilingSpec(Path(job["header"]), job["struct"], job["function"], tuple(job["arguments"]), "")
    with report_of(folder) as answers:
        try:
            function = load_tiling(spec)
        except GntError as error:
            report(answers, {"broken": error.what, "detail": error.detail})
            return
        report(answers, {"compiled": True})
        for call in job["calls"]:
            try:
                report(answers, {"fields": function(call).fields})
            except ArgumentError as error:
                report(answers, {"refused": error.what})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
