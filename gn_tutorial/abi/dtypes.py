"""The dtypes of a kernel's arrays and values: the names in NumPy, C++, CANN and msopgen, and the poison pattern.

Each dtype has one row of DTYPES; all other tables of dtypes are made from these rows. PyTorch uses NumPy's names:
``torch.bfloat16``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dtype:
    """One dtype. name: the name in NumPy and ml_dtypes. bytes: the size of an element.

    ctypes: the C++ types of the dtype with the device's compiler (LP64); the macro DTYPE_X is the first of them.
    label, number: the name (DT_...) and number in the graph engine's public list of data types; empty and None if no
    array can have this dtype. msopgen: the name in an operator's prototype; empty if no operator of this course has
    this dtype. poison: the bit pattern of an element that was never written; None if each of its bytes is POISON_BYTE
    of launch_types.py.
    """

    name: str
    bytes: int
    ctypes: tuple[str, ...]
    label: str = ""
    number: int | None = None
    msopgen: str = ""
    poison: int | None = None

    @property
    def floating(self) -> bool:
        """Whether the dtype is floating-point. Only a floating-point dtype has a NaN, which serves as its poison."""
        return self.poison is not None


#: The poison of a floating-point dtype is a quiet NaN, so that an element that nobody wrote shows in every later
#: result. Its low byte is A5, which distinguishes it from a computed NaN. Only bfloat16's poison ends in E5, because it
#: is the top half of float32's.
DTYPES = {
    one.name: one
    for one in (
        Dtype("bool", 1, ("bool",), "DT_BOOL", 12),
        Dtype("float16", 2, ("half", "float16_t"), "DT_FLOAT16", 1, "fp16", 0x7EA5),
        Dtype("bfloat16", 2, ("bfloat16_t",), "DT_BF16", 27, "bf16", 0x7FE5),
        Dtype("float32", 4, ("float", "float32_t"), "DT_FLOAT", 0, "float", 0x7FE5_A5A5),
        Dtype("float64", 8, ("double",), poison=0x7FFD_A5A5_A5A5_A5A5),
        Dtype("int8", 1, ("int8_t", "char", "signed char"), "DT_INT8", 2),
        Dtype("int16", 2, ("int16_t", "short"), "DT_INT16", 6),
        Dtype("int32", 4, ("int32_t", "int"), "DT_INT32", 3, "int32"),
        Dtype("int64", 8, ("int64_t", "long", "long long"), "DT_INT64", 9),
        Dtype("uint8", 1, ("uint8_t", "unsigned char"), "DT_UINT8", 4, "uint8"),
        Dtype("uint16", 2, ("uint16_t", "unsigned short"), "DT_UINT16", 7),
        Dtype("uint32", 4, ("uint32_t", "unsigned", "unsigned int"), "DT_UINT32", 8),
        Dtype("uint64", 8, ("uint64_t", "unsigned long", "unsigned long long", "size_t"), "DT_UINT64", 10),
    )
}
#: The dtypes that an array on the device may have. The device has no float64.
ARRAY_DTYPES = tuple(one.name for one in DTYPES.values() if one.number is not None)
#: Floating-point dtypes narrower than float32.
NARROW_DTYPES = tuple(one.name for one in DTYPES.values() if one.floating and one.bytes < 4)
