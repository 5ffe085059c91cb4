"""A learner's server under JupyterHub: ``c.Spawner.cmd = [sys.executable, "-m", "gn_tutorial.course.lab.hub"]``.

The program makes or updates the learner's copies, as ``gnt lab`` does. Then it becomes ``jupyterhub-singleuser`` on
them, with the hub's own arguments. deploy/jupyterhub/ has the configurations.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib import metadata
from pathlib import Path

from gn_tutorial.course.lab.folder import CourseFolder, default_folder, notebooks_root
from gn_tutorial.course.lab.server import Request
from gn_tutorial.course.lab.update import Copies
from gn_tutorial.errors import GntError

_SERVER = "jupyterhub-singleuser"
_VERSION = metadata.version("gn_tutorial")


def prepare() -> Request:
    """Make or update the learner's folder, and return the Request for the server. Raises GntError if that fails.

    Also sets the umask, so that only the learner can read new files of this process and of the server. On many systems
    others can read a home folder.
    """
    os.umask(0o077)
    folder, course = CourseFolder(default_folder()), notebooks_root()
    refused = folder.prepare()
    Copies(folder.notebooks, course, folder.state / "manifest.json", _VERSION).update()
    first = min(path.name for path in course.glob("*.ipynb"))
    return Request(folder, f"notebooks/{first}", port=0, linked="my_exercises" not in refused)


def main() -> None:
    """Replace this process by the server. Errors before that end the process, and go to the hub's log."""
    beside = Path(sys.executable).parent / _SERVER
    program = str(beside) if beside.exists() else shutil.which(_SERVER)
    if program is None:
        raise SystemExit(f"{_SERVER} is not installed: {sys.executable} -m pip install jupyterhub")
    try:
        request = prepare()
    except GntError as error:
        raise SystemExit(str(error)) from None
    words = [program, *request.options(), f"--ServerApp.default_url=/lab/tree/{request.opened}", *sys.argv[1:]]
    os.execve(program, words, request.environment(os.environ))


if __name__ == "__main__":
    main()
