"""TOML files as structs: the errors for a file that has another shape."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct, field

from gn_tutorial.errors import RegistryError
from gn_tutorial.toml_file import decode


class _Edit(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    find: Annotated[str, Meta(min_length=1)]
    lengths: dict[str, Annotated[int, Meta(ge=1)]] = {}

    def __post_init__(self) -> None:
        if self.find in self.lengths:
            raise ValueError(f"'{self.find}' is a length")


class _WrongSolution(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    kind: Literal["", "fill", "mend"] | None = None
    edit: tuple[_Edit, ...] = ()
    by_dtype: dict[str, _Edit] = {}
    first: _Edit | None = None
    start: float | int = field(default=0.0, name="from")
    share: float = 0.0
    title: Annotated[str, Meta(pattern=r"\S")] = "-"
    hints: Annotated[tuple[str, ...], Meta(min_length=2)] = ("a", "b")


def refusal(folder: Path, text: str) -> tuple[str, str, str]:
    path = folder / "one.toml"
    path.write_text(text)
    with pytest.raises(RegistryError) as caught:
        decode(path, _WrongSolution, "the wrong solution")
    return caught.value.what, caught.value.where.removeprefix(str(path)), caught.value.hint


@pytest.mark.parametrize(
    ("text", "what", "where", "hint"),
    [
        ("", "'name' is missing", "", ""),
        ('nmae = "x"', "'nmae' is not a key of a wrong solution", "", "did you mean 'name'?"),
        ("name = 3", "'name' has a value of the wrong type: 3", "", "a text is expected"),
        ('kind = "paint"', "'kind' is 'paint'", "", "one of fill, mend"),
        ("kind = 3", "'kind' is 3", "", "one of fill, mend"),
        ("edit = 3", "'edit' has a value of the wrong type: 3", "", "a list is expected"),
        ("edit = [3]", "'edit' has a value of the wrong type: 3", " [[edit]] 1", "a table is expected"),
        ('[[edit]]\nfind = "x"\n[[edit]]', "'find' is missing", " [[edit]] 2", ""),
        ('[[edit]]\nfind = ""', "'find' is ''", " [[edit]] 1", "a text that is not empty is expected"),
        ('[[edit]]\nfind = "x"\nby = 3', "'by' is not a key of an edit", " [[edit]] 1", "keys: find, lengths"),
        (
            '[by_dtype.float16]\nfind = "x"\n[by_dtype.float32]\nfind = 3',
            "'find' has a value of the wrong type: 3",
            " [by_dtype] float32",
            "a text is expected",
        ),
        ("[by_dtype]\nint8 = 3", "'int8' has a value of the wrong type: 3", " [by_dtype]", "a table is expected"),
        (
            '[first]\nfind = "x"\nlengths = { N = 1, C = 0 }',
            "'C' is 0",
            " [first] lengths",
            "a whole number >= 1 is expected",
        ),
        (
            '[[edit]]\nfind = "N"\n[edit.lengths]\nN = 1',
            "'N' is a length",
            " [[edit]] 1",
            "",
        ),
        ('from = "x"', "'from' has a value of the wrong type: 'x'", "", "a number is expected"),
        ('title = " "', "'title' is ' '", "", "a text that is not empty is expected"),
        ('hints = ["a"]', "'hints' is ['a']", "", "a list of length >= 2 is expected"),
        ("share = true", "'share' has a value of the wrong type: True", "", "a number is expected"),
        (
            f"share = 0xf{'0' * 4000}",
            "'share' is a number of about 4817 digits",
            "",
            "a number below 1.8e308 is expected",
        ),
    ],
)
def test_another_shape_is_named_with_its_key_and_place(
    tmp_path: Path, text: str, what: str, where: str, hint: str
) -> None:
    text = text if not text or text.startswith(("name", "nmae")) else f'name = "x"\n{text}'
    assert refusal(tmp_path, text) == (what, where, hint)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, "name = ")[0].startswith("cannot read the wrong solution: Invalid value")
    with pytest.raises(RegistryError, match="cannot read the wrong solution") as caught:
        decode(tmp_path / "absent.toml", _WrongSolution, "the wrong solution")
    assert caught.value.where == str(tmp_path / "absent.toml")


def test_a_right_file_becomes_the_struct(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "x"\nfrom = 2\nshare = 1\n[[edit]]\nfind = "y"\n')  # a byte-order mark first
    made = decode(path, _WrongSolution, "the wrong solution")
    assert (made.name, made.start, made.share, made.edit) == ("x", 2, 1.0, (_Edit(find="y"),))
