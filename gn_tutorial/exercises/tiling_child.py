"""The process that runs a learner's tiling function (``python -m``), the job on standard input.

C++ of a learner may divide by zero or never end, and neither may take a notebook with it. One line of JSON for each
call: the fields, or the sentence with which the function refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.operators.spec import TilingSpec
from gn_tutorial.operators.tiling import load_tiling


def main() -> None:
    """Compile the header if need be, then call its function once for each entry of ``calls``."""
    job = json.load(sys.stdin)
    spec = TilingSpec(Path(job["header"]), job["struct"], job["function"], tuple(job["arguments"]), "")
    try:
        function = load_tiling(spec)
    except GntError as error:
        print(json.dumps({"broken": error.what, "where": error.where, "detail": error.detail}), flush=True)
        return
    for call in job["calls"]:
        try:
            print(json.dumps({"fields": function(call).fields}), flush=True)
        except ArgumentError as error:
            print(json.dumps({"refused": error.what}), flush=True)


if __name__ == "__main__":
    main()
