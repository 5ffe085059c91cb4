"""The tiling plan of one call: the tiling function's results, and notes on mistakes.

The results are the number of blocks, the tiling key, the workspace size and the tiling struct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gn_tutorial.cpp.structs import Struct
from gn_tutorial.errors import ArgumentError
from gn_tutorial.tables import html_table, text_table

HEADERS = ("field", "type", "offset", "value")
#: The value of each workspace's size before tiling sets it (tiling_contexts.h).
UNSET_SIZE = (1 << 64) - 1
#: The result of GET_TPL_TILING_KEY for template arguments that are in no ASCENDC_TPL_ARGS_SEL of the kernel.
NO_KEY = (1 << 64) - 1


@dataclass(frozen=True)
class PlanNote:
    """A note on a mistake. rule: the rule's name. what: a description. where: file, line if known. fix: the remedy.

    severity: "error" if the kernel cannot run; "warning" if the call may still work by luck.
    """

    rule: str
    what: str
    where: str = ""
    fix: str = ""
    severity: str = "warning"

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{self.severity}: {place}{self.what} [{self.rule}]" + (f"\n  fix: {self.fix}" if self.fix else "")


@dataclass(frozen=True, repr=False)
class TilingPlan:
    """The tiling of one call. blocks: the number given to SetBlockDim. key: the tiling key.

    workspace: the first size that tiling set, in bytes, with the library's part if tiling added it; 0 if tiling set
    none. data: the bytes of the tiling struct. struct: the fields of that struct; None if its definition could not be
    read. outputs: name, dtype and shape of each, inferred or given. template: the arguments of a kernel template, empty
    for an ordinary kernel. schedule_mode: 1 if all blocks have to start together. printed: text that the host functions
    printed.
    """

    op_type: str
    soc: str
    blocks: int
    key: int
    workspace: int
    data: bytes
    struct_name: str
    struct: Struct | None
    outputs: tuple[tuple[str, str, tuple[int, ...]], ...]
    notes: tuple[PlanNote, ...] = ()
    template: str = ""
    schedule_mode: int = 0
    printed: str = ""

    def __getitem__(self, field: str) -> Any:
        for one in self.struct.fields if self.struct else ():
            if one.name == field:
                return one.value(self.data)
        raise KeyError(field)

    @property
    def fields(self) -> dict[str, Any]:
        """Field name -> value; empty if the struct's definition could not be read."""
        return {one.name: one.value(self.data) for one in self.struct.fields} if self.struct else {}

    def with_(self, **fields: int | float) -> TilingPlan:
        """Return a copy of the plan with these values of struct fields.

        Raises ArgumentError for an unknown field, or for a value that the field's type does not hold.
        """
        data = bytearray(self.data)
        known = {one.name: one for one in self.struct.fields} if self.struct else {}
        for name, value in fields.items():
            if name not in known:
                raise ArgumentError(f"{self.struct_name or 'the struct'} has no field '{name}'", hint=", ".join(known))
            known[name].write(data, value)
        return replace(self, data=bytes(data))

    def facts(self) -> list[tuple[str, str]]:
        """Return everything except the struct's fields and the notes, as rows of a table: name, value."""
        rows = [
            ("chip", self.soc),
            ("blocks", str(self.blocks)),
            ("tiling key", str(self.key) + (f" (template <{self.template}>)" if self.template else "")),
            ("workspace", f"{self.workspace:,} bytes"),
            ("tiling data", f"{self.struct_name or 'struct'}, {len(self.data)} bytes"),
        ]
        if self.schedule_mode:
            rows.append(("schedule mode", f"{self.schedule_mode}: all blocks start together"))
        rows += [(f"output {name}", f"{dtype} {list(shape)}") for name, dtype, shape in self.outputs]
        return rows

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the struct's fields as rows: name, type, offset, value. If struct is None, each row is a uint32."""
        if self.struct is None:
            words = [int.from_bytes(self.data[at : at + 4], "little") for at in range(0, len(self.data) - 3, 4)]
            return [("", "uint32", str(4 * index), str(word)) for index, word in enumerate(words)]
        return [
            (
                one.name,
                str(one.dtype) + (f"[{one.count}]" if one.count > 1 else ""),
                str(one.offset),
                _shown(one.value(self.data)),
            )
            for one in self.struct.fields
        ]

    def __repr__(self) -> str:
        parts = [f"tiling of {self.op_type}", text_table((), self.facts(), indent="  ")]
        parts.append(text_table(HEADERS, self.rows(), indent="  "))
        return "\n".join([*parts, *map(str, self.notes)])

    def _repr_html_(self) -> str:
        facts = html_table((), self.facts(), caption=f"tiling of {self.op_type}")
        notes = "".join(f"<p>{note}</p>" for note in map(str, self.notes))
        return facts + html_table(HEADERS, self.rows()) + notes


def unset_fields(struct: Struct, first: bytes, second: bytes) -> list[str]:
    """Return the names of fields that tiling never sets.

    first, second: the struct after two runs that began with different bytes. An unset field differs in every byte.
    """
    return [
        one.name
        for one in struct.fields
        if all(first[at] != second[at] for at in range(one.offset, one.offset + one.nbytes))
    ]


def judged(answer: Mapping[str, Any], soc_cores: int, where: str) -> list[PlanNote]:
    """Return notes on mistakes in the answer of the host functions, except mistakes in the struct.

    soc_cores: the chip's number of vector cores. where: the host file.
    """
    tiling, notes = answer["tiling"], []
    set_at = f"{tiling['blocks_file']}:{tiling['blocks_line']}"
    if not tiling["blocks_set"]:
        notes.append(
            PlanNote(
                "block-dim-unset",
                "the tiling function never calls SetBlockDim: how many blocks start is not defined",
                where,
                "context->SetBlockDim(blocks)",
                "error",
            )
        )
    elif tiling["blocks"] == 0:
        notes.append(
            PlanNote(
                "block-dim-zero", "SetBlockDim(0): nothing would start", set_at, "launch at least one block", "error"
            )
        )
    elif tiling["blocks"] > soc_cores and tiling["schedule_mode"]:
        notes.append(
            PlanNote(
                "blocks-beyond-cores",
                f"{tiling['blocks']} blocks are to start together on {soc_cores} cores",
                set_at,
                "at most GetCoreNumAiv() blocks where SyncAll is called",
                "error",
            )
        )
    if tiling["key_set"] and tiling["key"] == NO_KEY:
        errors = [one["text"] for one in answer["logs"] if one["level"] == "error"]
        notes.append(
            PlanNote(
                "template-key-unknown",
                errors[-1] if errors else "the tiling key is that of no instance of the kernel template",
                where,
                "add the combination to an ASCENDC_TPL_ARGS_SEL of the key header",
                "error",
            )
        )
    if not tiling["workspace_asked"]:
        notes.append(
            PlanNote(
                "workspace-unset",
                "the tiling function never calls GetWorkspaceSizes: the size of the workspace is whatever was there",
                where,
                "size_t* sizes = context->GetWorkspaceSizes(1); sizes[0] = 0;",
            )
        )
    elif UNSET_SIZE in tiling["workspaces"]:
        notes.append(
            PlanNote(
                "workspace-unset",
                "GetWorkspaceSizes is called, and the size is never written",
                where,
                "sizes[0] = 0; or GetLibApiWorkSpaceSize() and what the kernel needs",
            )
        )
    if tiling["bytes"] > tiling["room"]:
        notes.append(
            PlanNote(
                "tiling-data-too-long",
                f"SetDataSize({tiling['bytes']}) is beyond the {tiling['room']} bytes of GetCapacity()",
                where,
                "save the struct with SaveToBuffer(GetData(), GetCapacity()) and set its own size",
                "error",
            )
        )
    notes += [PlanNote(one["rule"], one["text"], f"{one['file']}:{one['line']}") for one in answer["notes"]]
    return notes


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value[:8])) + (", ..." if len(value) > 8 else "")
    return f"{value:.9g}" if isinstance(value, float) else str(value)
