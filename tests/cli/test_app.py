"""The command line as a whole: its help, its authors' commands, and what a mistake looks like."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Gnt, visible

import gn_tutorial
from gn_tutorial.cli import app, commands
from gn_tutorial.cli.command import Command, Panel, find_command, find_commands
from gn_tutorial.errors import RegistryError
from gn_tutorial.operators import registry
from gn_tutorial.timing.machine import machines

COMMANDS = find_commands(commands)
AUTHORS = [one for one in COMMANDS if one.panel is Panel.DEV]


def test_help_is_quick_because_commands_import_late() -> None:
    """Without the package's own ``__init__``, which is no part of the command line."""
    program = f"""
        import sys, types
        package = types.ModuleType("gn_tutorial")
        package.__path__ = [{str(Path(gn_tutorial.__file__).parent)!r}]
        sys.modules["gn_tutorial"] = package
        import gn_tutorial.cli.app
        gn_tutorial.cli.app.make_app()
        print(*sys.modules)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "gn_tutorial.cli.commands.tune" in loaded
    heavy = {"numpy", "matplotlib", "torch", "PIL", "rich.table", "gn_tutorial.operators", "gn_tutorial.runtime"}
    assert loaded & heavy == set()


def test_help_and_version(gnt: Gnt) -> None:
    helped = gnt("--help")
    assert helped.code == 0
    for command in visible(app.app):
        assert f"\u2502 {command} " in helped.out
    assert all(panel.value in helped.out for panel in Panel if any(one.panel is panel for one in COMMANDS))
    assert gnt("--version").out.startswith("gnt ")


def test_commands_do_not_import_one_another() -> None:
    folder = Path(commands.__file__).parent
    assert [path.name for path in sorted(folder.glob("*.py")) if "cli.commands" in path.read_text()] == []


def test_the_script_that_is_installed_is_this_main() -> None:
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    module, _, name = tomllib.loads(pyproject.read_text())["project"]["scripts"]["gnt"].partition(":")
    assert getattr(importlib.import_module(module), name) is app.main


def test_the_learner_s_commands_come_first() -> None:
    shown = visible(app.app)
    first = [
        "tour",
        "lab",
        "learn",
        "puzzle",
        "quiz",
        "exam",
        "new",
        "grade",
        "run",
        "project",
        "profile",
        "diff",
        "explain",
        "doctor",
        "list",
        "progress",
    ]
    assert shown[:16] == first
    assert shown[16:19] == ["bench", "tune", "apis"]
    assert shown[-1] == "dev"
    assert {one.name for one in AUTHORS} & set(shown) == {"npu"}, "dev npu builds for one, npu verify runs on it"
    assert visible(app.app, "dev") == [one.name for one in AUTHORS]


@pytest.mark.parametrize("command", [one for one in AUTHORS if one.old_names], ids=lambda one: one.name)
def test_an_author_s_command_answers_to_its_old_name(gnt: Gnt, command: Command) -> None:
    def helped(*words: str) -> tuple[int, str]:
        ran = gnt(*words, "--help")
        return ran.code, ran.out.partition("\n\n")[2] or ran.out  # behind the usage line, which names the command

    (old,) = command.old_names
    assert helped(old)[0] == 0
    assert helped(old)[1].splitlines()[3:] == helped("dev", command.name)[1].splitlines()[3:]


def test_old_and_new_name_do_the_same(gnt: Gnt) -> None:
    assert gnt("prototype", "group_norm") == gnt("dev", "prototype", "group_norm")
    assert gnt("exercise", "list", "--json") == gnt("dev", "exercise", "list", "--json")
    assert gnt("calibrate", "nothing") == gnt("dev", "calibrate", "nothing")


DROPPED_IN = """
from gn_tutorial.cli.command import Command, Panel

def greet(name: str, loud: bool = False) -> None:
    "Greet somebody."
    print(f"hello {name}{'!' * loud}")

COMMAND = Command("dropped-in", greet, Panel.TEACH, 10)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A further folder of commands: a module in it is as good as one in the package's."""
    before = set(sys.modules)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(f"{commands.__name__}."):
            del sys.modules[name]


def test_a_module_in_the_folder_is_a_command(gnt: Gnt, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = visible(app.app)
    (folder / "dropped_in.py").write_text(DROPPED_IN)
    monkeypatch.setattr(app, "app", app.make_app())
    shown = visible(app.app)
    assert [name for name in shown if name not in before] == ["dropped-in"]
    # Teachers' commands come behind everybody's and before the authors'.
    assert shown.index("cache") < shown.index("dropped-in") < shown.index("dev")
    helped = gnt("--help").out
    assert "Greet somebody." in helped
    assert Panel.TEACH.value in helped
    assert gnt("dropped-in", "class", "--loud").out == "hello class!\n"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_a_command_alone_says_of_itself_what_it_says_among_all(command: Command, gnt: Gnt) -> None:
    words = (command.name,) if command.panel is not Panel.DEV else ("dev", command.name)
    vars(app).pop("app", None)
    alone = gnt(*words, "--help").out
    assert "app" not in vars(app)
    assert app.app is app.app
    assert gnt(*words, "--help").out == alone
    assert find_command(commands, words[0]) == (None if words[0] == "dev" else command)


@pytest.mark.parametrize("word", ["--help", "leran", "dev", "calibrate", "__init__", "host_library", ""])
def test_all_commands_are_there_where_no_single_one_is_asked_for(word: str) -> None:
    assert find_command(commands, word) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "dropped_in declares no command"), (DROPPED_IN.replace("dropped-in", "tour"), "declare the command 'tour'")],
)
def test_a_module_that_declares_nothing_or_a_name_twice(folder: Path, text: str, message: str) -> None:
    (folder / "dropped_in.py").write_text(text)
    with pytest.raises(RegistryError, match=message):
        find_commands(commands)


@pytest.mark.parametrize("command", ["profile", "diff", "bench", "tune", "calibrate"])
def test_help_names_the_machines_that_there_are(gnt: Gnt, command: str) -> None:
    helped = gnt(command, "--help").out
    assert all(name in helped for name in machines())


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "group_norm/scaler"), 2, "did you mean group_norm/scalar"),
        (("run", "group_norm/scalar", "--groups", "3"), 2, "C"),
        (("run", "group_norm/scalar", "--shape", "8"), 2, "it needs at least 2 axes"),
        (("run", "group_norm/scalar", "--shape", "2,a"), 2, "'2,a' is no shape"),
        (("run", "group_norm/scalar", "--set", "eps"), 2, "--set eps: a name, '=' and a value are needed"),
        (("run", "group_norm/scalar", "--set", "epsilon=1"), 2, "has no argument 'epsilon'"),
        (("run", "group_norm/scalar", "--arg", "n=1"), 2, "--arg does not apply"),
        (("run", "group_norm/scalar", "--dtype", "float16"), 2, "'x' is float16; group_norm/scalar has float32"),
        (("run", "absent.cpp"), 2, "there is no file absent.cpp"),
        (("show", "absent.cpp"), 2, "there is no file absent.cpp"),
        (("show", "copy", "--tiling"), 2, "no tiling struct"),
        (("apis", "NoSuchApi"), 2, "no Ascend C name matches 'NoSuchApi'"),
        (("fly",), 2, "No such command"),
        (("run", "copy", "--blocks", "many"), 2, "--blocks"),
    ],
)
def test_users_mistake_is_a_message_with_a_code(gnt: Gnt, words: tuple[str, ...], code: int, message: str) -> None:
    ran = gnt(*words)
    assert ran.code == code
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_unexpected_error_keeps_its_traceback_and_says_where_to_report(
    gnt: Gnt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(registry, "load_registry", broken)
    ran = gnt("list")
    assert ran.code == app.INTERNAL_ERROR
    assert "Traceback" in ran.err
    assert "ZeroDivisionError: a mistake of ours" in ran.err
    assert "Please report it" in ran.err
