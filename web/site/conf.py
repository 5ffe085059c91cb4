"""Sphinx's configuration of the site. Its sources are collected by stage.py; `./gnt site` runs both."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import gn_tutorial
from web.site import pages

project = "gn_tutorial"
author = "the authors of gn_tutorial"
project_copyright = "the authors of gn_tutorial, Apache-2.0"
version = release = gn_tutorial.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx.ext.mathjax",
]
root_doc = "index"
exclude_patterns = ["**.ipynb_checkpoints"]

# Outputs are those stored in the notebooks, which tests compare.
nb_execution_mode = "off"
# The notebooks store no state of widgets; without this Sphinx would load the widgets' script from another host.
nb_ipywidgets_js = {}
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
# Pages link to headings by GitHub's names for them.
myst_heading_anchors = 4

autodoc_member_order = "bysource"

mathjax_path = "mathjax/tex-chtml.js"
# MathJax's menu would load files that the site lacks.
mathjax3_config = {"options": {"enableMenu": False}}

html_theme = "furo"
html_title = f"gn_tutorial {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

# The link "edit this page" needs the repository's address: GitHub Actions sets it.
if repository := os.environ.get("GITHUB_REPOSITORY"):
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    html_theme_options = {
        "source_repository": f"{server}/{repository}/",
        "source_branch": os.environ.get("GITHUB_REF_NAME", "main"),
        "source_directory": "",
    }


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """Copy the files that formulas need to this site, 2 of MathJax's 24 MB: no page may fetch from another host."""
    if error is None:
        package = Path(find_spec("sphinx-mathjax-offline").origin).parent
        source, target = package / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
        shutil.copytree(
            source / "output" / "chtml" / "fonts", target / "output" / "chtml" / "fonts", dirs_exist_ok=True
        )
        shutil.copy(source / "tex-chtml.js", target)


def link_other_language(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Put a link to the same page in the other language above its text, if there is one."""
    language, other = pages.counterpart("README" if page == app.config.root_doc else page)
    other = app.config.root_doc if other == "README" else other
    linked = "README.zh" in (page, other)  # these pages already have such a link
    if other in app.env.found_docs and "body" in context and not linked:
        name, code = ("English", "en") if language == "zh" else ("中文", "zh")
        address = context["pathto"](other)
        link = f'<a href="{address}" hreflang="{code}" lang="{code}">{name}</a>'
        context["body"] = f'<p class="other-language">{link}</p>\n{context["body"]}'


def setup(app: Any) -> None:
    """Connect the functions above; Sphinx calls this."""
    app.connect("html-page-context", link_other_language)
    app.connect("build-finished", copy_mathjax)
