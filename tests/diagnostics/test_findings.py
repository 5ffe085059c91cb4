"""Reports of the twin: read, put into words, shown beside the source, raised."""

import json
import re
import string
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gn_tutorial.diagnostics import findings
from gn_tutorial.diagnostics.catalogue import CatalogueEntry
from gn_tutorial.diagnostics.findings import SHOWN, Diagnostic, Findings, kernel_fault, parse_report, printed_tail
from gn_tutorial.errors import KernelFault

PACKAGE = Path(findings.__file__).parents[1]
CATALOGUE = tomllib.loads((PACKAGE / "diagnostics" / "diagnostics.toml").read_text(encoding="utf-8"))
KERNEL = """\
void Init() {
  pipe.InitBuffer(inQueue, 2, 64);
}
void Compute() {
\tAscendC::Add(z, x, y, 128);
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cpp"
    path.write_text(KERNEL)
    return path


def line(**changes: Any) -> str:
    data = {"id": "ub-overflow", "severity": "error", "file": "k.cpp", "line": 5, "block": 1, "fields": {"num": 2}}
    return json.dumps(data | changes)


def out_of_bounds(file: Path | str, **fields: Any) -> Diagnostic:
    facts = {"op": "Add", "bytes": 512, "role": "src0", "room": 64, "offset": 0, "buffer_bytes": 64}
    facts |= {"buffer_file": str(file), "buffer_line": 2} | fields
    return Diagnostic("ub-out-of-bounds", "error", str(file), 5, 3, facts)


def test_a_report_is_one_object_a_line() -> None:
    found = parse_report((line() + "\n" + line(block=2, severity="warning") + "\n").encode())
    assert [(one.id, one.severity, one.file, one.line, one.block) for one in found] == [
        ("ub-overflow", "error", "k.cpp", 5, 1),
        ("ub-overflow", "warning", "k.cpp", 5, 2),
    ]
    assert found[0].fields == {"num": 2}


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_cut_off_last_line_is_left_out(cut: int) -> None:
    assert len(parse_report((line() + "\n" + line()[:-cut]).encode())) == 1


@pytest.mark.parametrize("bad", [b"", b"\0old", b"{}\n", b"[1]\n", b"null\n", b"\xff\xfe\n", line(fields=3).encode()])
def test_what_is_no_diagnostic_is_left_out(bad: bytes) -> None:
    assert parse_report(bad) == ()


def test_the_report_ends_at_its_nul() -> None:
    assert len(parse_report(line().encode() + b"\n\0" + line().encode() + b"\n")) == 1


def test_sentences_are_made_of_the_facts_and_the_buffers_name(kernel: Path) -> None:
    found = out_of_bounds(kernel)
    assert "Add touches 512 bytes of src0" in found.what
    assert "of inQueue, a buffer of 64 bytes" in found.what
    assert found.where == f"{kernel}:5:11, block 3"
    assert found.why
    assert found.fix


def test_rendering_marks_the_operation_and_the_other_place(kernel: Path) -> None:
    lines = out_of_bounds(kernel).render().splitlines()
    add = next(i for i, text in enumerate(lines) if "5 |     AscendC::Add(z, x, y, 128);" in text)
    assert lines[add + 1].index("^^^") == lines[add].index("Add")
    made = next(i for i, text in enumerate(lines) if "pipe.InitBuffer(inQueue, 2, 64);" in text)
    assert lines[made + 1].index("-") == lines[made].index("InitBuffer")
    assert lines[made + 1].endswith("- made here")


def test_an_edited_file_is_read_again(kernel: Path) -> None:
    assert "inQueue" in out_of_bounds(kernel).what
    kernel.write_text(KERNEL.replace("inQueue", "theOtherQueue"))
    assert "theOtherQueue" in out_of_bounds(kernel).what


def test_a_source_that_cannot_be_read_is_done_without() -> None:
    found = out_of_bounds("/no/such/kernel.cpp")
    assert "the buffer" in found.what
    assert "^" not in found.render()
    assert "/no/such/kernel.cpp:5, block 3" in found.render()


def test_an_unknown_id_is_spelt_out() -> None:
    found = Diagnostic("cube-on-strike", "error", "", 0, 2, {"tiles": 4, "op": "Mmad"})
    assert found.what == "cube on strike (tiles 4, op Mmad)"
    assert found.where == "block 2"
    assert (found.why, found.fix) == ("", "")
    assert found.render() == "error: cube on strike (tiles 4, op Mmad)\n  where: block 2"


def test_a_missing_or_odd_fact_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "?" in Diagnostic("ub-overflow", "error", "k.cpp", 1, 0, {}).what
    odd = CatalogueEntry("odd", "", what="{n:d} tiles", why="{n.real.nothing}", fix="{")
    monkeypatch.setattr(findings, "entries", lambda: {"odd": odd})
    found = Diagnostic("odd", "error", "k.cpp", 1, 0, {"n": "many"})
    assert (found.what, found.why, found.fix) == ("{n:d} tiles", "{n.real.nothing}", "{")


def test_the_first_error_becomes_the_exception(kernel: Path) -> None:
    warning = Diagnostic("gm-misaligned", "warning", str(kernel), 1, 0, {})
    first, second = out_of_bounds(kernel), out_of_bounds(kernel, op="Mul")
    fault = kernel_fault([warning, first, second], printed="tile 3\n")
    assert fault.what == first.what
    assert fault.where == first.where
    assert fault.hint == first.fix
    assert fault.diagnostics == (warning, first, second)
    assert fault.printed == "tile 3\n"
    text = str(fault)
    assert first.why in text
    assert second.what in text
    assert "tile 3" in text


def test_several_findings_are_listed_in_order_and_the_rest_counted(kernel: Path) -> None:
    warning = Diagnostic("gm-misaligned", "warning", str(kernel), 1, 0, {})
    many = [out_of_bounds(kernel, op=f"Op{i}") for i in range(SHOWN + 2)]
    text = str(kernel_fault([warning, *many]))
    shown = [f"Op{i} touches" in text for i in range(len(many))]
    assert shown == [True] * SHOWN + [False] * 2
    assert text.index("Op0") < text.index("error: Op1") < text.index("error: Op2")
    assert text.splitlines()[0].startswith("Op0 touches")
    assert text.count("  why:") == 1, "the reasons of one id are printed once"
    assert text.splitlines()[-1] == "... and 3 more: 2 ub-out-of-bounds, 1 gm-misaligned"


def test_findings_show_themselves(kernel: Path) -> None:
    found = Findings([out_of_bounds(kernel), out_of_bounds(kernel, op="Mul")])
    assert repr(found) == found.render()
    assert repr(found).startswith("error: Add touches")
    assert found._repr_html_().count("<pre") == 2
    assert found._repr_html_().count("<b>why</b>") == 1
    assert str(kernel.parent) not in found._repr_html_()
    assert kernel_fault(found)._repr_html_() == found._repr_html_()
    assert repr(Findings()) == "no findings"
    assert "no findings" in Findings()._repr_html_()
    assert KernelFault("without data")._repr_html_() is None


def test_a_finding_as_plain_data(kernel: Path) -> None:
    """The keys of docs/architecture.md, all of them values that JSON has."""
    found = out_of_bounds(kernel)
    data = found.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert {key: data[key] for key in ("id", "severity", "file", "line", "column", "block", "buffer", "link")} == {
        "id": "ub-out-of-bounds",
        "severity": "error",
        "file": str(kernel),
        "line": 5,
        "column": 11,
        "block": 3,
        "buffer": "inQueue",
        "link": "docs/diagnostics/ub-out-of-bounds.md",
    }
    assert data["places"] == [{"name": "buffer", "file": str(kernel), "line": 2, "column": 8}]
    assert (data["what"], data["why"], data["fix"]) == (found.what, found.why, found.fix)
    assert data["fields"]["bytes"] == 512
    table = (PACKAGE.parent / "docs" / "architecture.md").read_text()
    assert [key for key in data if f"`{key}`" not in table] == []


def test_an_unknown_id_has_no_page() -> None:
    found = Diagnostic("cube-on-strike", "error", "", 0, 2, {})
    assert (found.link, found.view().more) == ("", "")


def test_the_other_access_has_its_own_operation_and_label(tmp_path: Path) -> None:
    path = tmp_path / "race.cpp"
    path.write_text("  DataCopy(t, g, 8);\n  Add(t, t, t, 8);\n")
    facts = {"op": "Add", "earlier_file": str(path), "earlier_line": 1, "earlier_op": "DataCopy"}
    lines = Diagnostic("a-race", "error", str(path), 2, 0, facts).source().splitlines()
    assert lines[1].endswith("|   ^^^")
    assert lines[3].endswith("|   -------- earlier")


def test_a_stop_without_a_reason_is_still_a_fault() -> None:
    assert "without saying why" in kernel_fault([]).what


def test_only_the_last_printed_lines_are_shown() -> None:
    assert printed_tail("") == ""
    assert printed_tail("a\nb\n") == "printed:\n  a\n  b"
    tail = printed_tail("".join(f"line {i}\n" for i in range(50)))
    assert tail.splitlines()[0] == "printed (last 10 of 50 lines):"
    assert tail.splitlines()[-1] == "  line 49"


@pytest.mark.parametrize("name", CATALOGUE)
def test_names_and_templates_can_be_read(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    for part in ("what", "why", "fix"):
        list(string.Formatter().parse(CATALOGUE[name][part]))


def test_the_twin_and_the_catalogue_know_the_same_ids() -> None:
    """An id without sentences would be spelt out; sentences without an id are never shown."""
    sources = "".join(path.read_text() for path in (PACKAGE / "twin" / "include").rglob("*.h"))
    sources += (PACKAGE / "runtime" / "outcome.py").read_text()
    sources += (PACKAGE / "compiler" / "address_spaces.py").read_text()
    sources += "".join(path.read_text() for path in (PACKAGE / "cpp" / "rules").glob("*.py"))
    quoted = set(re.findall(r'"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"', sources))
    quoted |= {f"language-{name}" for name in re.findall(r'\.finding\(\s*"([a-z0-9-]+)"', sources)}
    assert set(CATALOGUE) - quoted == set(), "never reported"
    reported = set(
        re.findall(
            r'(?:Stop|BadCall|Write|Diagnostic|SourceFinding)\(\s*(?:\*?\w+,\s*)?"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"',
            sources,
        )
    )
    assert reported - set(CATALOGUE) == set(), "without sentences"
