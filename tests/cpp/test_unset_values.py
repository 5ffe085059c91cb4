"""Variables without a value: those that the source alone shows, and those that only a run shows."""

from __future__ import annotations

import pytest

from gn_tutorial.cpp.portability_rules import OwnText, find

CLASS = """class Kernel {{
 public:
  __aicore__ inline Kernel() {{}}
  __aicore__ inline void Init(uint32_t count) {{ {init} }}
  __aicore__ inline void Process() {{ {process} }}
 private:
  {members}
}};
extern "C" __global__ __aicore__ void k(GM_ADDR x, uint32_t count) {{ {made}; op.Init(count); op.Process(); {body} }}
"""


def found(
    init: str = "",
    process: str = "",
    members: str = "uint32_t length;",
    made: str = "Kernel op",
    body: str = "",
    before: str = "",
) -> list[tuple[str, str]]:
    text = before + CLASS.format(init=init, process=process, members=members, made=made, body=body)
    own = OwnText(text, tuple(("k.cpp", line) for line in range(1, text.count("\n") + 2)))
    return [(one.finding.id.removeprefix("language-"), one.finding.fields["name"]) for one in find(own)]


READ = "Duplicate(t, 1.0f, this->length);"


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"process": READ}, "length"),
        ({"process": "total += t.GetValue(0); t.SetValue(1, total);", "members": "float total;"}, "total"),
        ({"process": "if (length == 3) return;"}, "length"),
        ({"process": "for (uint32_t i = 0; i < length; ++i) { a[length] = 1; }"}, "length"),
        ({"process": "Use(2 * length, count);", "members": "uint32_t count = 0, other; uint32_t length;"}, "length"),
        ({"body": "float sum; for (int i = 0; i < 3; ++i) sum += i; Adds(t, t, sum, 8);"}, "sum"),
        ({"body": "uint32_t a, b; a = 3; Adds(t, t, 1.0f, a * b);"}, "b"),
        ({"init": "half = length / 2; length = 8; pipe.InitBuffer(q, 1, half);", "process": READ}, "length"),
        ({"body": "uint32_t a; Adds(t, t, 1.0f, a); a = 3;"}, "a"),
    ],
)
def test_what_is_read_and_never_written_is_found(more: dict[str, str], name: str) -> None:
    assert found(**more) == [("never-set", name)]


@pytest.mark.parametrize(
    "more",
    [
        {"init": "length = count;", "process": READ},
        {"init": "this->length = count;", "process": READ},
        {"init": "if (count > 8) length = count;", "process": READ},  # the run tells
        {"process": READ, "members": "uint32_t length = 3;"},
        {"process": READ, "members": "uint32_t length{3};"},
        {"process": READ, "made": "Kernel op{}"},
        {"process": READ, "made": "Kernel op = Make()"},
        {"process": READ, "body": "op.length = 8;"},
        {"init": "Fill(&length);", "process": READ},
        {"init": "Fill(length);", "process": READ, "before": "__aicore__ inline void Fill(uint32_t& n) { n = 3; }\n"},
        {"init": "GetReduceMaxMinCount<uint32_t>(length, length);", "process": READ},
        {"init": "GetUintDivMagicAndShift(length, shift, count);", "process": READ},
        {"init": "auto set = [this](uint32_t& n) { n = 3; }; set(length);", "process": READ},
        {"init": "uint32_t& alias = length; alias = 3;", "process": READ},
        {"process": READ, "members": "Length length;"},  # may have a constructor
        {"process": READ, "members": "uint32_t length[4];"},
        {"process": ""},
        {"body": "float sum; Init(sum); Adds(t, t, sum, 8);", "before": "template <class T> void Init(T& a);\n"},
        {"body": "uint32_t i; for (i = 0; i < 3; ++i) Adds(t, t, 1.0f, i);"},
        {"body": "uint32_t n; { n = 4; } Adds(t, t, 1.0f, n);"},
        {"body": "Tiling* s = nullptr; Use(s->length);", "before": "struct Tiling { uint32_t length; };\n"},
        {"body": "uint32_t n; do { n = 4; } while (false); Use(n);"},
        {"body": "uint32_t n; Put(n); Use(n);", "before": "template <class T> __aicore__ void Put(T&& n) { n = 3; }\n"},
        {"body": "uint64_t n; GatherMask(f, g, 1, false, 0, {1, 1, 8, 0}, n); Use(n);"},
        {"process": READ, "before": "struct Outer;\n", "made": "Kernel ops[2]{}; Kernel& op = ops[0]"},
        {"init": "half = length / 2; length = 8;", "process": READ},  # Init may be called twice
        {"init": "n = tiling->length / 2; length = tiling->length; pipe.InitBuffer(q, 1, n);", "process": READ},
        {"body": "uint32_t n; auto use = [&] { Adds(t, t, 1.0f, n); }; n = 4; use();"},
        {"body": "uint32_t n; for (int i = 0; i < 3; ++i) { if (i > 0) Adds(t, t, 1.0f, n); n = i; }"},
    ],
)
def test_what_any_place_may_write_is_left_alone(more: dict[str, str]) -> None:
    assert [one for one in found(**more) if one[0] == "never-set"] == []


@pytest.mark.parametrize(
    ("constructor", "wanted"),
    [
        ("Kernel() : length(4) {}", []),
        ("Kernel(const uint32_t& length) : length(length) {}", []),  # the member, by the parameter of its name
        ("Kernel(const uint32_t& length) : count(length) {}", [("never-set", "length")]),
    ],
)
def test_a_constructor_gives_values_too(constructor: str, wanted: list[tuple[str, str]]) -> None:
    made = "Kernel op(3)" if "uint32_t" in constructor else "Kernel op"
    text = CLASS.format(init="", process=READ, members="uint32_t length; uint32_t count;", made=made, body="")
    text = text.replace("Kernel() {}", constructor)
    own = OwnText(text, tuple(("k.cpp", line) for line in range(1, text.count("\n") + 2)))
    assert [(one.finding.id.removeprefix("language-"), one.finding.fields["name"]) for one in find(own)] == wanted


def test_a_struct_that_the_host_fills_is_no_class_of_a_kernel() -> None:
    before = "struct Tiling { uint32_t length; };\n"
    body = "auto* tiling = (__gm__ Tiling*)t; Use(tiling->length);"
    text = f'{before}extern "C" __global__ __aicore__ void k(GM_ADDR t) {{ {body} }}'
    assert find(OwnText(text, (("k.cpp", 1), ("k.cpp", 2)))) == ()
