"""Makes a new operator project (算子工程) from a prototype, as CANN's project generator does.

The project compiles at once, and marks the parts that an operator's author has to write: the tiling struct, the tiling
function and the kernel's class. A project of layout 8.x has a tiling struct of macros, and its build.sh takes the CMake
files from the toolkit; a project of layout 9.x has a plain struct and ``find_package(ASC)``. We have run no project
made here with CANN or on an NPU.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects import project_texts as texts
from gn_tutorial.projects.chips import find_soc
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.own_package import CoursePackage, course_packages, fill
from gn_tutorial.projects.prototype_file import read_prototypes

LAYOUTS = ("8.x", "9.x")
#: The file of a project that holds its prototype. msopgen can read this file.
PROTOTYPE = "prototype.json"
#: The line of an 8.x header where the learner writes the struct's fields.
FIELDS_GAP = "// YOUR TURN: the fields, such as TILING_DATA_FIELD_DEF(uint32_t, length);"


def new_project(
    prototype: Path | str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    folder: Path | str,
    layout: str = "9.x",
    soc: str = "ascend910b",
    filled: bool = False,
) -> Path:
    """Make the project ``folder`` from a prototype in msopgen's form. Returns the folder.

    prototype: a JSON file, or the object or list of objects in it. soc: a chip, or its name in AddConfig. filled: leave
    no gaps; only the operators of this course's own packages (GnTutorialGroupNorm and its gradient) can be filled.
    Raises ArgumentError if the folder exists or cannot be written, if the layout or chip is unknown, if the prototype's
    file cannot be read, or as ``fill``; RegistryError for a wrong prototype, or for a file that is no JSON (with the
    line).
    """
    check_layout(layout)
    config = find_soc(soc).config
    ops = read_prototypes(prototype, config)
    root = Path(folder).expanduser()
    refuse_existing(root, "name a folder that does not exist; nothing is overwritten")
    packages = course_packages() if filled else None
    return write_project(project_files(ops, _entries(prototype), root.name, layout, config, packages=packages), root)


def check_layout(layout: str) -> None:
    """Raise ArgumentError for a layout that is not known."""
    if layout not in LAYOUTS:
        raise ArgumentError(f"there is no layout '{layout}'", hint=f"one of {', '.join(LAYOUTS)}")


def refuse_existing(root: Path, hint: str) -> None:
    """Raise ArgumentError with this hint if ``root`` exists already."""
    if root.exists() or root.is_symlink():
        raise ArgumentError(f"{root} is there already", hint=hint)


def write_project(files: Mapping[str, str], root: Path, *, what: str = "the project", hint: str = "") -> Path:
    """Write the files (path -> text) into ``root``, scripts as executables. Return ``root``.

    Raises ArgumentError with ``hint`` if a file cannot be written; the error's message names ``what``.
    """
    try:
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            if name.endswith(".sh"):
                path.chmod(0o755)
    except OSError as error:
        where = str(error.filename or root)
        raise ArgumentError(f"cannot write {what}: {error.strerror}", where=where, hint=hint) from error
    return root


def project_files(
    ops: Sequence[OpDefinition],
    entries: Sequence[Mapping[str, Any]],
    title: str,
    layout: str,
    config: str,
    *,
    packages: Sequence[CoursePackage] | None = None,
    given: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the files of a new project: path inside the project -> text.

    entries: the prototype as the caller gave it. title: the project's name. config: the chip's name in AddConfig.
    packages: packages of the course, whose files fill the gaps; None leaves the gaps. given: placeholder of the
    templates -> text that replaces the text made from the prototype; for ``infer_shape`` a function's body in C++.
    Raises as ``fill`` if packages are given.
    """
    plain = layout == "9.x"
    files = {PROTOTYPE: json.dumps(entries, indent=2, ensure_ascii=False) + "\n"}
    described = {PROTOTYPE: "the prototype (算子原型): names, types and attributes; msopgen reads it"}
    for op in ops:
        for name, (content, what) in _operator_files(op, plain, config, given or {}, alone=len(ops) == 1).items():
            files[name], described[name] = content, what
    if packages is not None:
        files = fill(files, ops, layout, config, packages)
        described = {name: what for name, what in described.items() if name in files}
        described |= {
            "op_kernel" + ("/*/*.h" if plain else "/*.h"): "what the kernels are made of, copied from the course"
        }
    common = {"config": config, "prototype": PROTOTYPE, "project": re.sub(r"\W", "_", title) or "operators"}
    if plain:
        files["CMakeLists.txt"] = texts.render("CMakeLists.txt", common)
        files["op_host/CMakeLists.txt"] = texts.render("op_host.CMakeLists.txt", common)
        sources = "\n".join(
            f"npu_op_kernel_sources(ascendc_kernels OP_TYPE {op.type} KERNEL_DIR ./ KERNEL_FILE {op.snake_name}.cpp)"
            for op in ops
        )
        files["op_kernel/CMakeLists.txt"] = texts.render("op_kernel.CMakeLists.txt", {"kernel_sources": sources})
        described["CMakeLists.txt"] = "the package, with those of `op_host` and `op_kernel`"
    else:
        files["CMakePresets.json"] = texts.render("CMakePresets.json", common)
        described["CMakePresets.json"] = "chip, toolkit and vendor of the build"
    files["build.sh"] = texts.render(f"build_{layout[0]}.sh", common)
    described["build.sh"] = "builds the package on a machine with CANN"
    rows = "\n".join(f"| `{name}` | {what} |" for name, what in described.items())
    files["README.md"] = texts.render(
        "README.md",
        common
        | {
            "gaps": "" if packages is not None else "Where a file says `YOUR TURN`, something is missing.\n",
            "title": ", ".join(op.type for op in ops),
            "layout": layout,
            "files": rows,
            "example": texts.example_arguments(ops[0]),
            "choice": "" if len(ops) == 1 else f" --op {ops[0].type}",
            "needed": "9.0 or later" if plain else "8.x",
            "test": _tests(files, plain, alone=len(ops) == 1),
            "unit_file": "CMakeLists.txt" if plain else "CMakePresets.json",
            "unit_more": "" if plain else " and `build.sh`",
        },
    )
    return files


def _operator_files(
    op: OpDefinition, plain: bool, config: str, given: Mapping[str, str], *, alone: bool
) -> dict[str, tuple[str, str]]:
    """Return the files of one operator: path -> (text, description)."""
    snake, struct = op.snake_name, f"{op.type}TilingData"
    names = texts.kernel_parameters(op)
    tiling = f"op_kernel/{snake}_tiling.h" if plain else f"op_host/{snake}_tiling.h"
    host_include = f'#include "../{tiling}"' if plain else f'#include "{snake}_tiling.h"'
    hint = (
        f"// auto* tiling = context->GetTilingData<{struct}>(); tiling->field = ...;"
        if plain
        else f"// {struct} tiling; tiling.set_field(...); auto* raw = context->GetRawTilingData();\n"
        "  // tiling.SaveToBuffer(raw->GetData(), raw->GetCapacity()); raw->SetDataSize(tiling.GetDataSize());"
    )
    read = (
        f"  REGISTER_TILING_DEFAULT({struct});\n  GET_TILING_DATA_WITH_STRUCT({struct}, tilingData, tiling);"
        if plain
        else "  GET_TILING_DATA(tilingData, tiling);"
    )
    values = {
        "op": op.type,
        "snake": snake,
        "struct": struct,
        "config": config,
        "guard": f"{snake.upper()}_TILING_H_",
        "tiling_include": host_include,
        "call_hint": texts.call_hint(op),
        "tiling_hint": f"  {hint}",
        "infer_shape": texts.infer_shape(op),
        "infer_dtype": texts.infer_dtype(op),
        "definition": texts.definition(op, unknown_shapes=not plain),
        "kernel_includes": '#include "kernel_operator.h"' + (f'\n#include "{snake}_tiling.h"' if plain else ""),
        "dtype_hint": f"DTYPE_{names[0].upper()} is the type of {names[0]} in the build for one column.",
        "init": texts.wrapped("  __aicore__ inline void Init(", [f"GM_ADDR {name}" for name in names], ") {"),
        "unused": "\n".join(f"    (void){name};" for name in names),
        "entry": texts.wrapped(
            f'extern "C" __global__ __aicore__ void {snake}(',
            [f"GM_ADDR {name}" for name in (*names, "workspace", "tiling")],
            ") {",
        ),
        "read_tiling": read,
        "arguments": ", ".join(names),
        "fields": FIELDS_GAP,
    } | dict(given)
    test = _test_folder(op, plain, alone=alone)
    made = {
        f"op_host/{snake}.cpp": (texts.render("op_host.cpp", values), "definition, shapes and types, tiling function"),
        tiling: (texts.render("tiling_plain.h" if plain else "tiling_macro.h", values), "the tiling struct"),
        f"op_kernel/{snake}.cpp": (texts.render("op_kernel.cpp", values), "the kernel"),
    }
    try:
        calls = texts.test_texts(op)
    except RegistryError:
        return made  # a list of lists: no aclnn function takes one, so only graphs call this operator
    values |= calls | texts.case_texts(op)
    made[f"{test}/main.cpp"] = (texts.render("main.cpp", values), "a program that calls the operator through aclnn")
    made[f"{test}/gen_data.py"] = (texts.render("gen_data.py", values), "cases, and what is expected")
    made[f"{test}/case_files.py"] = (texts.render("case_files.py", values), "the files of a case")
    made[f"{test}/verify_result.py"] = (texts.render("verify_result.py", values), "compares every element")
    made[f"{test}/run.sh"] = (texts.render("run.sh", values), "builds the program and runs every case")
    return made


def _test_folder(op: OpDefinition, plain: bool, *, alone: bool) -> str:
    name = "test" if plain else "AclNNInvocation"
    return name if alone else f"{name}/{op.snake_name}"


def _entries(given: Any) -> list[Mapping[str, Any]]:
    """Return the prototype that the caller gave, as a list; read_prototypes has checked it."""
    document = json.loads(Path(given).read_text(encoding="utf-8-sig")) if isinstance(given, (str, Path)) else given
    return [document] if isinstance(document, Mapping) else list(document)


def _tests(files: Iterable[str], plain: bool, *, alone: bool) -> str:
    folder = "test" if plain else "AclNNInvocation"
    if not any(name.startswith(f"{folder}/") for name in files):
        return "call the operator from a graph: no aclnn function takes a list of lists"
    return f"`bash {folder}/run.sh`" if alone else f"`bash run.sh` in each folder of `{folder}`"
