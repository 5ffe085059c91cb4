"""Names of the C++ standard library that only hosts have: with ``std::``, or after ``using namespace std``.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/语法限制/特性.md: the STL, files, and the library's tuple and
algorithms are not supported. A launch stops.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import call_of, qualification
from gn_tutorial.cpp.syntax import Node

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
_STREAMS = ("cout", "cerr", "clog")
_OF_DEVICE = ("min", "max")
_FILES = ("fopen", "fread", "fwrite", "fclose", "fprintf", "fscanf")


def std(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each of these names."""
    opened = any(_opens(code, node) for node in code.names.get("std", ()))
    for name in code.names.keys() & _STD:
        for node in code.names[name]:
            if code.is_of_std(node) or (opened and _is_used(code, node, name) and code.is_of_host(node)):
                yield code.finding("std", node, name=f"std::{name}", op=name)
    for name in _FILES:
        for node in code.names.get(name, ()):
            if call_of(node, code.syntax) and (code.is_of_std(node) or code.is_of_host(node)):
                yield code.finding("std", node, name=name, op=name)


def _opens(code: DeviceCode, node: Node) -> bool:
    """Whether it is the name in ``using namespace std;``."""
    around = code.syntax.parent(node)
    return (
        around is not None
        and around.type == "using_declaration"
        and any(one.type == "namespace" for one in around.children)
    )


def _is_used(code: DeviceCode, node: Node, name: str) -> bool:
    """Whether a name is used as the library's type, stream or algorithm would be."""
    around = code.syntax.parent(node)
    if around is None or qualification(node, code.syntax)[1] is not None:
        return False
    if around.type in ("template_function", "template_type"):
        return True
    if name in _STREAMS:
        operator = around.child_by_field_name("operator")
        return operator is not None and operator.type == "<<"
    called = name not in _OF_DEVICE and call_of(node, code.syntax) is not None
    return called or (name == "string" and node.type == "type_identifier")
