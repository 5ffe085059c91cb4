"""The kernel restarter of JupyterLab's server, which also logs which notebook's kernel died, and its exit code.

The server's own log says only "restarting kernel (1/5)". ``gnt lab`` names this class when it starts the server, and
reads the line (``log_messages.death_in``).
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from jupyter_client.ioloop.restarter import AsyncIOLoopKernelRestarter

from gn_tutorial.course.lab.log_messages import MARK


class TellingRestarter(AsyncIOLoopKernelRestarter):
    """The server's kernel restarter, which logs a line with the facts before it reports a death to the browser."""

    def _fire_callbacks(self, event: str) -> None:
        facts: dict[str, Any] = {"event": event, "notebook": "", "code": None}
        with contextlib.suppress(Exception):  # a later Jupyter may keep the facts elsewhere; the restart matters more
            launched = self.kernel_manager._launch_args or {}
            facts["notebook"] = launched.get("env", {}).get("JPY_SESSION_NAME", "")
            facts["code"] = self.kernel_manager.provisioner.process.poll()
        self.log.warning("%s%s", MARK, json.dumps(facts))
        super()._fire_callbacks(event)
