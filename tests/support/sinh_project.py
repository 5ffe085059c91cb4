"""Makes the project that the pages call SinhCustom from scale_shift, with its layout and its test."""

from __future__ import annotations

import shutil
from pathlib import Path

_SCALE_SHIFT = Path(__file__).parents[1] / "programs" / "projects" / "scale_shift"
_COMPUTE = """\
    LocalTensor<float> power = wide.Get<float>(now);
    LocalTensor<float> inverse = ones.Get<float>(now);
    Cast(power, x, RoundMode::CAST_NONE, now);
    Exp(power, power, now);
    Duplicate(inverse, 1.0f, now);
    Div(inverse, inverse, power, now);
    Sub(power, power, inverse, now);
    Muls(power, power, 0.5f, now);
    Cast(y, power, RoundMode::CAST_RINT, now);
"""
#: File -> the replacements in its text, which are made before the operator is renamed.
_EDITS = {
    "op_host/scale_shift.cpp": [
        ("{ge::DT_FLOAT16, ge::DT_FLOAT}", "{ge::DT_FLOAT16}"),
        ("{ge::FORMAT_ND, ge::FORMAT_ND}", "{ge::FORMAT_ND}"),
        ('    this->Attr("alpha").AttrType(OPTIONAL).Float(2.0);\n', ""),
        ('    this->Attr("beta").AttrType(OPTIONAL).Float(0.5);\n', ""),
        ("*context->GetAttrs()->GetAttrPointer<float>(0)", "1.0f"),
        ("*context->GetAttrs()->GetAttrPointer<float>(1)", "0.0f"),
        ("ubBytes / 4 / elementBytes", "ubBytes / 16"),
    ],
    "op_kernel/scale_shift.cpp": [
        (
            "    Muls(y, x, static_cast<DTYPE_X>(alpha), now);\n    Adds(y, y, static_cast<DTYPE_X>(beta), now);\n",
            _COMPUTE,
        ),
        (
            "    pipe.InitBuffer(outQueue",
            "    pipe.InitBuffer(wide, (tile + 7) / 8 * 32);\n"
            "    pipe.InitBuffer(ones, (tile + 7) / 8 * 32);\n    pipe.InitBuffer(outQueue",
        ),
        ("  TPipe pipe;\n", "  TPipe pipe;\n  TBuf<QuePosition::VECCALC> wide, ones;\n"),
    ],
    "test/gen_data.py": [("x * np.float16(2.0) + np.float16(0.5)", "np.sinh(x.astype(np.float32))")],
    "test/aclnn_test.cpp": [("tensors[0], 2.0, 0.5, ", "tensors[0], ")],
}


def write_sinh_project(folder: Path) -> Path:
    """Write the project into ``folder``, which must not exist: float16, y = (e^x - e^-x) / 2 in float32."""
    shutil.copytree(_SCALE_SHIFT, folder, ignore=shutil.ignore_patterns("AclNNInvocation"))
    for name, edits in _EDITS.items():
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for old, new in edits:
            assert old in text, f"{name} has no {old!r}"
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    for path in [one for one in folder.rglob("*") if one.is_file()]:
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("ScaleShift", "SinhCustom").replace("scale_shift", "sinh_custom"), encoding="utf-8"
        )
        path.rename(path.with_name(path.name.replace("scale_shift", "sinh_custom")))
    return folder
