"""The documents against what they describe: links, commands, the table of hardware choices."""

import dataclasses
import re
from pathlib import Path

from command_line import visible

from gn_tutorial.abi import structs
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_links_lead_somewhere() -> None:
    targets = [(page, one) for page in PAGES for one in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())]
    assert len(targets) > 400
    assert [one for one in targets if "://" not in one[1] and not (one[0].parent / one[1]).exists()] == []


def test_commands_exist() -> None:
    own = set(re.findall(r"^  ([a-z]+)(?: \|.*)?\)$", (ROOT / "gnt").read_text(), re.MULTILINE))
    assert {"test", "lab", "lint", "commands"} <= own
    installed, authors = set(visible(app.app)), set(visible(app.app, "dev"))
    name = "([a-z]+(?:-[a-z]+)*)"
    for page in PAGES:
        text = page.read_text()
        named = set(re.findall(rf"(?:^|`)\./gnt {name}", text, re.MULTILINE))
        assert named <= own | installed, page
        assert set(re.findall(rf"(?:^|`)gnt {name}", text, re.MULTILINE)) <= installed, page
        assert set(re.findall(rf"\bgnt dev {name}", text)) <= authors, page


def test_files_named_in_the_documents_exist() -> None:
    named = re.compile(r"`((?:gn_tutorial|tests|docs|kernels|notebooks|\.ci)/[\w./]+)`")
    found = [(page.name, one) for page in PAGES for one in named.findall(page.read_text())]
    planned = {"kernels/npu", "notebooks/NN_topic.ipynb"}  # a folder to come, and a pattern
    assert len(found) > 10
    assert [(page, one) for page, one in found if not (ROOT / one).exists() and one not in planned] == []


def test_hardware_choices_lists_every_option() -> None:
    tables = (ROOT / "docs" / "hardware-choices.md").read_text().split("|---|---|---|---|\n")[1:]
    lines = [line for table in tables for line in table.split("\n\n")[0].splitlines()]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    fields = {name for name, *_ in structs.GntOptions._fields_} - {"reserved"}
    switches = {match[1]: match[2] for row in rows if (match := re.fullmatch(r'`(\w+)=("?\w+"?)`', row[2]))}
    assert set(switches) == fields
    assert {field.name for field in dataclasses.fields(TwinOptions)} == fields | {"warnings", "errors"}
    for name, value in switches.items():
        # The switch in the table is the other choice, not the default.
        chosen = TwinOptions(
            **{name: {"True": True, "False": False}.get(value, int(value) if value.isdigit() else value.strip('"'))}
        ).to_abi()
        assert getattr(chosen, name) != getattr(TwinOptions().to_abi(), name)
    for row in rows:
        for path, name in re.findall(r"`(tests/\w+\.py)::(\w+)`", row[3]):
            assert f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"
        assert "`tests/" in row[3], row
