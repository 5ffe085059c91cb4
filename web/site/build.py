"""Build the site: `./gnt site [--out FOLDER]`. Then `python -m http.server --directory FOLDER` shows it.

It exits with 1 for a warning of Sphinx, a link that leads nowhere, or a page that fetches something from another host.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from gn_tutorial.course.playground.assemble import assemble  # noqa: E402
from gn_tutorial.errors import GntError  # noqa: E402
from web.site import pages  # noqa: E402
from web.site.stage import ROOT, BrokenLink, Stage  # noqa: E402

#: Addresses that a browser fetches by itself, unlike links that a reader may follow.
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|link(?! rel=\"(?:canonical|edit)))\b"
    r"[^>]*?(?:src|href)=\"((?:https?:)?//[^\"]+)"
)


def fetched_elsewhere(folder: Path) -> list[str]:
    """Return every address on another host that a page of the site would fetch."""
    found = [
        f"{page.relative_to(folder)}: {address}"
        for page in sorted(folder.rglob("*.html"))
        for address in _FETCHED.findall(page.read_text(encoding="utf-8"))
    ]
    styles = [
        f"{style.relative_to(folder)}: {address}"
        for style in sorted(folder.rglob("*.css"))
        for address in re.findall(r"url\([\"']?((?:https?:)?//[^)\"']+)", style.read_text(encoding="utf-8"))
    ]
    return found + styles


def build(out: Path, work: Path, playground: bool) -> None:
    """Collect the sources in ``work`` and build ``out``.

    Raises BrokenLink; GntError if the playground cannot be made; SystemExit if Sphinx finds a fault.
    """
    sources, made = work / "sources", work / "site"
    stage = Stage(sources, playground)
    stage.fill()
    for name, make in pages.MADE.items():
        stage.write(f"{name}.md", make())
    stage.write("index.md", pages.front(stage.pages, pages.MADE))
    stage.append("docs/diagnostics/README.md", pages.contents_of_findings(stage.pages))
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "-W",
        "--keep-going",
        "-j",
        "auto",
        "-c",
        str(HERE),
        str(sources),
        str(made),
    ]
    if code := subprocess.run(command).returncode:
        raise SystemExit(code)
    if playground:
        assemble(made / "playground")
    # Only after all checks: a folder that somebody serves stays unchanged if one fails.
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(made, out, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))


def main(words: Sequence[str] | None = None) -> None:
    """Run the command. words: its arguments; None: those of the command line."""
    parser = argparse.ArgumentParser(prog="gnt site", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "site", help="the folder to write (default: build/site)"
    )
    parser.add_argument(
        "--playground", action="store_true", help="with the playground (first: cd web/playground && npm ci)"
    )
    given = parser.parse_args(words)
    out = given.out
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (out / "searchindex.js").exists())):
        raise SystemExit(f"gnt site: {out} holds something else, which would be lost; name another folder with --out")
    began = time.monotonic()
    print("collecting pages and building the site; this takes about two minutes", flush=True)
    try:
        with tempfile.TemporaryDirectory() as work:
            build(out, Path(work), given.playground)
    except (BrokenLink, GntError) as error:
        raise SystemExit(f"gnt site: {error}") from None
    if found := fetched_elsewhere(out):
        raise SystemExit("gnt site: these would be fetched from other hosts:\n  " + "\n  ".join(found))
    print(f"{out}: {len(list(out.rglob('*.html')))} pages in {time.monotonic() - began:.0f} s")
    print(f"look at it: {Path(sys.executable).name} -m http.server --directory {out}")


if __name__ == "__main__":
    main()
