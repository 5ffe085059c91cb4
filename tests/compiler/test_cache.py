"""The store of compiled libraries: many processes at once, damage, limits, and disks that refuse."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gn_tutorial.compiler import cache_store
from gn_tutorial.compiler.cache import Cache, default_cache
from gn_tutorial.compiler.cache_store import GRACE_SECONDS, STALE_SCRATCH_SECONDS, checksum
from gn_tutorial.errors import CacheError

ROOT = Path(__file__).resolve().parents[2]
KEY = checksum(b"a kernel")


def writes(data: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(data)

    return make


def refuses(_path: Path) -> None:
    raise AssertionError("made although it was there")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def age(path: Path, seconds: float) -> None:
    """Makes the entry look as if it was last used so long ago."""
    seal = path.with_name(path.name + ".seal")
    os.utime(seal, (time.time() - seconds,) * 2)


def scratch_of(cache: Cache) -> list[Path]:
    return list((cache.root / "scratch").iterdir())


def test_made_once(cache: Cache) -> None:
    assert cache.get(KEY, ".so") is None
    path = cache.get_or_make(KEY, ".so", writes(b"library"))
    assert cache.get_or_make(KEY, ".so", refuses) == path == cache.get(KEY, ".so")
    assert path.read_bytes() == b"library"
    assert path.suffix == ".so"
    assert cache.get(KEY, ".bin") is None
    assert scratch_of(cache) == []


def test_a_failing_build_leaves_nothing(cache: Cache) -> None:
    def fails(path: Path) -> None:
        path.write_bytes(b"half a libr")
        raise KeyError("compiler")

    with pytest.raises(KeyError, match="compiler"):
        cache.get_or_make(KEY, ".so", fails)
    assert cache.get(KEY, ".so") is None
    assert (cache.info().entries, cache.info().bytes, scratch_of(cache)) == (0, 0, [])
    cache.get_or_make(KEY, ".so", writes(b"library"))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3])


def flip(path: Path) -> None:
    path.write_bytes(b"L" + path.read_bytes()[1:])


def lose_seal(path: Path) -> None:
    path.with_name(path.name + ".seal").unlink()


def empty_seal(path: Path) -> None:
    path.with_name(path.name + ".seal").write_bytes(b"")


def binary_seal(path: Path) -> None:
    path.with_name(path.name + ".seal").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink, lose_seal, empty_seal, binary_seal])
def test_a_damaged_entry_is_made_again(cache: Cache, damage: Callable[[Path], None]) -> None:
    path = cache.get_or_make(KEY, ".so", writes(b"library"))
    damage(path)
    assert cache.get(KEY, ".so") is None
    assert cache.get_or_make(KEY, ".so", writes(b"library")).read_bytes() == b"library"
    assert cache.get(KEY, ".so") == path


# --- processes -------------------------------------------------------------------------------------------------------

BUILDER = """
    import os, sys, time
    from pathlib import Path
    from gn_tutorial.compiler.cache import Cache
    root, key, log, go = sys.argv[1:5]

    def make(path):
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\\n")
        path.write_bytes(b"x" * 1000)
        while os.path.exists(go + ".hold"):
            time.sleep(0.01)
        path.write_bytes(b"y" * 1000)

    while not os.path.exists(go):
        time.sleep(0.001)
    print(len(Cache(Path(root)).get_or_make(key, ".so", make).read_bytes().strip(b"y")))
"""


def start_builder(cache: Cache, tmp_path: Path, key: str = KEY) -> subprocess.Popen[str]:
    arguments = [str(cache.root), key, str(tmp_path / "log"), str(tmp_path / "go")]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BUILDER), *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def builds(tmp_path: Path) -> int:
    log = tmp_path / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_processes_that_want_one_key_build_it_once(cache: Cache, tmp_path: Path) -> None:
    builders = [start_builder(cache, tmp_path) for _ in range(4)]
    (tmp_path / "go").touch()
    assert [builder.communicate(timeout=60)[0].strip() for builder in builders] == ["0"] * 4
    assert builds(tmp_path) == 1


def test_a_killed_builder_does_not_stop_the_next(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "go.hold").touch()
    (tmp_path / "go").touch()
    killed = start_builder(cache, tmp_path)
    wait_for(lambda: builds(tmp_path) == 1)
    waiting = start_builder(cache, tmp_path)
    assert cache.get(KEY, ".so") is None  # what is being written is not seen
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (tmp_path / "go.hold").unlink()
    assert waiting.communicate(timeout=60)[0].strip() == "0"
    assert builds(tmp_path) == 2


def test_the_scratch_of_a_killed_builder_is_swept_when_old(cache: Cache) -> None:
    with cache.scratch() as young:
        old = young.parent / "old"
        old.mkdir()
        os.utime(old, (time.time() - STALE_SCRATCH_SECONDS - 1,) * 2)
        cache.get_or_make(KEY, ".so", writes(b"library"))
        assert young.exists()
        assert not old.exists()


# --- limit -----------------------------------------------------------------------------------------------------------


def filled(tmp_path: Path, limit_bytes: int) -> tuple[Cache, list[Path]]:
    """Five entries of 1000 bytes, last used 5, 4, ... hours ago."""
    roomy = Cache(tmp_path / "cache")
    paths = [roomy.get_or_make(checksum(bytes([i])), ".so", writes(b"x" * 1000)) for i in range(5)]
    for index, path in enumerate(paths):
        age(path, (5 - index) * 3600)
    return Cache(roomy.root, limit_bytes), paths


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache, paths = filled(tmp_path, limit_bytes=4000)
    assert cache.get(paths[0].stem, ".so") == paths[0]  # a use: the oldest is now the youngest
    new = cache.get_or_make(KEY, ".so", writes(b"x" * 1000))
    assert [path.exists() for path in [*paths, new]] == [True, False, False, False, True, True]
    info = cache.info()
    assert info.entries == 3
    assert info.bytes <= info.limit_bytes == 4000


def test_nothing_used_in_the_last_minutes_goes(tmp_path: Path) -> None:
    cache, paths = filled(tmp_path, limit_bytes=1)
    for path in paths:
        age(path, GRACE_SECONDS / 2)
    new = cache.get_or_make(KEY, ".so", writes(b"x"))
    assert all(path.exists() for path in [*paths, new])


def test_a_use_while_evicting_saves_the_entry(tmp_path: Path) -> None:
    cache, paths = filled(tmp_path, limit_bytes=1)
    stale = next(entry for entry in cache_store.entries(cache.root) if entry.path == paths[0])
    assert cache.get(paths[0].stem, ".so")  # between the listing and the removal
    assert cache_store.remove(stale, tmp_path, unless_used_after=time.time() - GRACE_SECONDS) == 0
    assert cache.get(paths[0].stem, ".so") == paths[0]


def test_old_cell_sources_count_and_go(tmp_path: Path) -> None:
    cache, _ = filled(tmp_path, limit_bytes=1)
    cell = cache.keep_source("cell_1.cpp", "x" * 100)
    os.utime(cell, (time.time() - 9 * 3600,) * 2)
    cache.get_or_make(KEY, ".so", writes(b"x"))
    assert not cell.exists()


def test_clear(tmp_path: Path) -> None:
    cache, _ = filled(tmp_path, limit_bytes=1 << 30)
    cache.keep_source("cell_1.cpp", "x" * 100)
    (cache.root / "zig").mkdir()
    (cache.root / "zig" / "part").write_bytes(b"x" * 10)
    before = cache.info()
    assert before.entries == 5
    assert before.bytes > 5100
    assert cache.clear() == before.bytes + 10
    assert (cache.info().entries, cache.info().bytes) == (0, 0)
    assert cache.get_or_make(KEY, ".so", writes(b"library")).exists()


# --- sources ---------------------------------------------------------------------------------------------------------


def test_a_cell_is_kept_as_a_file(cache: Cache) -> None:
    path = cache.keep_source("cell_1.cpp", "int é;\n")
    before = path.stat()
    assert cache.keep_source("cell_1.cpp", "int é;\n") == path
    after = path.stat()  # not the time of the last reading: reading is how it is found the same
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)  # keeps the quick look-up quick
    path.write_text("edited")
    assert cache.keep_source("cell_1.cpp", "int é;\n").read_text("utf-8") == "int é;\n"


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file" / "cache")
    with pytest.raises(CacheError, match="in the way") as caught:
        cache.get_or_make(KEY, ".so", writes(b"library"))
    assert "GNT_CACHE_DIR" in caught.value.hint
    assert str(tmp_path) in caught.value.where


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a file of a disk that is always full")
def test_a_full_disk(cache: Cache) -> None:
    with cache.scratch() as folder:
        made = folder / "made"
        made.write_bytes(b"library")
        (folder / "made.seal").symlink_to("/dev/full")
        with pytest.raises(CacheError, match="disk is full") as caught:
            cache.put(KEY, ".so", made)
    assert "GNT_CACHE_DIR" in caught.value.hint
    assert cache.get(KEY, ".so") is None


def test_no_permission(tmp_path: Path) -> None:
    script = """
        import os, sys
        from pathlib import Path
        from gn_tutorial.compiler.cache import Cache
        from gn_tutorial.compiler.cache_store import checksum
        from gn_tutorial.errors import CacheError
        import encodings.ascii  # before the rights to read the library go
        locked = Path(sys.argv[1])
        locked.chmod(0o500)
        if os.getuid() == 0:
            locked.chmod(0o700)
            os.setuid(65534)
        try:
            Cache(locked / "cache").get_or_make(checksum(b""), ".so", print)
        except CacheError as error:
            print(error)
    """
    locked = tmp_path / "locked"
    locked.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(locked)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no permission" in done.stdout
    assert "GNT_CACHE_DIR" in done.stdout


def test_keys_are_hashes(cache: Cache) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        cache.get("../../etc/passwd", ".so")


def test_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "mine"))
    assert default_cache().root == tmp_path / "mine"
    monkeypatch.delenv("GNT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().root.name == "gn_tutorial"
    assert not (tmp_path / "mine").exists()  # asking for it makes nothing


# A cache shared by a class.


def strangers(path: Path) -> None:
    """Make the file another user's. Only root can; others test the modes alone."""
    if os.geteuid() != 0:
        pytest.skip("needs the right to give files away")
    os.chown(path, 12345, 12345)


@pytest.fixture
def shared(tmp_path: Path) -> tuple[Cache, Cache]:
    """A prepared cache, and a user's own cache over it."""
    tmp_path.chmod(0o755)
    prepared = Cache(tmp_path / "base")
    os.chmod(prepared.get_or_make(KEY, ".so", writes(b"library")), 0o755)
    for folder in (prepared.root, *(one for one in prepared.root.rglob("*") if one.is_dir())):
        folder.chmod(0o755)
    return prepared, Cache(tmp_path / "own", base=prepared.root)


def listing(cache: Cache) -> list[tuple[str, int]]:
    return sorted((str(one), one.stat().st_mtime_ns) for one in cache.root.rglob("*"))


def test_a_base_is_read_and_the_own_cache_written(shared: tuple[Cache, Cache]) -> None:
    prepared, own = shared
    before = listing(prepared)
    assert own.get_or_make(KEY, ".so", refuses) == prepared.get(KEY, ".so")
    other = own.get_or_make(KEY, ".bin", writes(b"mine"))
    assert other.is_relative_to(own.root)
    assert prepared.get(KEY, ".bin") is None
    own.put(KEY, ".so", write_file(own.root / "made", b"newer"))
    found = own.get(KEY, ".so")
    assert found is not None
    assert (found.read_bytes(), found.is_relative_to(own.root)) == (b"newer", True)
    own.clear()
    assert own.get(KEY, ".so") == prepared.get(KEY, ".so")
    assert [one for one, _ in listing(prepared)] == [one for one, _ in before]


def write_file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("where", ["entry", "folder", "base", "above"])
@pytest.mark.parametrize("how", ["group", "others", "owner"])
def test_a_base_that_others_may_write_to_is_left_aside(shared: tuple[Cache, Cache], where: str, how: str) -> None:
    prepared, own = shared
    entry = own.get(KEY, ".so")
    assert entry is not None
    place = {"entry": entry, "folder": entry.parent, "base": prepared.root, "above": prepared.root.parent}[where]
    if how == "owner":
        strangers(place)
    else:
        place.chmod(0o775 if how == "group" else 0o757)
    assert own.get(KEY, ".so") is None
    assert own.get_or_make(KEY, ".so", writes(b"own")).is_relative_to(own.root)


def test_a_base_in_a_sticky_folder_and_a_damaged_one(shared: tuple[Cache, Cache]) -> None:
    prepared, own = shared
    prepared.root.parent.chmod(0o1777)
    entry = own.get(KEY, ".so")
    assert entry is not None
    link = prepared.root.parent / "link"
    link.symlink_to(prepared.root)
    assert Cache(own.root, base=link).get(KEY, ".so") is not None
    flip(entry)
    assert own.get(KEY, ".so") is None
    assert Cache(own.root, base=prepared.root / "absent").get(KEY, ".so") is None


def test_nobody_else_may_write_into_an_entry(cache: Cache) -> None:
    before = os.umask(0)
    try:
        path = cache.get_or_make(KEY, ".so", writes(b"library"))
    finally:
        os.umask(before)
    assert [one.stat().st_mode & 0o002 for one in (path, path.with_name(path.name + ".seal"))] == [0, 0]


def test_a_stranger_s_entry_in_the_own_cache_is_made_again(cache: Cache) -> None:
    path = cache.get_or_make(KEY, ".so", writes(b"library"))
    strangers(path)
    assert cache.get(KEY, ".so") is None
    again = cache.get_or_make(KEY, ".so", writes(b"own"))
    assert (again, again.read_bytes()) == (path, b"own")


def test_the_base_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GNT_CACHE_BASE", raising=False)
    assert default_cache().base is None
    monkeypatch.setenv("GNT_CACHE_BASE", str(tmp_path))
    assert default_cache().base == tmp_path
