"""Whose compiled libraries are loaded: the user's own and root's, never a stranger's.

A cache may be shared: a class has a base that somebody prepared, or one folder for everybody because an administrator
said so. Loading a library runs it with the rights of whoever loads it, so a library counts as absent where somebody
else may have made it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def is_ours(path: Path) -> bool:
    """Whether a file of the user's own cache belongs to the user or root; nobody else writes into those (``close``).

    Raises OSError if it is not there. True where files have no owner (Windows). Modes are not asked for: where a file
    system has none (a Windows disk under WSL2), everybody may seem to write.
    """
    found = path.stat()
    return not hasattr(os, "geteuid") or _trusted(found)


def close(path: Path) -> None:
    """Take the right to write into a new file from others: a container's umask may give it."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~stat.S_IWOTH)


def who_may_write(path: Path) -> str:
    """Why a file or folder of a shared base may be somebody else's, as the end of a sentence; empty if it is not.

    The file, its folder and all above belong to root or the user, and neither group nor others may write there. A
    sticky folder, /tmp, is fine above one that is: nobody can put another in its place. Raises OSError.
    """
    if not hasattr(os, "geteuid"):
        return "this system does not say who may write"
    real = path.resolve(strict=True)
    for one in (real, *real.parents):
        found = one.stat()
        if not _trusted(found):
            return f"{one} belongs to user {found.st_uid}"
        sticky = one != real and bool(found.st_mode & stat.S_ISVTX)
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not sticky:
            return f"{one} may be written by others (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def _trusted(found: os.stat_result) -> bool:
    return found.st_uid in (0, os.geteuid())
