"""JupyterHub on one machine, for a class: a learner is a Unix user, with limits of memory and processors.

As root, with the course installed for all (not in somebody's home):

    apt install g++ npm && npm install -g configurable-http-proxy
    python3 -m venv /opt/gnt && /opt/gnt/bin/pip install 'gn_tutorial-0.2.0-py3-none-any.whl[lab]' -r requirements.txt
    GNT_CACHE_DIR=/srv/gnt_cache /opt/gnt/bin/gnt tour
    cd /srv && PATH=/opt/gnt/bin:$PATH jupyterhub -f jupyterhub_config.py

docs/teaching/hub.md has the sizes of machines, and what was measured.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821

#: Of one learner. A notebook and its server take about 250 MB, the compiler half a gigabyte for some seconds.
MEMORY = os.environ.get("GNT_HUB_MEMORY", "2G")
CORES = float(os.environ.get("GNT_HUB_CORES", "2"))
#: Seconds without a sign of life after which a server is stopped; what was saved stays.
IDLE = 3600

c.Spawner.cmd = [sys.executable, "-m", "gn_tutorial.course.lab.hub"]
c.Spawner.environment = {"GNT_CACHE_BASE": "/srv/gnt_cache"}
# A lesson begins when everybody clicks at once. With a limit of 20, 14 of 40 learners were sent away ("too many users
# trying to log in"), on two cores; without one they all wait a little longer.
c.JupyterHub.concurrent_spawn_limit = 0
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300

# systemd holds the limits; without it they are not held.
if Path("/run/systemd/system").exists():
    c.JupyterHub.spawner_class = "systemd"
    c.SystemdSpawner.mem_limit = MEMORY
    c.SystemdSpawner.cpu_limit = CORES
    # /tmp of his own for each learner, and no way to root's rights.
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.disable_user_sudo = True
else:
    c.JupyterHub.spawner_class = "localprocess"

# Accounts of the machine (PAM). They are made before the class: useradd -m NAME. Nobody else may log in.
c.LocalAuthenticator.create_system_users = False
c.Authenticator.allow_all = False
c.Authenticator.allowed_users = set(filter(None, os.environ.get("GNT_HUB_LEARNERS", "").split(",")))

c.JupyterHub.services = [
    {"name": "idle", "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={IDLE}"]},
]
c.JupyterHub.load_roles = [
    {
        "name": "idle",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle"],
    }
]
