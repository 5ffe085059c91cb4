"""Which way data flows: every import and every include points down the house of CONTRIBUTING.md.

A new file belongs to a room; a file in no room fails here, so that somebody decides where it belongs.
"""

import ast
import fnmatch
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gn_tutorial"
TWIN = PACKAGE / "twin" / "include" / "gn_twin"
KERNELS = ROOT / "kernels"


class Room(NamedTuple):
    """Files by name (patterns), and the rooms they may use besides their own."""

    files: str
    uses: str = ""


PYTHON_ROOMS = {
    "base": Room("errors abi"),
    "facts": Room(
        "toml_file spec registry signature cpp_tokens sample_source op_macros shapes options excerpt finding_view "
        "catalogue diagnostics tables apis trace machine whole_numbers accuracy prototype",
        "base",
    ),
    "reference": Room("reference reference.*", "base"),
    "cache": Room("cache", "base"),
    "compiler": Room("compiler compile_errors compile_job compiler_output", "base facts cache"),
    "build": Room("build build_job dependencies precompiled", "base facts cache compiler"),
    "tiling": Room("tiling", "base facts build"),
    "launch": Room(
        "launch launch_args inprocess isolated deadline job_file job_layout outcome crash evidence sample_run "
        "trace_room trace_decode",
        "base facts compiler build",
    ),
    "kernel": Room("kernel arguments operators result sample", "base facts reference build tiling launch"),
    # attempt_child runs beside the learner's Python and shares nothing; tiling_child calls the tiling room.
    "attempts": Room(
        "atomic attempt_child tiling_child exercise_numbers exercise_result exercise_spec", "base facts tiling"
    ),
    "exercises": Room(
        "attempt_process check_* exercise_cases exercise_cases.* exercise_check exercise_workspace grade progress quiz",
        "base facts reference compiler tiling launch kernel attempts profile bench host",
    ),
    "pictures": Room("plot plot_* filters photo", "base facts reference kernel timing profile bench"),
    # A trace and a machine give a timeline; none of them knows how a trace is made.
    "timing": Room("banks span core_clock timeline stretches bound", "base facts"),
    "host": Room("host_api host_arrays host_cases host_folder host_library host_stream", "base facts compiler build"),
    "npu": Room("npu", "base facts cache build host"),
    "graph": Room("graph_mode", "base facts"),
    "torch_cpp": Room("torch_cpp", "base facts cache compiler build host npu"),
    "torch": Room("nn torch_ops torch_ops.*", "base facts host npu"),
    "training": Room("training", "base"),
    "profile": Room("profile profile_* chrome_trace ub_use", "base facts launch kernel timing"),
    "bench": Room("bench bench_* tune", "base facts tiling launch kernel timing profile"),
    "calibration": Room("calibration", "base facts launch kernel timing profile"),
    "door": Room("__init__", "base kernel profile"),
    "compat": Room("compat compat_reasons compat_defines", "base facts compiler build launch"),
    "front": Room(
        "__main__ cli cli_* command_* terminal tour doctor",
        "base facts reference cache compiler build tiling launch kernel attempts exercises pictures door compat "
        "timing profile bench calibration host npu",
    ),
}
# The only modules (patterns) that may import a heavy package, so that everything else starts fast and works without it.
IMPORTED_ONLY_BY = {
    "matplotlib": {"plot", "plot_*"},
    "torch": {
        "attempt_child",
        "graph_mode",
        "nn",
        "npu",
        "torch_cpp",
        "torch_ops.*",
        "training",
        "exercise_cases.torch_*",
    },
    "torch_npu": {"graph_mode", "npu"},
    "torchair": {"graph_mode"},
    "sklearn": {"training"},
}

TWIN_ROOMS = {
    "language": Room("config.h loc.h abi.h constants.h half.h math.h elementary.h shape_info.h high_level_tiling.h"),
    "events": Room(
        "block_masks.h block_span.h event.h footprint.h hard_event.h known_call.h local_pieces.h local_rows.h "
        "observer.h report.h scalar_log.h short_events.h",
        "language",
    ),
    "core": Room("core.h blocks.h copy_ahead.h delayed_copies.h fiber.h kept.h ub_memory.h", "language events"),
    "tensors": Room(
        "tensor.h operand.h lanes.h repeat_values.h tell_call.h block_sums.h event_ids.h", "language events core"
    ),
    "operations": Room(
        "vector_*.h activation.h atomic.h buffer.h cross_core.h data_copy*.h debug.h fill_global.h kernel_utils.h "
        "local_memory.h mask.h not_yet.h operators.h pipe.h queue*.h raw_sync.h "
        "repeat_params.h half_overflow.h scalar_bits.h sync.h system.h tiling.h "
        "block_order.h control.h global_scalar.h list_tensor.h matrix.h narrow.h norm*.h quant.h softmax*.h",
        "language events core tensors",
    ),
    "observers": Room(
        "check_*.h gm_lines.h shadow_*.h trace.h trace_*.h tally.h known_calls.h", "language events core"
    ),
    "launch": Room("launch.h watchers.h", "language events core"),
    "host": Room("host_runtime.h host_tiling.h host_high_level.h", "language events core launch"),
}
# The host API is for any device: it includes its own headers and the tilings. The twin's side adds the C interface.
HOST_API = KERNELS / "host_api"
TWIN_HOST_MAY_INCLUDE = {"gn_twin/abi.h", "device.h", "gn_host_api.h", "gn_host_twin.h", "stream.h"}
# The launcher is a program of its own and shares nothing with a kernel library but the C interface.
LAUNCHER_MAY_INCLUDE = {"gn_twin/abi.h"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<][^">]+[">])', re.MULTILINE)
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b.*", re.MULTILINE)


def room_of(rooms: Mapping[str, Room], name: str) -> str:
    found = [room for room, (files, _) in rooms.items() if any(fnmatch.fnmatch(name, one) for one in files.split())]
    assert len(found) == 1, f"{name} belongs to {found or 'no room'}: put it into one room of {__file__}"
    return found[0]


def wrong_ways(rooms: Mapping[str, Room], uses: Mapping[str, Iterable[str]]) -> list[str]:
    """Uses that point the wrong way, and a cycle if there is one."""
    wrong = []
    for user, used_names in sorted(uses.items()):
        mine = room_of(rooms, user)
        for used in sorted(used_names):
            theirs = room_of(rooms, used)
            if theirs != mine and theirs not in rooms[mine].uses.split():
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


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Every import of a file, inside functions too, as (module, name or nothing)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import; write gn_tutorial.<module>"
            yield from ((node.module or "", alias.name) for alias in node.names)


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


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def twin_includes() -> dict[str, set[str]]:
    uses = {}
    for path in TWIN.glob("*.h"):
        ours = (name.strip('"') for name in includes(path) if name.startswith('"'))
        uses[path.name] = {name.removeprefix("gn_twin/") for name in ours}
    return uses


def kernel_files() -> list[Path]:
    host = {KERNELS / "npu", KERNELS / "torch_cpp", HOST_API}
    found = (path for path in KERNELS.rglob("*") if path.suffix in {".cpp", ".h"})
    return sorted(path for path in found if host.isdisjoint(path.parents))


def test_python_imports_point_down() -> None:
    assert wrong_ways(PYTHON_ROOMS, own_imports()) == []


def test_twin_includes_point_down() -> None:
    assert wrong_ways(TWIN_ROOMS, twin_includes()) == []


def test_a_wrong_way_and_a_cycle_are_found() -> None:
    rooms = {"low": Room("a b"), "high": Room("c", "low")}
    assert wrong_ways(rooms, {"c": {"a"}, "b": {"a"}, "a": set()}) == []
    assert wrong_ways(rooms, {"a": {"c"}}) == ["a (low) uses c (high)"]
    assert wrong_ways(rooms, {"a": {"b"}, "b": {"a"}}) == ["a -> b -> a"]
    with pytest.raises(AssertionError, match="no room"):
        wrong_ways(rooms, {"d": {"a"}})


@pytest.mark.parametrize("package", IMPORTED_ONLY_BY)
def test_heavy_packages_stay_in_their_modules(package: str) -> None:
    users = {name for name, path in modules().items() if any(m.partition(".")[0] == package for m, _ in imports(path))}
    allowed = IMPORTED_ONLY_BY[package]
    assert {name for name in users if not any(fnmatch.fnmatch(name, one) for one in allowed)} == set()


def test_every_import_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=!~;\[ ]", line)[0] for line in project["dependencies"]}
    optional = set(IMPORTED_ONLY_BY) | {"IPython"}  # imported where they are found, never needed
    used = {module.partition(".")[0] for path in modules().values() for module, _ in imports(path)}
    third_party = {{"PIL": "pillow"}.get(one, one) for one in used - set(sys.stdlib_module_names) - {"gn_tutorial"}}
    assert third_party - declared <= optional
    assert declared <= third_party, "a declared dependency that nothing imports"


def test_the_public_header_includes_every_operation() -> None:
    header = PACKAGE / "twin" / "include" / "kernel_operator.h"
    seen: set[str] = set()
    waiting = [name.strip('"').removeprefix("gn_twin/") for name in includes(header) if name.startswith('"')]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(twin_includes()[name])
    operations = {name for name in twin_includes() if room_of(TWIN_ROOMS, name) == "operations"}
    assert operations - seen == set(), "operations that a kernel cannot reach"
    assert not {name for name in seen if room_of(TWIN_ROOMS, name) in {"observers", "launch"}}


def test_the_launcher_shares_only_the_c_interface() -> None:
    folder = PACKAGE / "twin" / "launcher"
    sources = sorted(folder.iterdir())
    assert sources
    for path in sources:
        ours = {name.strip('"') for name in includes(path) if name.startswith('"')}
        local = {f"{one.name}" for one in sources}
        assert ours <= LAUNCHER_MAY_INCLUDE | local, path.name


def test_the_host_api_knows_no_device() -> None:
    """Plain C++ and its own headers: an NPU's build and the twin's share it. Only the C header has conditionals."""
    headers = {path.name for path in HOST_API.glob("*.h")}
    tilings = {path.name for path in KERNELS.glob("*/*_tiling.h")}
    for path in sorted(HOST_API.iterdir()):
        quoted = {name.strip('"') for name in includes(path) if name.startswith('"')}
        assert quoted <= headers | tilings, path.name
        assert path.name == "gn_host_api.h" or not CONDITIONAL.search(path.read_text(encoding="utf-8")), path.name
    for path in sorted((PACKAGE / "twin" / "host").iterdir()):
        quoted = {name.strip('"') for name in includes(path) if name.startswith('"')}
        assert quoted <= TWIN_HOST_MAY_INCLUDE, path.name


def test_torch_meets_no_device_source() -> None:
    """The C++ operators know the host API's C interface; torch's headers stay out of what is compiled for a device."""
    headers = {path.name for path in (KERNELS / "torch_cpp").glob("*.h")}
    for path in sorted((KERNELS / "torch_cpp").glob("*.*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        quoted = {name.strip('"') for name in includes(path) if name.startswith('"')}
        assert {one for one in quoted if not one.startswith("torch_npu/")} <= headers | {"gn_host_api.h"}, path.name
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
            assert all(name.startswith("<") for name in includes(path)), f"{where}: plain C++ that any host compiles"
            continue
        assert path.suffix == ".cpp" or path.name.startswith(f"{op}_"), f"{where}: an operator's headers begin {op}_"
        own = {f'"{header.name}"' for header in path.parent.glob(f"{op}_*.h")} | (common if op != "common" else set())
        assert set(includes(path)) <= own | {'"kernel_operator.h"'}, where
        assert set(includes(path)) & (own | {'"kernel_operator.h"'}) - {f'"{op}_tiling.h"'}, where


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
    skipped = {"__pycache__", "dist", "build", ".git"}  # .git is a file in a worktree
    found = []
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        hidden = any(part.startswith(".") and part != ".ci" for part in inside.parts[:-1])
        if hidden or skipped & set(inside.parts) or not path.is_file() or path.suffix in {".png", ".so"}:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [f"{inside}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if machine.search(line)]
    assert found == []
