"""Only the room cpp/ takes C++ text apart: what every other module reads with ``re`` or by hand is named here.

A new module that imports ``re`` fails until its row says what it reads. At most five may get C++ text, with a reason.
"""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What the modules read. A name without a folder is the package's own.
READS = {
    "messages of compilers": """compiler/address_spaces compiler/hints compiler/messages compiler/output
        compiler/space_casts compiler/toolchain""",
    "the assembly that a compiler writes": "compiler/pointer_hooks",
    "messages and crashes of a launch or a host call": "runtime/outcome projects/host_call",
    "printed output, logs": """course/lab/log_messages course/sandbox_session course/source_html
        projects/test_runner/stand_in_tools projects/test_runner/test_result""",
    "comments that cpp/ hands out": "course/playground/programs host/c_headers",
    "names: of files, operators, keys, packages": """cli/lab_session cli/pictures compiler/cache compiler/dtype_macros
        course/capstone/starter course/classroom/progress_export course/classroom/submissions
        course/exercises/author_check course/exercises/registry course/puzzles/bank projects/definition
        projects/layout projects/new_project projects/prototype_file projects/test_runner/find_tests""",
    "what a user types": """cli/own_kernel_bench cli/run_arguments course/exam/terminal_paper
        course/exercises/check_predict""",
    "places, such as file:line, and addresses": "course/exercises/grade course/lab/server",
    "prose: Markdown, questions, sentences of the catalogue": """course/exam/goals course/exam/items
        course/lab/in_kernel course/lab/in_language course/lab/notebook course/migrations
        course/playground/finding_pages course/quizzes/quiz course/quizzes/quiz_question diagnostics/catalogue
        diagnostics/findings tools/pages/make_catalogue tools/pages/make_syllabus tools/pages/make_translations
        translation/markdown""",
    "numbers, formulas": "cli/photo_tour profiler/calibration",
    "errors of TOML": "toml_file",
    "gaps of templates": "projects/project_texts",
    "CMake": "projects/test_runner/build_files tools/compat/defines",
    "shell and Python of a project's test": "projects/test_runner/test_folder",
    "Python": "course/classroom/similarity",
}
#: Modules that get C++ text, at most five, each with the reason.
READS_CPP = {
    "tools/compat/reasons": "looks for words of other chips, which are no C++ of ours; in no wheel",
}
#: What only a reader of C++ looks for, in a pattern or by methods of str.
CPP = re.compile(
    r"^//$|/\*|#\s*(?:\[ \\t\]\*)?(?:include|define|if)|<<<|__(?:global|aicore|gm)__|GM_ADDR|\\b(?:struct|class)\\?s|"
    r"InitBuffer|TILING_DATA|extern \"C\""
)
BY_HAND = {"partition", "rpartition", "split", "find", "rfind", "index", "startswith", "endswith", "count", "finditer"}


def rows() -> dict[str, str]:
    return {name: what for what, names in READS.items() for name in names.split()} | READS_CPP


@functools.cache
def modules() -> dict[str, ast.Module]:
    """Return name -> tree of every module outside cpp/."""
    found = {}
    for folder in ("gn_tutorial", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).with_suffix("").as_posix().removeprefix("gn_tutorial/")
            if not name.startswith("cpp/"):
                found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.Module) -> set[str]:
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return found | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def patterns(tree: ast.Module) -> list[str]:
    """Return the constants that a module gives to ``re`` or to methods of str that take a text apart."""
    found = []
    for node in ast.walk(tree):
        of = node.func if isinstance(node, ast.Call) else None
        if isinstance(of, ast.Attribute) and (
            of.attr in BY_HAND or (isinstance(of.value, ast.Name) and of.value.id == "re")
        ):
            found += [one for given in node.args[:1] for one in ast.walk(given)]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            found.append(node.left)
    return [one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def test_every_module_that_takes_text_apart_says_what_it_reads() -> None:
    using = {name for name, tree in modules().items() if imported(tree) & {"re", "regex", "tokenize"}}
    assert using == rows().keys()


def test_at_most_five_modules_outside_the_room_get_cpp_text() -> None:
    assert len(READS_CPP) <= 5


def test_no_other_module_looks_for_what_only_cpp_has() -> None:
    wrong = {name: found for name, tree in modules().items() if (found := list(filter(CPP.search, patterns(tree))))}
    assert wrong.keys() - READS_CPP.keys() == set(), wrong


def test_the_parser_stays_in_the_room() -> None:
    inner = {"tree_sitter", "tree_sitter_cuda", "gn_tutorial.cpp.syntax"}
    assert {name for name, tree in modules().items() if imported(tree) & inner} == set()
