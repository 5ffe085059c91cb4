"""Rules on C++ that CANN does not take, or that runs otherwise on a device: one module for each.

A rule is a function of the device code of a source and one of its functions or classes; it returns its findings there.
"""

from gn_tutorial.cpp.rules.calls import CertainCalls, not_aicore, recursion
from gn_tutorial.cpp.rules.device_functions import found_in
from gn_tutorial.cpp.rules.host_library import std
from gn_tutorial.cpp.rules.host_math import math
from gn_tutorial.cpp.rules.integer_division import division
from gn_tutorial.cpp.rules.shadowed_member import hidden
from gn_tutorial.cpp.rules.unset_values import never_set
from gn_tutorial.cpp.rules.unsigned_below_zero import unsigned

#: Asked of each function and class that an entry reaches, in this order: at one place the first finding of an id stays.
RULES = (found_in, std, never_set, unsigned, math, division, hidden)
#: Asked of all that an entry reaches, with the calls between them (``CertainCalls``).
CALL_RULES = (recursion, not_aicore)

__all__ = ["CALL_RULES", "RULES", "CertainCalls"]
