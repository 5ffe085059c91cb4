"""Makes the tiling plan for a call of a project's operator: shape inference, tiling, and notes on mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.compiler.cached_library import Kept
from gn_tutorial.cpp.queries import calls, named_structs, registered_structs, takes_registered_struct
from gn_tutorial.cpp.source_text import readable_text
from gn_tutorial.cpp.structs import Struct, constant, fields_read, read_struct
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import Out
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.host_call import HostAnswer, HostError, HostRefusal, TensorInfo, call_host
from gn_tutorial.projects.layout import Layout
from gn_tutorial.projects.outputs import followed_outputs, inferred_outputs
from gn_tutorial.projects.tiling_plan import UNSET_SIZE, PlanNote, TilingPlan, judged, unset_fields

#: The byte that fills the structs before a second run. Fields are often small or powers of two; 0xA5 is neither.
_OTHER_FILL = 0xA5
_SETS_BLOCKS = ("SetBlockDim", "SetSimdNumBlocks", "SetNumBlocks")


@dataclass(frozen=True)
class HostSide:
    """The compiled host files of one operator: infers outputs and makes plans."""

    layout: Layout
    library: Kept
    kernel_file: Path

    def infer(self, call: OpCall) -> list[tuple[str, str, tuple[int, ...]]]:
        """Return name, dtype and shape of each output.

        Raises HostError; CompileError; ArgumentError if the definition has neither Follow nor InferShape.
        """
        followed = followed_outputs(call)
        if followed is not None:
            return self._inferred(call, None, followed)
        return self._inferred(call, self._ask(call, inferred_outputs(call), tile=False))

    def plan(self, call: OpCall, given: Sequence[Out | None] | None, *, look_for_unset: bool = True) -> TilingPlan:
        """Return the plan that the tiling function makes.

        given: an Out for each of ``call.output_tensors``. For an output that is None, or for all if ``given`` is None,
        Follow or InferShape decides. look_for_unset: tile a second time, to find fields that are never set. Raises as
        ``infer``; ArgumentError too for a wrong number of outputs, or if there is no tiling function.
        """
        outputs, followed = inferred_outputs(call), followed_outputs(call)
        if given is None:
            given = followed
        elif len(given) != len(outputs):
            raise ArgumentError(f"{len(given)} outputs for {call.definition.type}, which has {len(outputs)}")
        elif followed is not None:
            given = [one or other for one, other in zip(given, followed, strict=True)]
        if given is not None:
            outputs = [
                TensorInfo(old.declared, one.dtype.name, one.shape, old.format_number) if one else old
                for one, old in zip(given, outputs, strict=True)
            ]
        answer = self._ask(call, outputs)
        shapes = self._inferred(call, answer, given)
        tiling = answer.facts["tiling"]
        self._require_success(call, answer)
        data = bytes.fromhex(tiling["data"])
        struct_name, struct = self._struct(call, tiling, len(data))
        unset = self._unset_fields(call, outputs, data, struct) if look_for_unset or not any(data) else []
        missing = self._not_arrived(call, tiling, struct_name, struct, unset)
        notes = missing + judged(answer.facts, call.soc.vector_cores, str(self.layout.hosts[0]))
        notes += self._constant_blocks(call, tiling)
        notes += self._never_set(struct, unset) if look_for_unset and not missing else []
        notes += [PlanNote("chip-not-configured", call.note)] if call.note else []
        notes += [PlanNote("other-chip", call.soc.note)] if call.soc.note else []
        sizes = [size for size in tiling["workspaces"] if size != UNSET_SIZE]
        return TilingPlan(
            op_type=call.definition.type,
            soc=call.soc.name,
            blocks=tiling["blocks"],
            key=tiling["key"],
            workspace=sizes[0] if sizes else 0,
            data=data,
            struct_name=struct_name,
            struct=struct,
            outputs=tuple(shapes),
            notes=tuple(notes),
            template=tiling["choice"].get("arguments", ""),
            schedule_mode=tiling["schedule_mode"],
            printed=answer.printed,
        )

    def untiled(self, call: OpCall) -> TilingPlan:
        """Return a plan without blocks and data, which is enough to build a kernel that is no template."""
        classes = [
            {"op": call.definition.type, "name": name}
            for path in (*self.layout.headers, *self.layout.hosts)
            for name in registered_structs(self.layout.texts[path], call.definition.type)
        ]
        name, struct = self._struct(call, {"key": 0, "choice": {}, "classes": classes}, 0)
        return TilingPlan(call.definition.type, call.soc.name, 0, 0, 0, b"", name, struct, ())

    def _ask(self, call: OpCall, outputs: Sequence[TensorInfo], *, fill: int = 0, tile: bool = True) -> HostAnswer:
        return call_host(self.library.path(), call.request(outputs, fill=fill, tile=tile), self.layout.hosts)

    def _inferred(
        self, call: OpCall, answer: HostAnswer | None, given: Sequence[Out | None] | None = None
    ) -> list[tuple[str, str, tuple[int, ...]]]:
        """Return name, dtype and shape of each output: as given, or the column's dtype and the shape from InferShape.

        Raises ArgumentError if there is no InferShape; HostError if InferShape or InferDataType fails, or
        if InferShape gives an axis a length below 0.
        """
        tensors = call.output_tensors
        given = given or [None] * len(tensors)
        if answer is None or None not in given:
            known = [one for one in given if one is not None]
            return [(name, one.dtype.name, one.shape) for (_, name), one in zip(tensors, known, strict=True)]
        infer = answer.facts["infer"]
        if "shape_status" not in infer:
            raise ArgumentError(
                f"{call.definition.type} has no InferShape, so the shapes of its outputs are not known",
                where=str(self.layout.hosts[0]),
                hint="give them (out=gnt.out(shape, dtype), --out), or add SetInferShape(...) or Follow(...)",
            )
        for status, what in (("shape_status", "InferShape"), ("dtype_status", "InferDataType")):
            if infer.get(status, 0) != 0:
                raise self._failed(call, what, infer[status], answer)
        found = []
        for (index, name), one, said in zip(tensors, given, infer["outputs"], strict=True):
            dtype = one.dtype.name if one else dtype_name(call.column.outputs[index].dtype)
            shape = one.shape if one else tuple(said["shape"])
            if any(length < 0 for length in shape):
                raise HostError(
                    f"InferShape gives '{name}' the shape {list(shape)}",
                    where=str(self.layout.hosts[0]),
                    hint="set every axis from the inputs' shapes; -1 is for graphs without shapes",
                )
            found.append((name, dtype, shape))
        return found

    def _require_success(self, call: OpCall, answer: HostAnswer) -> None:
        tiling = answer.facts["tiling"]
        if not tiling["registered"]:
            raise ArgumentError(
                f"{call.definition.type} has no tiling function", hint="this->AICore().SetTiling(optiling::TilingFunc);"
            )
        if tiling.get("parse_status", 0) != 0:
            raise self._failed(call, "the tiling parse function", tiling["parse_status"], answer)
        if tiling["status"] != 0:
            raise self._failed(call, "the tiling function", tiling["status"], answer)

    def _failed(self, call: OpCall, what: str, status: int, answer: HostAnswer) -> HostRefusal:
        errors = [one["text"] for one in answer.facts["logs"] if one["level"] == "error"]
        return HostRefusal(
            f"{what} of {call.definition.type} returned {status:#x}" + (f": {errors[-1]}" if errors else ""),
            printed=answer.printed,
            where=str(self.layout.hosts[0]),
            hint="" if errors else "it refuses this call; say why in a log line before it returns ge::GRAPH_FAILED",
            detail=answer.printed,
        )

    def _constant_blocks(self, call: OpCall, tiling: Mapping[str, Any]) -> list[PlanNote]:
        """Return one note if SetBlockDim gets a constant that cannot be right for every shape; else no note.

        There is a note if the constant is at least 2, and so many cores cannot evenly share the largest input. The
        share of a core is a whole number of 32-byte blocks.
        """
        path, line = Path(tiling["blocks_file"]), tiling["blocks_line"]
        arrays = [array for group in call.arrays for array in group or ()]
        if not tiling["blocks_set"] or tiling["blocks"] < 2 or not path.is_file() or not arrays:
            return []
        setting = (one for one in calls(readable_text(path), *_SETS_BLOCKS) if one.line <= line <= one.end)
        said = next((one.arguments[0] for one in setting if len(one.arguments) == 1), "")
        if constant(said, self.layout.texts) != tiling["blocks"]:
            return []
        largest = max(arrays, key=lambda one: one.nbytes)
        if largest.nbytes % (32 * tiling["blocks"]) == 0:
            return []
        return [
            PlanNote(
                "block-dim-constant",
                f"SetBlockDim({said}) is {tiling['blocks']} for every shape; the {largest.size:,} elements of this "
                f"one are no whole number of 32-byte blocks for each of {tiling['blocks']} cores",
                f"{path}:{line}",
                "divide the 32-byte blocks among the cores, and give the tail to the last ones",
            )
        ]

    def _unset_fields(
        self, call: OpCall, outputs: Sequence[TensorInfo], data: bytes, struct: Struct | None
    ) -> list[str]:
        """Return the fields that tiling never sets: those that ``unset_fields`` finds after a second run.

        The second run begins with another fill byte. Returns no field if the second run fails.
        """
        if struct is None:
            return []
        try:
            other = self._ask(call, outputs, fill=_OTHER_FILL).facts["tiling"]
        except HostError:
            return []  # tiling fails because of an unset field; the launch reports the consequences
        if other.get("status") != 0 or len(other["data"]) != 2 * len(data):
            return []
        return unset_fields(struct, data, bytes.fromhex(other["data"]))

    def _never_set(self, struct: Struct | None, unset: Sequence[str]) -> list[PlanNote]:
        """Return one note on the fields that tiling never sets; no note if there are none."""
        if struct is None or not unset:
            return []
        return [
            PlanNote(
                "field-never-set",
                f"the tiling function never sets {', '.join(unset)} of {struct.name}: 0 in a macro struct, anything in "
                "a plain one",
                str(self.layout.struct_header(struct.name) or ""),
                f"set {unset[0]}, or remove it from the struct",
            )
        ]

    def _not_arrived(
        self, call: OpCall, tiling: Mapping[str, Any], name: str, struct: Struct | None, unset: Sequence[str]
    ) -> list[PlanNote]:
        """Return one note if the kernel reads tiling data that tiling did not pass on; else no note.

        The note is an error: without these data the kernel does nothing, or something else. name: of the struct.
        unset: its fields that tiling never sets.
        """
        texts, host = self.layout.texts, self.layout.hosts[0]
        of_others = [one["op"] for one in tiling["classes"]]
        if (
            of_others
            and takes_registered_struct(texts[self.kernel_file])
            and not any(registered_structs(text, call.definition.type) for text in texts.values())
        ):
            file = next((path for path, text in texts.items() if any(calls(text, "REGISTER_TILING_DATA_CLASS"))), host)
            return [
                PlanNote(
                    "tiling-class-of-another",
                    f"REGISTER_TILING_DATA_CLASS names {of_others[0]}, and the operator is {call.definition.type}: "
                    "GET_TILING_DATA in its kernel finds no struct",
                    str(file),
                    f"REGISTER_TILING_DATA_CLASS({call.definition.type}, {tiling['classes'][0]['name']})",
                    "error",
                )
            ]
        whole = struct or (read_struct(name, texts) if name and not tiling["bytes"] else None)
        if whole is None or not whole.fields or (tiling["bytes"] and len(unset) < len(whole.fields)):
            return []
        beside = (path for path in self.layout.headers if path.parent == self.kernel_file.parent)
        used = {name for path in (self.kernel_file, *beside) for name in fields_read(whole.name, texts[path], texts)}
        read = [one.name for one in whole.fields if one.name in used]
        if not read:
            return []
        if tiling["bytes"]:
            what = f"nothing writes the {tiling['bytes']} bytes that SetDataSize counts"
            fix = "tiling.SaveToBuffer(raw->GetData(), raw->GetCapacity()) before SetDataSize"
        else:
            what = "SetDataSize is never called, so that 0 bytes of tiling data reach the kernel"
            fix = "context->GetRawTilingData()->SetDataSize(tiling.GetDataSize()) behind SaveToBuffer"
        return [
            PlanNote(
                "tiling-data-missing",
                f"{what}: the kernel reads {', '.join(read)} of {whole.name}, which never arrive",
                str(host),
                fix,
                "error",
            )
        ]

    def _struct(self, call: OpCall, tiling: Mapping[str, Any], nbytes: int) -> tuple[str, Struct | None]:
        """Return name and fields of the tiling struct that is registered for operator and key, or named in the files.

        The first struct with ``nbytes`` bytes is chosen. If none has this size, return the first name (or "" if there
        is no name), and None instead of the fields.
        """
        registered = (f"{call.definition.type}_{tiling['key']}", call.definition.type)
        names = [tiling["choice"].get("tiling_struct", "")]
        names += [one["name"] for op in registered for one in tiling["classes"] if one["op"] == op]
        for path in (self.kernel_file, *self.layout.headers, *self.layout.hosts):
            names += named_structs(self.layout.texts[path])
        known = list(dict.fromkeys(name.split("::")[-1] for name in names if name))
        for name in known:
            struct = read_struct(name, self.layout.texts)
            if struct is not None and struct.nbytes == nbytes:
                return name, struct
        return (known[0] if known else ""), None
