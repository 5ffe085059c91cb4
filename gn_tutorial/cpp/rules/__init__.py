"""Rules on C++ that CANN does not take, or that runs otherwise on a device: one module for each.

A rule is a function of the device code of a source. It yields its findings in the whole text; those that an entry
reaches count.
"""

from gn_tutorial.cpp.rules.cpp20 import cpp20
from gn_tutorial.cpp.rules.division import division
from gn_tutorial.cpp.rules.double import double
from gn_tutorial.cpp.rules.exceptions import exceptions
from gn_tutorial.cpp.rules.globals import globals_
from gn_tutorial.cpp.rules.heap import heap
from gn_tutorial.cpp.rules.hidden import hidden
from gn_tutorial.cpp.rules.host_copy import host_copy
from gn_tutorial.cpp.rules.math import math
from gn_tutorial.cpp.rules.never_set import never_set
from gn_tutorial.cpp.rules.no_gm import no_gm
from gn_tutorial.cpp.rules.not_aicore import not_aicore
from gn_tutorial.cpp.rules.recursion import recursion
from gn_tutorial.cpp.rules.stack import stack
from gn_tutorial.cpp.rules.std import std
from gn_tutorial.cpp.rules.typeid import typeid
from gn_tutorial.cpp.rules.unsigned import unsigned
from gn_tutorial.cpp.rules.virtual import virtual

#: In this order: at one line the first finding of an id stays.
RULES = (
    virtual, heap, typeid, exceptions, globals_, double, stack, cpp20, no_gm, host_copy, std, never_set, unsigned, math,
    division, hidden, recursion, not_aicore,
)  # fmt: skip

__all__ = ["RULES"]
