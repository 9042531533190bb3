"""Compiled programs on disk: what is loaded, what is refused, many processes at work, processes killed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sagax
import sagax.numpy as snp
from sagax._src.runtime import compilation_cache
from sagax._src.runtime.disk_store import Refused, Store

STORE = Path(importlib.util.find_spec("sagax._src.runtime.disk_store").origin)  # type: ignore[union-attr, arg-type]
FACTS = {"name": "f", "seconds": 1.0}
NO_BOUND = -1

# Without the rest of sagax: a process that works on a store starts in a few milliseconds.
LOAD_STORE = f"""
import importlib.util, json, os, random, signal, sys, time
spec = importlib.util.spec_from_file_location("store", {str(STORE)!r})
store = sys.modules["store"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(store)
"""


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "programs"))


def entry_file(store: Store, key: str) -> Path:
    return Path(store.folder) / f"{key}.program"


def python(code: str, *args: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", LOAD_STORE + code, *args], text=True)


# -- one store ------------------------------------------------------------------------------------


def test_what_is_written_is_read(store):
    assert store.read("a") is None
    store.write("a", FACTS, b"program", NO_BOUND)
    assert store.read("a") == (FACTS, b"program")
    assert Store(store.folder).read("a") == (FACTS, b"program")
    store.write("a", FACTS, b"another", NO_BOUND)
    assert store.read("a").payload == b"another"
    assert store.summary().count == 1
    store.remove("a")
    assert store.read("a") is None


def test_only_the_user_can_read_and_write(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    folder = Path(store.folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o777 for f in folder.iterdir()} == {0o600}


def test_truncated_at_any_byte_is_refused_and_replaced(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    whole = entry_file(store, "a").read_bytes()
    for size in range(len(whole)):
        entry_file(store, "a").write_bytes(whole[:size])
        with pytest.raises(Refused):
            store.read("a")
    store.write("a", FACTS, b"program", NO_BOUND)
    assert store.read("a").payload == b"program"


def test_every_changed_byte_is_refused(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    whole = entry_file(store, "a").read_bytes()
    for i in range(len(whole)):
        changed = bytearray(whole)
        changed[i] ^= 1
        entry_file(store, "a").write_bytes(changed)
        with pytest.raises(Refused):
            store.read("a")


def test_an_entry_under_another_key_is_refused(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    os.rename(entry_file(store, "a"), entry_file(store, "b"))
    with pytest.raises(Refused, match="damaged, or not written by this user"):
        store.read("b")


def test_an_entry_of_another_secret_is_refused(store, tmp_path):
    other = Store(str(tmp_path / "other"))
    store.write("a", FACTS, b"program", NO_BOUND)
    other.write("a", FACTS, b"program", NO_BOUND)
    entry_file(store, "a").write_bytes(entry_file(other, "a").read_bytes())
    with pytest.raises(Refused):
        store.read("a")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_is_refused(store, mode):
    store.write("a", FACTS, b"program", NO_BOUND)
    entry_file(store, "a").chmod(mode)
    with pytest.raises(Refused, match="can be written by other users"):
        store.read("a")
    store.write("a", FACTS, b"program", NO_BOUND)
    assert store.read("a").payload == b"program"


def test_a_folder_that_others_can_write_is_refused(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    os.chmod(store.folder, 0o777)
    for use in (lambda: store.read("a"), lambda: store.write("a", FACTS, b"", NO_BOUND)):
        with pytest.raises(Refused, match="can be written by other users"):
            use()


def test_what_another_user_owns_is_refused(store, monkeypatch):
    store.write("a", FACTS, b"program", NO_BOUND)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Refused, match="belongs to another user"):
        store.read("a")


def test_links_are_refused(store, tmp_path):
    store.write("a", FACTS, b"program", NO_BOUND)
    os.symlink(entry_file(store, "a"), entry_file(store, "b"))
    with pytest.raises(Refused):
        store.read("b")
    os.symlink(store.folder, tmp_path / "link")
    with pytest.raises(OSError, match="link"):
        Store(str(tmp_path / "link")).read("a")


def test_a_secret_that_others_can_read_is_replaced(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    secret = Path(store.folder) / "secret"
    before = secret.read_bytes()
    secret.chmod(0o644)
    with pytest.raises(Refused, match="can be read by other users"):
        store.read("a")
    store.write("a", FACTS, b"program", NO_BOUND)
    assert secret.read_bytes() != before
    assert store.read("a").payload == b"program"


def test_the_bound_drops_what_was_used_longest_ago(store):
    payload = b"x" * 1000
    for i in range(10):
        store.write(f"k{i}", FACTS, payload, NO_BOUND)
        os.utime(entry_file(store, f"k{i}"), (1000 + i, 1000 + i))
    assert store.read("k0").payload == payload  # used again: the newest now
    store.write("last", FACTS, payload, 6000)
    assert store.summary().size <= 6000
    left = {i for i in range(10) if store.read(f"k{i}") is not None}
    assert left == {0, 8, 9} or left == {0, 7, 8, 9}
    assert store.read("last") is not None


def test_clear_removes_entries_and_what_killed_processes_left(store):
    store.write("a", FACTS, b"program", NO_BOUND)
    left = Path(store.folder) / ".1.2.3.left"
    left.write_bytes(b"half")
    os.utime(left, (1000, 1000))
    assert store.clear().count == 1
    assert [f.name for f in Path(store.folder).iterdir()] == ["secret"]


@pytest.mark.parametrize("year", [1971, 2200])
def test_times_of_another_clock_change_no_contents(store, year):
    """The clock jumped, or files come from a machine whose clock is wrong."""
    when = (year - 1970) * 31_556_952
    payload = b"x" * 1000
    for i in range(10):
        store.write(f"k{i}", FACTS, payload, NO_BOUND)
        os.utime(entry_file(store, f"k{i}"), (when, when))
    assert store.read("k0").payload == payload
    assert abs(entry_file(store, "k0").stat().st_mtime - time.time()) < 60  # is used now
    for i in range(10, 20):
        store.write(f"k{i}", FACTS, payload, 6000)
    assert store.summary().size <= 6000
    assert store.read("k19").payload == payload


def test_a_full_disk_leaves_what_was_there(store):
    """The system refuses to write more than the first bytes of an entry."""
    store.write("a", FACTS, b"program", NO_BOUND)
    code = """
import resource
at = store.Store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for key in ("a", "b"):
    try:
        at.write(key, {"name": key}, bytes(100_000), -1)
    except OSError as error:
        print(error.strerror)
"""
    child = [sys.executable, "-c", LOAD_STORE + code, store.folder]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["File too large"] * 2
    assert store.read("a") == (FACTS, b"program")
    assert store.read("b") is None
    assert sorted(os.listdir(store.folder)) == ["a.program", "secret"]


# -- many processes -------------------------------------------------------------------------------


def test_eight_processes_fill_one_folder(store):
    """Each writes and reads the same forty keys in its own order; the folder does not exist before."""
    code = """
at = store.Store(sys.argv[1])
keys = [f"key{i}" for i in range(40)] * 3
random.Random(int(sys.argv[2])).shuffle(keys)
for key in keys:
    found = at.read(key)
    if found is not None and found.payload != key.encode() * 2000:
        sys.exit(f"{key}: wrong contents")
    at.write(key, {"name": key}, key.encode() * 2000, 300_000)
"""
    workers = [python(code, store.folder, str(n)) for n in range(8)]
    assert [w.wait(timeout=120) for w in workers] == [0] * 8
    held = store.summary()
    assert 0 < held.size <= 300_000 + 8 * 12_000
    for i in range(40):
        found = store.read(f"key{i}")
        assert found is None or found.payload == f"key{i}".encode() * 2000
    assert not [f for f in os.listdir(store.folder) if f.startswith(".")]


def test_processes_killed_while_they_write_leave_no_damage(store):
    """Two hundred writers are killed after up to some milliseconds; what was there stays whole."""
    code = """
at = store.Store(sys.argv[1])
rng = random.Random(0)
payload = bytes(1_000_000)
for n in range(4):
    at.write(f"key{n}", {"name": "f"}, payload, -1)
kills = damaged = 0
for n in range(200):
    child = os.fork()
    if not child:
        while True:
            at.write(f"key{n % 4}", {"name": "f"}, payload, -1)
    time.sleep(rng.random() * 0.006)
    os.kill(child, signal.SIGKILL)
    kills += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    found = at.read(f"key{n % 4}")
    damaged += found is None or found.payload != payload
print(json.dumps([kills, damaged]))
"""
    done = subprocess.run(
        [sys.executable, "-c", LOAD_STORE + code, store.folder],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [200, 0]
    assert store.summary().count == 4
    store.write("after", FACTS, b"program", NO_BOUND)
    assert store.read("after").payload == b"program"


# -- programs -------------------------------------------------------------------------------------

PROGRAM = """
import json
import numpy as np
import sagax, sagax.numpy as snp
from sagax.experimental.compilation_cache import compilation_cache
f = sagax.jit(lambda x: snp.sin(x) @ x.T + 1)
y = f(np.arange(6.0).reshape(2, 3))
found = compilation_cache.statistics()
print(json.dumps([found.loaded, found.compiled, found.stored, found.refused, np.asarray(y).tolist()]))
"""


@pytest.fixture
def run_cached(run_python, tmp_path):
    """Runs a program with a cache in a folder of this test."""

    def run(code: str = PROGRAM, **env: str | None) -> list:
        env = {"SAGAX_CACHE_DIR": str(tmp_path), **env}
        return json.loads(run_python("-c", code, env=env).stdout)

    return run


def only_entry(folder: Path) -> Path:
    (found,) = folder.glob("programs-*/*.program")
    return found


def test_a_second_process_loads_what_the_first_compiled(run_cached, tmp_path):
    *first, y = run_cached()
    assert first == [0, 1, 1, 0]
    *second, z = run_cached()
    assert second == [1, 0, 0, 0]
    assert y == z


ON_ONE_PROCESSOR = """
import os
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
"""

DIVIDED = """
import json
import numpy as np
import sagax
compiled = sagax.jit(sagax.nn.sigmoid).lower(np.ones((1000, 1000), np.float32)).compile()
print(json.dumps(["outer_dimension_partitions" in compiled.as_text(), compiled._compiled.origin.source]))
"""


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="one processor, or a system that does not say how many a process may use",
)
def test_programs_for_one_processor_are_not_those_for_several(run_cached):
    assert run_cached(ON_ONE_PROCESSOR + DIVIDED) == [False, "compiled"]
    assert run_cached(DIVIDED) == [True, "compiled"]
    assert run_cached(ON_ONE_PROCESSOR + DIVIDED) == [False, "loaded"]
    assert run_cached(DIVIDED) == [True, "loaded"]


def test_another_place_in_the_source_is_the_same_program(run_cached):
    run_cached()
    assert run_cached("# a line more\n\n" + PROGRAM)[:4] == [1, 0, 0, 0]


def test_a_damaged_entry_is_compiled_again_and_replaced(run_cached, tmp_path):
    *_, y = run_cached()
    entry = only_entry(tmp_path)
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2])
    *damaged, z = run_cached()
    assert damaged == [0, 1, 1, 1]
    assert run_cached()[:4] == [1, 0, 0, 0]
    assert y == z


@pytest.mark.parametrize(
    "env",
    [
        {"SAGAX_ENABLE_COMPILATION_CACHE": "0"},
        {"JAX_ENABLE_COMPILATION_CACHE": "false"},
        {"XLA_FLAGS": "--xla_dump_hlo_as_text=false --xla_dump_to="},
    ],
)
def test_off(run_cached, tmp_path, env):
    assert run_cached(**env)[:4] == [0, 1, 0, 0]
    assert not list(tmp_path.glob("programs-*"))


def test_programs_that_compile_quickly_can_be_left_out(run_cached):
    env = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1000"}
    assert run_cached(**env)[:4] == [0, 1, 0, 0]


def test_the_folder_is_that_of_the_user_by_default(run_cached, tmp_path):
    run_cached(SAGAX_CACHE_DIR=None, XDG_CACHE_HOME=str(tmp_path))
    assert only_entry(tmp_path / "sagax").parent.name == f"programs-{os.geteuid()}"


def test_a_folder_that_cannot_be_made_is_warned_of_once(run_python, tmp_path):
    (tmp_path / "file").write_text("")
    env = {"SAGAX_CACHE_DIR": str(tmp_path / "file")}
    done = run_python("-c", PROGRAM, env=env)
    assert json.loads(done.stdout)[:4] == [0, 1, 0, 0]
    assert done.stderr.count("compiled programs are not kept in") == 1
    env["JAX_RAISE_PERSISTENT_CACHE_ERRORS"] = "1"
    assert "NotADirectoryError" in run_python("-c", PROGRAM, env=env, status=1).stderr


def test_the_command_shows_and_clears(run_cached, run_python, tmp_path):
    run_cached()
    env = {"SAGAX_CACHE_DIR": str(tmp_path)}
    assert "1 programs" in run_python("-m", "sagax", "cache", env=env).stdout
    shown = run_python("-m", "sagax", "cache", "--clear", env=env).stdout
    assert "Removed 1 programs" in shown
    assert "0 programs" in shown
    assert not list(tmp_path.glob("programs-*/*.program"))


def test_a_full_disk_changes_no_result(run_cached, run_python, tmp_path):
    *_, y = run_cached(SAGAX_CACHE_DIR=str(tmp_path / "other"))
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    done = run_python("-c", limit + PROGRAM, env={"SAGAX_CACHE_DIR": str(tmp_path)})
    *counts, z = json.loads(done.stdout)
    assert counts == [0, 1, 0, 0]
    assert z == y
    assert done.stderr.count("compiled programs are not kept in") == 1


def test_two_versions_share_a_folder(run_cached, tmp_path):
    """The next version, whose entries have another form, neither reads nor breaks those of this one."""
    other = "from sagax._src.runtime import compilation_cache, disk_store\n"
    other += "compilation_cache._FORMAT, disk_store._MAGIC = '2', b'sagax program 2\\n'\n"
    *_, y = run_cached()
    *counts, z = run_cached(other + PROGRAM)
    assert counts == [0, 1, 1, 0] and z == y
    assert run_cached()[:4] == [1, 0, 0, 0]
    assert run_cached(other + PROGRAM)[:4] == [1, 0, 0, 0]
    assert len(list(tmp_path.glob("programs-*/*.program"))) == 2


@pytest.fixture
def own_cache(tmp_path):
    with sagax.config.context(compilation_cache_dir=str(tmp_path)):
        yield tmp_path


def lowered(f, *args, **options):
    return sagax.jit(f, **options).lower(*args)


def origin(stage) -> compilation_cache.Origin:
    return stage.compile()._compiled.origin


def test_options_of_the_compiler_are_part_of_the_key(own_cache):
    stage = lowered(lambda x: x * 2, 1.0)
    fast = {"xla_cpu_enable_fast_math": True}
    assert origin(stage).source == "compiled"
    assert stage.compile(fast)._compiled.origin.source == "compiled"
    assert stage.compile(fast)._compiled.origin.source == "loaded"
    assert origin(stage).source == "loaded"


def test_a_miss_is_explained(own_cache):
    def f(x):
        return x * 2

    def another():
        def f(x):
            return x * 3

        return f

    with sagax.explain_cache_misses(True):
        assert origin(lowered(f, 1.0)).why == "no program named f was stored"
        changed = origin(lowered(another(), 1.0)).why
        assert changed == "a program named f was stored, but its program changed since"
        options = lowered(f, 1.0).compile({"xla_cpu_enable_fast_math": True})
        why = options._compiled.origin.why
        assert why == "a program named f was stored, but the options of the compiler changed since"


def test_a_refusal_is_explained(own_cache):
    stage = lowered(lambda x: x * 2, 1.0)
    origin(stage)
    only_entry(own_cache).chmod(0o666)
    found = origin(stage)
    assert found.source == "compiled"
    assert "can be written by other users" in found.why


def test_an_entry_that_does_not_pay_is_not_loaded_again(own_cache):
    """One that was compiled in no time at all: whatever loading takes is longer."""
    stage = lowered(lambda x: x * 2, 1.0)
    origin(stage)
    store = Store(str(only_entry(own_cache).parent))
    key = only_entry(own_cache).name.removesuffix(".program")
    entry = store.read(key)
    store.write(key, {**entry.facts, "seconds": 0.0}, entry.payload, NO_BOUND)
    assert origin(stage).source == "loaded"
    found = origin(stage)
    assert found == ("compiled", "loading it takes as long as compiling", found.seconds)


def test_a_loaded_program_is_as_good_as_a_compiled_one(own_cache):
    x = snp.arange(6.0).reshape(2, 3)
    stage = lowered(lambda x: (snp.sin(x) @ x.T, x.sum()), x)
    first, second = stage.compile(), stage.compile()
    assert second._compiled.origin.source == "loaded"
    for a, b in zip(first(x), second(x), strict=True):
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist()
    # the tables of names that the text carries are numbered anew
    assert first.as_text().count("fusion") == second.as_text().count("fusion") > 0
    assert first.cost_analysis()["flops"] == second.cost_analysis()["flops"]
    sizes = "argument_size_in_bytes", "output_size_in_bytes"
    for size in sizes:
        assert getattr(first.memory_analysis(), size) == getattr(second.memory_analysis(), size)


def test_a_loaded_program_calls_its_own_callbacks(own_cache):
    def calling(log):
        def f(x):
            sagax.debug.callback(lambda v: log.append(float(v)), x)
            return x + 1

        return f

    logs: list[list[float]] = [[], []]
    sources = []
    for log in logs:
        stage = lowered(calling(log), 1.0).compile()
        sources.append(stage._compiled.origin.source)
        stage(len(sources) * 10.0)
        sagax.effects_barrier()
    assert sources == ["compiled", "loaded"]
    assert logs == [[10.0], [20.0]]
