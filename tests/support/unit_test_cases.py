"""Reads an operator repository's unit tests of tiling: a TEST_F with a TilingContextFaker, and its expectations.

The form is that of ops-nn (tests/ut/op_host/test_<op>_tiling.cpp): shapes as ``gert::StorageShape x = {{..}, {..}}``,
the chip as JSON text (CORE_NUM, UB_SIZE), expectations as ASSERT_EQ of the key, the block count, the data as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.host_call import TensorInfo

_KINDS = {"int64_t": "int", "float": "float", "bool": "bool", "string": "string"}
# Names of chips of other architectures; their code is in separate folders.
_ELSEWHERE = re.compile(
    r"Ascend950|Ascend910_95|Ascend310P|\bregbase|arch35|\"3510\"|SocVersion::ASCEND(?!910B\b)", re.IGNORECASE
)


@dataclass(frozen=True)
class TilingCase:
    """One unit test. key, blocks, data: None if it does not check them; data are 32-bit numbers."""

    name: str
    op: str
    cores: int
    ub_bytes: int
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    attributes: tuple[tuple[str, Any], ...]
    succeeds: bool
    key: int | None
    blocks: int | None
    data: tuple[int, ...] | None

    @property
    def declared(self) -> int:
        return 1 + max((one.declared for one in self.inputs), default=-1)


def read_cases(path: Path) -> list[TilingCase]:
    """Return a file's explicit cases for the chip 910B, without helpers with parameters and other chips."""
    text = re.sub(r"//[^\n]*", "", path.read_text("utf-8", "replace"))
    cases = []
    for block in re.split(r"\bTEST_[FP]\s*\(", text)[1:]:
        if block.count("TilingContextFaker()") == 1 and not _ELSEWHERE.search(block):
            case = _case(block, text)
            if case is not None:
                cases.append(case)
    return cases


def _case(block: str, text: str) -> TilingCase | None:
    name = re.match(r"\s*\w+\s*,\s*(\w+)", block)
    core, ub = (re.search(rf'"{word}":\s*(\d+)', block) for word in ("CORE_NUM", "UB_SIZE"))
    op = re.search(r'\bop_type\s*[({=]\s*"(\w+)"', block)
    # The text of a case is not enough if shapes change after their declaration, or inputs have values.
    if not (name and core and ub and op) or re.search(r"ConstInput|Mutable\w+Shape|AppendDim|SetDim", block):
        return None
    faker = block[block.index("TilingContextFaker()") :]
    faker = faker[: faker.index(".Build()")]
    # A shape with named lengths is left out, and its case with it.
    shapes = {one[1]: _numbers(one[2]) for one in _SHAPE.finditer(block) if not re.search(r"[A-Za-z_*]", one[2])}
    inputs = _tensors("Input", faker, shapes)
    outputs = _tensors("Output", faker, shapes)
    attributes = _attributes(faker, block)
    if inputs is None or outputs is None or attributes is None:
        return None
    keys = re.search(r"_EQ\(\s*(?:tiling_key|tiling_context->GetTilingKey\(\))\s*,\s*(\d+)", block)
    blocks = re.search(r"_EQ\(\s*(?:block_?dim|tiling_context->GetBlockDim\(\))\s*,\s*(\d+)", block, re.IGNORECASE)
    data = re.search(r'to_string<int32_t>\([^"]*?,\s*((?:"[-\d\s]*"\s*)+)\)', block)
    succeeds = re.search(r"_EQ\(\s*tiling_func\(tiling_context\)\s*,\s*ge::GRAPH_(\w+)", block)
    return TilingCase(
        name=name[1],
        op=op[1],
        cores=int(core[1]),
        ub_bytes=int(ub[1]),
        inputs=inputs,
        outputs=outputs,
        attributes=attributes,
        succeeds=succeeds is None or succeeds[1] == "SUCCESS",
        key=int(keys[1]) if keys else None,
        blocks=int(blocks[1]) if blocks else None,
        data=tuple(int(one) for one in re.findall(r"-?\d+", data[1])) if data else None,
    )


_SHAPE = re.compile(r"StorageShape\s+(\w+)\s*(?:=\s*)?\{\s*\{([^{}]*)\}")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"-?\d+", text))


def _tensors(role: str, faker: str, shapes: dict[str, tuple[int, ...]]) -> tuple[TensorInfo, ...] | None:
    listed = re.search(rf"\.{role}Shapes\(\{{([^}}]*)\}}", faker)
    if listed is None:
        return None
    names = [one.strip().lstrip("&") for one in listed[1].split(",") if one.strip()]
    types = dict(re.findall(rf"\.Node{role}Td\(\s*(\d+)\s*,\s*(?:ge::)?(DT_\w+)", faker))
    owners = _owners(role, faker, len(names))
    tensors = []
    for index, one in enumerate(names):
        if one == "nullptr":
            continue
        if one not in shapes or str(index) not in types or index >= len(owners):
            return None
        tensors.append(TensorInfo(owners[index], dtype_name(types[str(index)]), shapes[one]))
    return tuple(tensors)


def _owners(role: str, faker: str, many: int) -> list[int]:
    """Return each instance's index in the definition: IrInstanceNum counts the instances of each declared input."""
    counts = re.search(r"\.IrInstanceNum\(\{([\d,\s]*)\}", faker)
    if role == "Output" or counts is None or sum(_numbers(counts[1])) != many:
        return list(range(many))
    return [declared for declared, count in enumerate(_numbers(counts[1])) for _ in range(count)]


def _attributes(faker: str, block: str) -> tuple[tuple[str, Any], ...] | None:
    found = []
    for kind, value in re.findall(r"CreateFrom<(?:std::)?(\w+)>\(([^()]*)\)", faker):
        if kind not in _KINDS:
            return None
        text = value.strip()
        variable = (
            re.search(rf"\b{re.escape(text)}\s*=\s*([^;]+);", block) if re.match(r"[A-Za-z_]\w*$", text) else None
        )
        text = variable[1].strip() if variable else text
        if text in ("true", "false"):
            found.append((_KINDS[kind], text == "true"))
        elif text.startswith('"'):
            found.append((_KINDS[kind], text.strip('"')))
        else:
            try:
                number = float(text.rstrip("fF"))
            except ValueError:
                return None
            found.append((_KINDS[kind], number if kind == "float" else int(number)))
    return None if "CreateFrom<" in faker and len(found) != faker.count("CreateFrom<") else tuple(found)
