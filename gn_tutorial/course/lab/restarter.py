"""What JupyterLab's server does when a kernel has died, and a line of its log that says whose it was and why.

The server's own log says "restarting kernel (1/5)" and no more. ``gnt lab`` names this class when it starts the
server, and reads the line (``words.death_in``).
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from jupyter_client.ioloop.restarter import AsyncIOLoopKernelRestarter

from gn_tutorial.course.lab.log_messages import MARK


class TellingRestarter(AsyncIOLoopKernelRestarter):
    """As the server's own. Before it tells the browser of a death, it writes a line with the facts."""

    def _fire_callbacks(self, event: str) -> None:
        facts: dict[str, Any] = {"event": event, "notebook": "", "code": None}
        with contextlib.suppress(Exception):  # a later version may keep them elsewhere: the restart matters more
            launched = self.kernel_manager._launch_args or {}
            facts["notebook"] = launched.get("env", {}).get("JPY_SESSION_NAME", "")
            facts["code"] = self.kernel_manager.provisioner.process.poll()
        self.log.warning("%s%s", MARK, json.dumps(facts))
        super()._fire_callbacks(event)
