"""The names of ``gn_tutorial.host``, for those who ask for this module."""

from gn_tutorial.host import *  # noqa: F403
from gn_tutorial.host import __all__ as __all__
