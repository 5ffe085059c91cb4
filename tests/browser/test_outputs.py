"""What the package shows as HTML in a notebook can be read at two widths and in two themes, findings above all."""

import pytest
from browser_support import LAPTOP, NARROW, ROOT, Desk

PROGRAMS = ROOT / "tests" / "programs"
SET_UP = '''\
from pathlib import Path
import numpy as np
import gn_tutorial as gnt

def finding(path):
    kernel = gnt.kernel(source=Path(path).read_text())
    try:
        result = kernel.run(np.ones(4096, np.float32), y=gnt.out(4096))
    except gnt.errors.KernelFault as fault:
        return fault
    return result

x = np.arange(9000, dtype=np.float32)
copy = gnt.kernel("copy")
profile = gnt.profile(copy, x, blocks=2)

FLAGGED = """DataCopyPad(tile, xGm, row, pad);
queue.EnQue(tile);
tile = queue.DeQue<float>();
DataCopyPad(yGm, tile, row);"""'''
#: What a cell shows, and a text of it.
CELLS = {
    f"finding({str(PROGRAMS / 'memory' / 'overflow_bad.cpp')!r})": "error",
    f"finding({str(PROGRAMS / 'cause' / 'same_bytes_of_a_buffer_bad.cpp')!r})": "warning",
    "copy": "copy",
    "copy(x, blocks=2)": "blocks",
    "copy(x, blocks=2).compare(x + (x == 5), rtol=0, atol=0)": "y",
    "profile": "copy",
    "gnt.diff(profile, gnt.profile(copy, x, blocks=1))": "copy",
    "gnt.load_machine('910B2')": "910B2",
    "gnt.puzzle('04.count')": "not attempted",
    "gnt.puzzle('02.share', 'first = 0; end = n;')": "Every block copies everything",
    "gnt.puzzle('04.rows', 'DataCopyPad(tile, xGm, {3, 20, 2, 0, 0}, {true, 0, 3, -1.0f});')": "bytes",
    "gnt.puzzle('05.flag', 'Muls(tile, tile, 2.0f, 2048);')": "No pipe waits for another",
    "gnt.puzzle('05.compute', 'xQueue.DeQue<float>();')": "not right yet",
    "gnt.puzzle('02.copy', FLAGGED)": "passed",
}


@pytest.mark.thorough
def test_every_kind_of_output_can_be_read(desk: Desk) -> None:
    notebook = desk.open(desk.lab.write_notebook("outputs.ipynb", [(SET_UP, []), *((cell, []) for cell in CELLS)]))
    notebook.run(*range(len(CELLS) + 1))
    for number, (source, text) in enumerate(CELLS.items(), 1):
        (output,) = notebook.contents()["cells"][number]["outputs"]
        assert "text/html" in output.get("data", ()), (source, output)
        assert text in notebook.output(number).inner_text()
    wrong = []
    for screen in (LAPTOP, NARROW):
        desk.screen(screen)
        wrong += [line for _ in desk.themes() for line in notebook.looks()["complaints"]]
    assert not wrong, "\n".join(wrong)
