"""Names of the C++ standard library that only hosts have: with ``std::``, or after ``using namespace std``.

Source: as of language_rules, [features] (the STL, files, and the library's tuple and algorithms are not supported).
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.declarations import Node, Outline
from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding

#: Containers, streams, callables and algorithms of the standard library, and its files and threads. Not among them:
#: type traits, numeric_limits, integers of a width, initializer_list, move, forward and the like.
_STD = frozenset(
    """vector array deque list forward_list map multimap set multiset unordered_map unordered_set unordered_multimap
    unordered_multiset stack queue priority_queue string wstring string_view basic_string to_string stoi stof
    stringstream ostringstream istringstream cout cerr cin clog endl ostream istream ifstream ofstream fstream
    function bind tuple make_tuple tie optional variant any visit unique_ptr shared_ptr weak_ptr make_unique make_shared
    min max minmax clamp sort stable_sort partial_sort nth_element accumulate reduce transform for_each copy copy_n
    fill fill_n find find_if count count_if all_of any_of none_of reverse rotate unique remove_if
    lower_bound upper_bound binary_search max_element min_element minmax_element iota inner_product partial_sum next
    prev advance distance generate shuffle swap swap_ranges iter_swap exchange
    thread mutex lock_guard unique_lock atomic condition_variable async random_device mt19937 regex filesystem
    chrono""".split()
)
_STREAMS = frozenset(("cout", "cerr", "clog"))
_FILES = frozenset(("fopen", "fread", "fwrite", "fclose", "fprintf", "fscanf"))
#: Without one of these words there is nothing to find.
_NEEDED = _STD | _FILES | {"std"}


def std(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Names of the standard library that only hosts have, and C's files. [features]"""
    if not code.mentions(node) & _NEEDED:
        return
    outline = code.outline
    opened = _opens_std(code)
    own = {one.name for one in code.nodes} if opened else set()
    for at in (at for span in node.spans for at in range(*span)):
        word = outline.text(at)
        if word == "std" and outline.text(at + 1) == "::" and outline.text(at + 2) in _STD:
            if not (outline.text(at - 1) == "::" and outline.is_name(at - 2)):
                name = outline.text(at + 2)
                yield SourceFinding("language-std", outline.tokens[at].line, {"name": f"std::{name}", "op": name})
        elif opened and word in _STD and word not in own and _is_of_std(code, at):
            yield SourceFinding("language-std", outline.tokens[at].line, {"name": f"std::{word}", "op": word})
        elif word in _FILES and outline.text(at + 1) == "(" and node.kind == "function" and not code.functions(word):
            yield SourceFinding("language-std", outline.tokens[at].line, {"name": word, "op": word})


def _opens_std(code: DeviceCode) -> bool:
    """Whether the source has ``using namespace std;``."""
    outline = code.outline
    return any(
        [outline.text(at - 2), outline.text(at - 1), outline.text(at + 1)] == ["using", "namespace", ";"]
        for at in code.places("std")
    )


def _is_of_std(code: DeviceCode, at: int) -> bool:
    """Whether a name without ``std::`` is used as the library's type, stream or algorithm would be."""
    outline = code.outline
    word, behind = outline.text(at), outline.text(at + 1)
    if outline.text(at - 1) in ("::", ".", "->") or any(_declares(outline, one) for one in code.places(word)):
        return False
    if behind == "<":
        return word in _STREAMS or outline.after_angles(at + 1, len(outline.tokens)) > at + 1
    if behind == "(":
        return word not in ("min", "max")  # which device code has
    return word == "string" and outline.is_name(at + 1)


def _declares(outline: Outline, at: int) -> bool:
    """Whether the source's own variable may be declared there: ``int count``, ``auto find = ``."""
    type_before = outline.is_name(at - 1) and outline.text(at - 1) not in ("const", "return", "static", "constexpr")
    return type_before or (
        outline.text(at - 1) in (">", "*", "&", ",") and outline.text(at + 1) in ("=", ";", "{", ",")
    )
