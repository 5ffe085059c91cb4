"""The catalogue of diagnostics: families, symptoms, near ids, and pages that are current."""

import re
from pathlib import Path

import make_catalogue
import pytest

from gn_tutorial.diagnostics import catalogue
from gn_tutorial.diagnostics.catalogue import CatalogueEntry, find, near, read_entries, read_symptoms
from gn_tutorial.diagnostics.findings import Findings
from gn_tutorial.errors import ArgumentError, RegistryError

FOLDER = make_catalogue.ROOT / catalogue.PAGES
TEXT = """
# --- Queues ---
[queue-empty]
what = "DeQue on {buffer_name}"
why = "The device hangs."
fix = "EnQue"
# --- Races -----
[race-write]
what = "{op} races"
why = "The order differs."
fix = "Wait"
[race-read]
what = "w"
why = "y"
fix = "f"
"""


@pytest.mark.thorough  # ./gnt lint does the same
def test_pages_are_current() -> None:
    assert make_catalogue.stale() == [], f"repair with: {make_catalogue.COMMAND}"


def test_keys_and_words_of_the_package_are_known() -> None:
    catalogue.check()


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        ("diagnostics", 'decided_by = ["length"]', 'decided_by = ["lenght"]', "decided_by cannot be 'lenght'"),
        ("diagnostics", 'decided_by = ["length"]', 'decides = ["length"]', "has the unknown key 'decides'"),
        ("diagnostics", "ends = true", 'ends = "yes"', "ub-index: Expected `bool`, got `str`"),
        ("diagnostics", 'harmless_form_of = "race-blocks"', 'harmless_form_of = "race"', "race-equal-bytes: .* 'race'"),
        (
            "diagnostics",
            'why = "Harmless here',
            'whine = "Harmless here',
            "ub-use-of-freed has the unknown key 'whine'",
        ),
        ("causes", 'fix_at = "queue"', 'fix_at = "queues"', "queue-of-inputs: fix_at cannot be 'queues'"),
        ("causes", 'fix = "Call', "decided_by = [] # ", "not-enqueued: Object missing required field `fix`"),
        ("symptoms", "look =", "loook =", "'Wrong numbers in the tail' has the unknown key 'loook'"),
        ("words", "[places]", "[labels]", "the file has the unknown key 'labels'"),
        ("words", 'written = "written"', "written = 1", "Expected `str`, got `int`"),
    ],
)
def test_a_key_or_word_that_means_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, before: str, after: str, told: str
) -> None:
    for path in (make_catalogue.ROOT / "gn_tutorial" / "diagnostics").glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert path.stem != file or before in text
        (tmp_path / path.name).write_text(text.replace(before, after, 1) if path.stem == file else text)
    monkeypatch.setattr(catalogue, "_HERE", tmp_path)
    with pytest.raises(RegistryError, match=rf"{file}\.toml: .*{told}") as caught:
        catalogue.check()
    assert caught.value.hint.startswith(("keys: ", "one of "))


def test_every_diagnostic_has_a_page_a_family_and_a_symptom() -> None:
    names = set(catalogue.entries())
    assert {path.stem for path in FOLDER.glob("*.md")} == names | {"README"}
    assert [entry.id for entry in catalogue.entries().values() if not entry.family] == []
    shown = {name for symptom in catalogue.symptoms() for name in symptom.ids}
    assert names - shown == set(), "give these ids `symptoms` in gn_tutorial/diagnostics/diagnostics.toml"


def test_pages_name_no_folder_and_keep_no_mark_of_the_tests() -> None:
    for path in FOLDER.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w./])/\w+/", text), path.name
        assert "expect:" not in text, path.name


@pytest.mark.parametrize("name", ["ub-out-of-bounds", "queue-no-free-buffer", "flag-wait-unset"])
def test_a_page_has_the_mistake_its_repair_and_what_the_twin_says(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    wrong, right = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    assert wrong.count("// <-- wrong") >= 1
    assert right.count("// <-- right") >= 1
    marked = max(number for number, line in enumerate(wrong.splitlines(), 1) if "// <--" in line)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert re.search(rf"  where: \w+\.cpp:{marked}:\d+, block 0", printed)
    assert f"gnt explain {name}" in printed


def copy_pages(folder: Path) -> None:
    (folder / catalogue.PAGES).mkdir(parents=True)
    for path in FOLDER.glob("*.md"):
        (folder / catalogue.PAGES / path.name).write_bytes(path.read_bytes())


@pytest.mark.thorough
def test_stale_pages_are_found_and_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was edited, one that is missing, one of an id that was removed; making all pages takes seconds."""
    copy_pages(tmp_path)
    pages = tmp_path / catalogue.PAGES
    (pages / "ub-index.md").write_text("edited")
    (pages / "ub-misaligned.md").unlink()
    (pages / "gone-id.md").write_text("of an id that was removed")
    monkeypatch.setattr(make_catalogue, "ROOT", tmp_path)
    assert sorted(make_catalogue.stale()) == ["gone-id.md", "ub-index.md", "ub-misaligned.md"]
    assert make_catalogue.main(["--check"]) == 1
    assert make_catalogue.main([]) == 0
    assert make_catalogue.main(["--check"]) == 0


def test_a_program_that_gives_another_diagnostic_is_refused() -> None:
    with pytest.raises(ValueError, match=r"index_bad\.cpp does not give ub-overflow"):
        make_catalogue.example("memory/index_bad", "ub-overflow")


def test_a_place_without_a_label_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_catalogue, "label_of", lambda place, *shown: "")
    with pytest.raises(ValueError, match=r"ub-out-of-bounds has a place 'buffer' in .*, and no label for it"):
        make_catalogue.example("memory/out_of_bounds_bad", "ub-out-of-bounds")


def test_the_program_called_like_the_id_comes_first() -> None:
    assert make_catalogue.examples("gm-out-of-bounds")[0].name == "global/out_of_bounds_bad"


def test_differing_lines_are_marked_and_where_it_is_found() -> None:
    pair = make_catalogue.Example(
        "x",
        "void k_bad(int n) {\n  Init(64);\n  Use(65);\n}",
        "void k_ok(int n) {\n  Init(65);\n  Use(65);\n}",
        3,
        "",
        "",
    )
    wrong, right = make_catalogue.marked(pair)
    assert wrong.splitlines()[1:3] == ["  Init(64);  // <-- wrong", "  Use(65);  // <-- found here"]
    assert right.splitlines()[1:3] == ["  Init(65);  // <-- right", "  Use(65);"]


def test_facts_are_words_and_brackets_are_no_html() -> None:
    page = make_catalogue.page(CatalogueEntry("a-b", "F", "WaitFlag<{event}>({own_id})", "y", "f"), [])
    assert "WaitFlag\\<*event*>(*own id*)" in page
    assert "no program to show" in page


def test_a_finding_of_a_warning_is_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch that goes on returns its findings instead of raising them."""

    class Launched:
        diagnostics = Findings()

    monkeypatch.setattr(make_catalogue.programs, "run", lambda name: Launched())
    assert make_catalogue.run("memory/index_bad") == ("", Findings())


def test_families_are_the_comments_between_dashes() -> None:
    assert {one.id: one.family for one in read_entries(TEXT).values()} == {
        "queue-empty": "Queues",
        "race-write": "Races",
        "race-read": "Races",
    }


def test_symptoms_list_ids_by_name_and_by_pattern() -> None:
    text = """
    [[symptom]]
    title = "A"
    look = "l"
    ids = ["race-w*", "queue-empty", "race-*", "planned-*"]
    [[symptom]]
    title = "B"
    look = "l"
    """
    first, second = read_symptoms(text, read_entries(TEXT))
    assert first.ids == ("race-write", "queue-empty", "race-read")
    assert second.ids == ()
    with pytest.raises(RegistryError, match="'A' lists queue-full"):
        read_symptoms(text.replace("queue-empty", "queue-full"), read_entries(TEXT))


def test_an_id_can_name_its_symptoms_itself() -> None:
    known = read_entries(TEXT.replace("[race-write]", '[race-write]\nsymptoms = ["B"]'))
    text = '[[symptom]]\ntitle = "{}"\nlook = "l"\nids = ["queue-empty"]\n'
    (symptom,) = read_symptoms(text.format("B"), known)
    assert symptom.ids == ("queue-empty", "race-write")
    with pytest.raises(RegistryError, match="race-write names the symptom 'B'"):
        read_symptoms(text.format("A"), known)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ub-outofbounds", "ub-out-of-bounds"),
        ("que-emty", "queue-empty"),
        ("deadlock", "sync-all-deadlock"),
        ("misaligned", "ub-misaligned"),
        ("flag-unset", "flag-wait-unset"),
    ],
)
def test_near_ids_are_suggested(typed: str, meant: str) -> None:
    assert meant in near(typed)
    with pytest.raises(ArgumentError, match="gnt explain lists them all") as caught:
        find(typed)
    assert meant in caught.value.hint


def test_an_id_is_found_however_it_is_written() -> None:
    assert find("UB_Index").id == "ub-index"
    assert near("zzzz") == []


def test_an_id_without_a_page_shows_its_sentences() -> None:
    assert catalogue.read_page(CatalogueEntry("no-page-yet", "F", "What.", "Why.", "Fix.")).split("\n\n")[1:] == [
        "What.",
        "Why.",
        "Fix.\n",
    ]
