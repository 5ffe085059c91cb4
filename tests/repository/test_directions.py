"""Which way data flows: every import and every include points down the layout of CONTRIBUTING.md.

A room is a folder, and a row says which rooms it may use. A new file needs no row; a new folder does, so that somebody
decides what it may use.
"""

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from gn_tutorial.projects.new_project import LAYOUTS
from gn_tutorial.projects.own_package import course_packages
from gn_tutorial.projects.packing import pack

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gn_tutorial"
TWIN = PACKAGE / "twin" / "include" / "gn_twin"
KERNELS = ROOT / "kernels"


# A room is a folder of gn_tutorial/, a folder inside one that has a row of its own, or a single module beside them.
# Each may use itself, BASE and what its row names.
BASE = {"errors", "tables", "toml_file"}
ENGINE = {
    "abi": "",
    "reference": "",
    "translation": "",
    # The only room that reads C++ text.
    "cpp": "abi",
    "compiler": "abi cpp",
    "diagnostics": "cpp translation",
    "runtime": "abi compiler cpp diagnostics",
    # An output beside its reference, and where a wrong number comes from; the caller says how to launch again.
    "compare": "abi diagnostics runtime translation",
    "operators": "abi compare compiler cpp diagnostics reference runtime timing",
    # A trace and a machine give a timeline; none of them knows how a trace is made.
    "timing": "abi",
    "profiler": "abi cpp operators runtime timing",
    # Grids of shapes, the choice of a tile, and a fused launch beside those that it replaces.
    "profiler/bench": "abi operators profiler timing",
    "host": "compiler cpp diagnostics operators",
    # Steps on an NPU. Steps that need torch run in a process of their own.
    "host/verify": "abi compare compiler cpp host nn operators profiler projects runtime torch_ops",
    "projects": "abi compare compiler cpp diagnostics operators profiler runtime timing",
    # A project's own test, unchanged, on stand-ins of the tools that it calls.
    "projects/test_runner": "abi compiler cpp diagnostics operators projects runtime",
    "torch_ops": "compiler host operators",
    "nn": "torch_ops",
    "plot": "abi compare diagnostics operators profiler profiler/bench timing",
}
# The course's machinery. The engine imports none of it; the door does, lazily.
COURSE = {
    # What its rooms share: progress, the files of a user, what notebooks use besides kernels and pictures.
    "course": "abi compare course/exercises cpp diagnostics operators profiler timing torch_ops",
    "course/exercises": (
        "abi compare course diagnostics host operators profiler profiler/bench reference runtime timing torch_ops "
        "translation"
    ),
    "course/puzzles": "abi compare course course/exercises course/quizzes diagnostics operators profiler",
    "course/quizzes": "course course/exercises translation",
    # Papers of the theory bank; tasks, which are operator projects, and their judge.
    "course/exam": (
        "abi compare compiler course course/exercises course/quizzes cpp diagnostics operators profiler projects timing"
    ),
    # What many learners handed in, judged and summed up.
    "course/classroom": "compiler course course/exam course/exercises cpp projects runtime __init__",
    # An operator of the learner's own: where it starts, and its grade.
    "course/capstone": (
        "abi compare compiler course/exam cpp diagnostics operators profiler profiler/bench projects timing"
    ),
    # Copies of notebooks, and JupyterLab on them.
    "course/lab": "course course/exercises course/quizzes translation",
    # The course in a web page: a folder of files, and the modules that run there without NumPy.
    "course/playground": "abi compare compiler course course/puzzles cpp diagnostics operators profiler runtime timing",
}
TOP = {
    # The door: it imports what it hands out.
    "__init__": (
        "abi cli host nn operators plot profiler profiler/bench projects reference timing torch_ops " + " ".join(COURSE)
    ),
    "cli": (
        "abi compare compiler cpp diagnostics host host/verify operators plot profiler profiler/bench projects "
        "projects/test_runner reference runtime timing translation __init__ " + " ".join(COURSE)
    ),
    "__main__": "cli",
}
PYTHON_ROOMS = ENGINE | COURSE | TOP
# The only rooms that may import a heavy package, so that everything else starts fast and works without it.
IMPORTED_ONLY_BY = {
    "matplotlib": {"plot"},
    "torch": {"torch_ops", "nn", "host", "host/verify", "course/exercises"},
    "torch_npu": {"torch_ops", "host"},
    "torchair": {"torch_ops"},
    "sklearn": {"torch_ops"},
    "hypothesis": {"projects"},
    # JupyterLab's own packages, of the extra "lab".
    "jupyter_client": {"course/lab"},
    "jupyter_server": {"course/lab"},
    "nbformat": {"course/lab"},
    # Of the extra "judge".
    "distributed": {"course/classroom"},
    "psutil": {"course/classroom", "course/lab"},
    "anywidget": {"course/exam", "course/quizzes", "plot"},
    "traitlets": {"course/exam", "course/quizzes", "plot"},
}

# A room of the twin is a folder of gn_twin/.
TWIN_ROOMS = {
    "base": "",
    "events": "base",
    "core": "base events",
    # Causes of findings. `shadow` is for causes that only checkers add; the test of the public header checks that no
    # operation reaches it.
    "causes": "base events core shadow",
    "tensor": "base events core causes",
    "basic_api/sync": "base events core tensor",
    "basic_api/memory": "base events core tensor basic_api/sync",
    "basic_api/vector": "base events core tensor",
    # Its root has the list of instances that are compiled once (compiled_once.h).
    "basic_api": "base events core tensor basic_api/memory basic_api/vector",
    "adv_api": "base events core tensor basic_api/vector",
    # What watches a launch knows no operation, and no operation knows what watches it.
    "shadow": "base events core",
    # stored_tails.h remembers stores and reports them when the launch ends: it is a checker's, and no cause.
    "checkers": "base events core shadow causes",
    "trace": "base events core",
    "host": "base events core",
    # What a project's host files use: they are no kernel, and know no operation.
    "op_host": "base host",
}
OPERATIONS = {room for room in TWIN_ROOMS if room.startswith("basic_api")} | {"adv_api"}
# The host API is for any device: it includes its own headers and the tilings. The twin's side adds the C interface.
HOST_API = KERNELS / "host_api"
TWIN_HOST_MAY_INCLUDE = {"gn_twin/base/abi.h", "device.h", "gn_host_api.h", "gn_host_twin.h", "stream.h"}
# The launcher is a program of its own and shares nothing with a kernel library but the C interface, how memory is
# filled by several threads, and the addresses of arrays. These know no kernel.
LAUNCHER_MAY_INCLUDE = {
    "gn_twin/base/abi.h",
    "gn_twin/base/far_addresses.h",
    "gn_twin/core/poison.h",
    "gn_twin/core/team.h",
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<][^">]+[">])', re.MULTILINE)
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b.*", re.MULTILINE)


def wrong_ways(rooms: Mapping[str, str], room_of: Mapping[str, str], uses: Mapping[str, Iterable[str]]) -> list[str]:
    """Uses that point the wrong way, and a cycle if there is one. room_of: the room of each file."""
    wrong = [f"{room} has no row in {__file__}" for room in sorted(set(room_of.values()) - rooms.keys())]
    for user, used_names in sorted(uses.items()):
        for used in sorted(used_names):
            mine, theirs = room_of[user], room_of[used]
            if theirs != mine and mine in rooms and theirs not in rooms[mine].split():
                wrong.append(f"{user} ({mine}) uses {used} ({theirs})")
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            wrong.append(" -> ".join((*way[way.index(name) :], name)))
        elif name not in done:
            for used in sorted(uses.get(name, ())):
                visit(used, (*way, name))
            done.add(name)

    for name in sorted(uses):
        visit(name, ())
    return wrong


@functools.cache  # twenty tests read all files
def imports(path: Path) -> list[tuple[str, str]]:
    """Every import of a file, inside functions too, as (module, name or nothing)."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import; write gn_tutorial.<module>"
            found += ((node.module or "", alias.name) for alias in node.names)
    return found


def modules() -> dict[str, Path]:
    """Name inside the package -> file; ``__init__`` is the package itself."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


def own_imports() -> dict[str, set[str]]:
    known = modules()
    uses: dict[str, set[str]] = {}
    for name, path in known.items():
        used = uses.setdefault(name, set())
        for module, item in imports(path):
            if module.partition(".")[0] == "gn_tutorial":
                inside = module.partition(".")[2]
                full = f"{inside}.{item}".strip(".")
                used.add(full if full in known else inside or "__init__")
        # A package's own __init__ lists its parts; a part that names its package would be the cycle.
        used.discard(name)
    return uses


def python_room(module: str) -> str:
    """Return the innermost folder with a row that a module lies in; for a module of the root, itself or BASE."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        room = "/".join(parts[:length])
        if room in PYTHON_ROOMS and (PACKAGE / room).is_dir():
            return room
    if (PACKAGE / parts[0]).is_dir():
        return parts[0]
    return "base" if module in BASE else module


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


@functools.cache
def twin_includes() -> dict[str, set[str]]:
    """Every header of gn_twin/, named from there, and those that it includes."""
    uses = {}
    for path in TWIN.rglob("*.h"):
        ours = (name.strip('"') for name in includes(path) if name.startswith('"'))
        uses[path.relative_to(TWIN).as_posix()] = {name.removeprefix("gn_twin/") for name in ours}
    return uses


def twin_room(header: str) -> str:
    return header.rpartition("/")[0]


def kernel_files() -> list[Path]:
    # Host code; and operator packages, which another test below reads as whole projects.
    host = {KERNELS / "npu", KERNELS / "torch_cpp", KERNELS / "projects", HOST_API}
    found = (path for path in KERNELS.rglob("*") if path.suffix in {".cpp", ".h"})
    return sorted(path for path in found if host.isdisjoint(path.parents))


def test_python_imports_point_down() -> None:
    rooms = {room: f"base {uses}" for room, uses in PYTHON_ROOMS.items()} | {"base": ""}
    assert wrong_ways(rooms, {name: python_room(name) for name in modules()}, own_imports()) == []


def test_the_engine_never_imports_the_course() -> None:
    """Running and profiling kernels needs no exercise and no exam. A row of the engine names no room of the course."""
    named = {room: [used for used in uses.split() if used in COURSE | TOP] for room, uses in ENGINE.items()}
    assert {room: used for room, used in named.items() if used} == {}


def test_the_package_explains_itself() -> None:
    """The package has at most nineteen folders in its root: nobody reads a longer list."""
    folders = [path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] not in "_."]
    assert len(folders) <= 19, sorted(folders)


def test_twin_includes_point_down() -> None:
    uses = twin_includes()
    assert wrong_ways(TWIN_ROOMS, {name: twin_room(name) for name in uses}, uses) == []


def test_no_row_outlives_its_folder() -> None:
    assert set(PYTHON_ROOMS) <= set(map(python_room, modules()))
    assert set(TWIN_ROOMS) <= set(map(twin_room, twin_includes()))


def test_a_wrong_way_and_a_cycle_are_found() -> None:
    rooms, room_of = {"low": "", "high": "low"}, {"a": "low", "b": "low", "c": "high", "d": "attic"}
    assert wrong_ways(rooms, room_of | {"d": "high"}, {"c": {"a"}, "b": {"a"}, "a": set()}) == []
    assert wrong_ways(rooms, room_of | {"d": "high"}, {"a": {"c"}}) == ["a (low) uses c (high)"]
    assert wrong_ways(rooms, room_of | {"d": "high"}, {"a": {"b"}, "b": {"a"}}) == ["a -> b -> a"]
    assert "attic has no row" in wrong_ways(rooms, room_of, {})[0]


@pytest.mark.parametrize("package", IMPORTED_ONLY_BY)
def test_heavy_packages_stay_in_their_rooms(package: str) -> None:
    users = {name for name, path in modules().items() if any(m.partition(".")[0] == package for m, _ in imports(path))}
    assert {name for name in users if python_room(name) not in IMPORTED_ONLY_BY[package]} == set()


def test_every_import_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # An index reads - and _ in a name as the same.
    declared = {re.split(r"[<>=!~;\[ ]", line)[0].replace("_", "-") for line in project["dependencies"]}
    # Imported where they are found, never needed; traitlets comes with anywidget.
    optional = {one.replace("_", "-") for one in IMPORTED_ONLY_BY} | {"IPython", "traitlets"}
    optional |= {"pyodide", "gn-parser"}  # what the playground's page has
    used = {module.partition(".")[0] for path in modules().values() for module, _ in imports(path)}
    packages = {"PIL": "pillow", "markdown_it": "markdown-it-py"}
    found = used - set(sys.stdlib_module_names) - {"gn_tutorial"}
    third_party = {packages.get(one, one).replace("_", "-") for one in found}
    assert third_party - declared <= optional
    assert declared <= third_party, "a declared dependency that nothing imports"


def test_the_package_uses_no_tool() -> None:
    """tools/ may use the package. What an installed package has not, nothing in it may need."""
    users = {name for name, path in modules().items() if any(m.partition(".")[0] == "tools" for m, _ in imports(path))}
    assert users == set()
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "tools" not in wheel["only-include"]
    assert list((ROOT / "tools").glob("*/__main__.py"))


def test_the_public_header_includes_every_operation() -> None:
    header = PACKAGE / "twin" / "include" / "kernel_operator.h"
    seen: set[str] = set()
    waiting = [name.strip('"').removeprefix("gn_twin/") for name in includes(header) if name.startswith('"')]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(twin_includes()[name])
    operations = {name for name in twin_includes() if twin_room(name) in OPERATIONS}
    assert operations - seen == set(), "operations that a kernel cannot reach"
    assert {twin_room(name) for name in seen} <= OPERATIONS | {"base", "events", "core", "causes", "tensor"}


def test_the_launcher_shares_only_the_c_interface() -> None:
    folder = PACKAGE / "twin" / "launcher"
    sources = sorted(folder.iterdir())
    assert sources
    for path in sources:
        ours = {name.strip('"') for name in includes(path) if name.startswith('"')}
        local = {f"{one.name}" for one in sources}
        assert ours <= LAUNCHER_MAY_INCLUDE | local, path.name


def test_the_host_api_knows_no_device() -> None:
    """Plain C++ and its own headers: an NPU's build and the twin's share it. Only the C headers have conditionals."""
    headers = {path.name for path in HOST_API.glob("*.h")}
    tilings = {path.name for path in KERNELS.glob("*/*_tiling.h")}
    for path in sorted(HOST_API.iterdir()):
        quoted = {name.strip('"') for name in includes(path) if name.startswith('"')}
        assert quoted <= headers | tilings, path.name
        assert path.name.startswith("gn_") or not CONDITIONAL.search(path.read_text(encoding="utf-8")), path.name
    for path in sorted((PACKAGE / "twin" / "host").iterdir()):
        quoted = {name.strip('"') for name in includes(path) if name.startswith('"')}
        assert quoted <= TWIN_HOST_MAY_INCLUDE, path.name


def test_torch_meets_no_device_source() -> None:
    """The C++ operators know the host API's C interface; torch's headers stay out of what is compiled for a device."""
    headers = {path.name for path in [*(KERNELS / "torch_cpp").glob("*.h"), *HOST_API.glob("gn_*.h")]}
    for path in sorted((KERNELS / "torch_cpp").glob("*.*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        quoted = {name.strip('"') for name in includes(path) if name.startswith('"')}
        assert {one for one in quoted if not one.startswith("torch_npu/")} <= headers | {
            one.name for one in HOST_API.glob("gn_*.h")
        }, path.name
        named = any("torch_npu" in name for name in includes(path))
        assert named == (path.name == "npu.cpp"), f"{path.name}: only npu.cpp is compiled where torch_npu is"
    for path in sorted((KERNELS / "npu").rglob("*.*")):
        if path.suffix in {".h", ".cpp", ".asc"}:
            assert not any("torch" in name or "ATen" in name for name in includes(path)), path.name


def test_kernels_are_pure() -> None:
    """The same kernel file builds for the twin and for the NPU: no conditional, no header but its operator's own.

    And those of kernels/common, which know no operator.
    """
    common = {f'"../common/{header.name}"' for header in (KERNELS / "common").glob("common_*.h")}
    files = kernel_files()
    assert files
    for path in files:
        where = path.relative_to(ROOT)
        text = path.read_text(encoding="utf-8")
        assert not CONDITIONAL.search(text), f"{where}: a preprocessor conditional"
        op = path.parent.name
        if path.name.endswith("_tiling.h"):
            plain = {f'"{header.name}"' for header in path.parent.glob(f"{op}_*_tiling.h")}
            quoted = {name for name in includes(path) if not name.startswith("<")}
            assert quoted <= plain, f"{where}: plain C++ that any host compiles, in headers of tilings"
            continue
        assert path.suffix == ".cpp" or path.name.startswith(f"{op}_"), f"{where}: an operator's headers begin {op}_"
        own = {f'"{header.name}"' for header in path.parent.glob(f"{op}_*.h")} | (common if op != "common" else set())
        assert set(includes(path)) <= own | {'"kernel_operator.h"'}, where
        assert set(includes(path)) & (own | {'"kernel_operator.h"'}) - {f'"{op}_tiling.h"'}, where


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_packed_project_needs_nothing_outside_it(layout: str, tmp_path: Path) -> None:
    """It builds where it is copied to: its files include one another and CANN. Include guards, no other conditional."""
    cann = re.compile(r'"(?:kernel_operator\.h|acl/acl\.h|aclnn_\w+\.h|(?:register|tiling|graph)/[\w/]+\.h)"')
    assert course_packages()
    for package in course_packages():
        project = pack(package.root, tmp_path / package.root.name, layout)
        sources = [path for path in project.rglob("*") if path.suffix in {".cpp", ".h"}]
        assert sources
        for path in sources:
            assert not path.is_symlink(), "CANN's build refuses links"
            text = path.read_text(encoding="utf-8")
            conditionals = CONDITIONAL.findall(text)
            guard = re.match(r"(?://.*\n)*#ifndef (\w+_H_)\n#define \1\n", text)
            assert not conditionals or (guard and len(conditionals) == 2), path
            for name in includes(path):
                inside = (path.parent / name.strip('"')).resolve()
                assert name[0] == "<" or cann.fullmatch(name) or (inside.is_file() and project in inside.parents), path


def test_headers_of_kernels_have_no_cycle() -> None:
    """A step may build on an earlier one: its header includes the earlier step's, never the other way round."""
    uses = {
        path: {path.parent / name.strip('"') for name in includes(path) if name[0] == '"'} for path in kernel_files()
    }
    order = {path: int(found[1]) for path in uses if (found := re.search(r"_(\d+)_", path.name))}
    for path, used in uses.items():
        later = [one.name for one in used if order.get(one, 0) > order.get(path, 99)]
        assert not later, f"{path.name} includes a later step: {later}"
        # A kernel without a step is another operator's, made of a step's class: group_norm_silu.cpp.
        shared = path not in order and path.suffix != ".cpp"
        assert not shared or order.keys().isdisjoint(used), f"{path.name} is shared, and includes one step"


def test_no_file_names_a_folder_of_somebody_s_machine() -> None:
    machine = re.compile(r"(?<![\w.~$}*])/(?:work|root|home/\w+|Users/\w+)/\w")
    # .git is a file in a worktree.
    skipped = set("__pycache__ dist build .git my_course my_exercises node_modules".split())
    found = []
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        hidden = any(part.startswith(".") and part != ".ci" for part in inside.parts[:-1])
        if hidden or skipped & set(inside.parts) or not path.is_file() or path.suffix in {".mo", ".png", ".so"}:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [f"{inside}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if machine.search(line)]
    assert found == []
