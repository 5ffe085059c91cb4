"""What says that a notebook can be read, shown outputs that cannot."""

import pytest
from browser_support import Desk

# One pixel of PNG, which is transparent.
NOTHING = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
UNREADABLE = {
    "contrast 1.": '<p style="color:#fff;background:#eee">white on pale</p>',
    "contrast 2.": '<p style="color:rgba(0,0,0,.4);background:#fff">grey by transparency</p>',
    "contrast 3.": '<div style="background:#fff;color:#000;opacity:.5">half there</div>',
    "letters of 6 px": '<p style="font-size:6px">tiny</p>',
    "cut off: too": '<div style="overflow:hidden"><p style="width:4000px;text-align:right">too far</p></div>',
    "a picture that does not load": '<img src="data:image/png;base64,AAAA" width="300">',
    "a picture of 1 px": f'<img src="data:image/png;base64,{NOTHING}" width="1">',
    "without a ground of its own": f'<img src="data:image/png;base64,{NOTHING}" width="300">',
    "wider than its pane": f'<img src="data:image/png;base64,{NOTHING}" style="width:4000px;max-width:none">',
}
READABLE = {
    "in the theme's colours": "<p>as the theme has it</p>",
    "with a bar": f'<pre style="white-space:pre;overflow-x:auto">{"wide " * 500}</pre>',
    "large": '<p style="font-size:30px;color:#888;background:#fff">large letters may be paler</p>',
    "not shown": '<p style="visibility:hidden;color:#fff;background:#fff">for nobody</p>',
}


@pytest.fixture
def looks_of(desk: Desk) -> list[str]:
    """The complaints about a notebook whose outputs are UNREADABLE and READABLE, in this order."""
    outputs = [
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": html}}
        for html in (*UNREADABLE.values(), *READABLE.values())
    ]
    notebook = desk.open(desk.lab.write_notebook("unreadable.ipynb", [("1", [output]) for output in outputs]))
    notebook.trust()
    return notebook.looks()["complaints"]


@pytest.mark.thorough
def test_each_unreadable_output_is_found_and_nothing_else(looks_of: list[str]) -> None:
    for number, reason in enumerate(UNREADABLE):
        assert any(line.startswith(f"cell {number}: ") and reason in line for line in looks_of), (reason, looks_of)
    assert {line.partition(":")[0] for line in looks_of} == {f"cell {number}" for number in range(len(UNREADABLE))}
