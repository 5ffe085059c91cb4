"""Packs a package of the course as a complete project: its own files, the headers of ``kernels/`` and its build.

The repository has only the files written by hand (``own_package``). When a command or a Python call names a package's
folder, the complete project is written to the cache; ``pack`` writes it to any folder.
"""

from __future__ import annotations

from pathlib import Path

from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.prototype import prototype
from gn_tutorial.projects.chips import find_soc
from gn_tutorial.projects.new_project import check_layout, project_files, refuse_existing, write_project
from gn_tutorial.projects.own_package import CoursePackage, course_packages, read_package
from gn_tutorial.projects.prototype_file import read_prototypes


def pack(what: str | Path, folder: Path | str, layout: str = "9.x", soc: str = "ascend910b") -> Path:
    """Write a package of the course to ``folder`` as a project that builds wherever it is put. Returns the folder.

    what: the package's name or folder; empty: the course's only package. layout, soc: as for ``new_project``. Raises
    ArgumentError if ``what`` is no package, ``folder`` exists already or cannot be written, or the layout or chip is
    unknown; RegistryError for a wrong package.
    """
    check_layout(layout)
    package, config = _find(what), find_soc(soc).config
    root = Path(folder).expanduser()
    refuse_existing(root, "name a folder that does not exist; nothing is overwritten")
    return write_project(packed_files(package, layout, config), root)


def packed_files(package: CoursePackage, layout: str = "9.x", config: str = "ascend910b") -> dict[str, str]:
    """Return the files of the complete project that ``pack`` writes: path inside the project -> text."""
    entries = [prototype(name) for name in package.operators]
    ops = read_prototypes(entries, config)
    return project_files(ops, entries, package.root.name, layout, config, packages=[package])


def whole(root: Path) -> Path:
    """Return the folder with all files of project ``root``: in the cache for a package of the course, else ``root``.

    A hash of the contents names the folder in the cache, so an edit of a kernel makes another folder. Raises
    CacheError, and RegistryError or ArgumentError for a wrong package.
    """
    package = read_package(root)
    if package is None:
        return root
    files, cache = packed_files(package), default_cache()
    key = checksum("\0".join(part for file in sorted(files.items()) for part in file).encode())
    name = f"{root.name}-{key[:16]}"
    for place, text in files.items():
        cache.keep_source(f"{name}/{place}", text)
    return cache.root / "sources" / name


def _find(what: str | Path) -> CoursePackage:
    """Return the package of that name or folder; the only package if ``what`` is empty. Raises ArgumentError."""
    packages = {one.root.name: one for one in course_packages()}
    if not str(what) and len(packages) == 1:
        (what,) = packages
    if str(what) in packages:
        return packages[str(what)]
    if str(what) and (found := read_package(Path(what).expanduser().resolve())):
        return found
    raise ArgumentError(
        f"there is no package '{what}' in the course",
        hint=f"one of {', '.join(packages)}, or its folder; a project of your own needs no packing: copy its folder",
    )
