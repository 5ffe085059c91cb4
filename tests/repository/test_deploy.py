"""Files that others run: the hub's configurations, the image, the workflow. What cannot run here is read."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import yaml

ROOT = Path(__file__).resolve().parents[2]
HUB = ROOT / "deploy" / "jupyterhub"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


class Settings(SimpleNamespace):
    """What traitlets gives a configuration file: any name holds names."""

    def __getattr__(self, name: str) -> Settings:
        setattr(self, name, Settings())
        return self.__dict__[name]


def test_the_hubs_configuration_starts_our_server_and_lets_only_named_learners_in(monkeypatch) -> None:  # noqa: ANN001
    monkeypatch.setenv("GNT_HUB_LEARNERS", "anne,bert")
    config = Settings()
    exec(compile((HUB / "jupyterhub_config.py").read_text(), "config", "exec"), {"get_config": lambda: config})
    assert config.Spawner.cmd[1:] == ["-m", "gn_tutorial.course.lab.hub"]
    assert (config.Authenticator.allow_all, config.Authenticator.allowed_users) == (False, {"anne", "bert"})
    assert config.LocalAuthenticator.create_system_users is False
    (idle,) = config.JupyterHub.services
    assert "jupyterhub_idle_culler" in idle["command"]
    assert config.JupyterHub.load_roles[0]["services"] == [idle["name"]]


def test_kubernetes_values_have_limits_and_no_network() -> None:
    values = yaml.safe_load((HUB / "zero-to-jupyterhub.yaml").read_text())
    one = values["singleuser"]
    assert one["cmd"] == ["python", "-m", "gn_tutorial.course.lab.hub"]
    assert (one["image"]["tag"], one["memory"]["limit"]) == (VERSION, "2G")
    assert not any(one["networkPolicy"]["egressAllowRules"].values())
    (mount,), (volume,) = one["storage"]["extraVolumeMounts"], one["storage"]["extraVolumes"]
    assert (mount["name"], mount["mountPath"]) == (volume["name"], "/dev/shm")
    assert values["cull"]["enabled"]


def test_the_image_installs_what_the_package_asks_for() -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert next(one for one in extras["torch"] if one.startswith("torch==")) in text
    used = re.findall(r"GNT_CACHE_(?:DIR|BASE)=(\S+)", text)
    assert set(used) == {"/srv/gnt_cache"}
    assert text.index("chmod -R a-w /srv/gnt_cache") < text.index("\nUSER ")
    requirements = (HUB / "requirements.txt").read_text()
    major = re.search(r"^ARG JUPYTERHUB=(\d+)\.", text, re.MULTILINE)[1]
    assert f"jupyterhub=={major}." in requirements, "jupyterhub-singleuser has to fit the hub"


def test_the_devcontainer_uses_that_image() -> None:
    found = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / found["build"]["dockerfile"]).resolve() == ROOT / "deploy" / "Dockerfile"


def test_workflows_run_commands_that_are_there() -> None:
    (workflow,) = (ROOT / ".github" / "workflows").glob("*.yml")
    steps = yaml.safe_load(workflow.read_text())["jobs"]["site"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        "npm ci --prefix web/playground",
        "./gnt site --playground",
    ]
    assert "  site)" in (ROOT / "gnt").read_text()
