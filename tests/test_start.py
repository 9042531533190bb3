"""What `import sagax` brings in, and the two means that keep it short: records and late modules."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import sagax
import sagax.numpy as snp
from sagax._src.later import later
from sagax._src.records import record

SOURCE = Path(sagax.__file__).parent

# ------------------------------------------------------------------------------------ what is loaded


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys, json as j\nprint(j.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    # What NumPy loads depends on its version, and is no concern of these tests.
    return modules_after("import sagax, sagax.numpy") - modules_after("import numpy")


@pytest.mark.parametrize(
    "module",
    [
        # other packages
        "scipy", "opt_einsum", "rich", "jaxlib.mlir", "jax",
        # the standard library: the first two bring TLS and OpenSSL
        "asyncio", "hashlib", "socket", "queue", "html",
        # our own: what compiles, what several processes need, what holds programs
        "sagax._src.lowering.module", "sagax._src.lowering.passes", "sagax._src.runtime.cache",
        "sagax._src.runtime.meeting", "sagax._src.runtime.key_reuse", "sagax._src.control.scan",
        "sagax._src.control.manual", "sagax._src.control.masks", "sagax._src.core.dims.decide",
        "sagax._src.diagnostics.render", "sagax._src.diagnostics.leaks",
        "sagax._src.primitives.special", "sagax._src.primitives.linalg",
        "sagax.lax", "sagax.nn", "sagax.random", "sagax.numpy.linalg", "sagax.numpy._sets",
    ],
)  # fmt: skip
def test_import_leaves_out_what_is_not_needed_yet(loaded, module):
    assert module not in loaded


def test_import_brings_in_what_everybody_needs(loaded):
    assert {"sagax._src.api.jit", "sagax._src.api.derivatives", "sagax.numpy._reductions"} <= loaded


# ------------------------------------------------------------------------------------- the late names


@pytest.mark.parametrize("module", [sagax, snp], ids=lambda m: m.__name__)
def test_dir_lists_names_that_are_all_there(module):
    missing = [name for name in dir(module) if not hasattr(module, name)]
    assert missing == []


@pytest.mark.parametrize("module", [sagax, snp], ids=lambda m: m.__name__)
def test_a_wrong_name_is_an_attribute_error(module):
    with pytest.raises(
        AttributeError, match=f"module '{module.__name__}' has no attribute 'nosuch'"
    ):
        module.nosuch  # noqa: B018


def typed_names(path: Path) -> dict[str, str]:
    """What type checkers see: name -> "module:its name there", of imports that never run."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for one in node.body:
                assert isinstance(one, ast.ImportFrom)
                for alias in one.names:
                    found[alias.asname or alias.name] = f"{one.module}:{alias.name}"
    return found


def test_type_checkers_see_the_late_functions_of_sagax():
    late = {
        name: where if ":" in where else f"{where}:{name}"
        for name, where in sagax._LAZY_FUNCTIONS.items()
    }
    assert typed_names(SOURCE / "__init__.py") == late


def test_type_checkers_see_the_late_functions_of_numpy():
    late = {name: f"sagax.numpy.{module}:{name}" for name, module in snp._MODULES.items()}
    late |= {name: f"sagax.numpy:{name}" for name in snp._LAZY}
    assert typed_names(SOURCE / "numpy" / "__init__.py") == late


def test_a_late_function_is_looked_up_once():
    assert sagax.checkpoint is sagax.remat
    assert vars(sagax)["checkpoint"] is sagax.checkpoint
    assert snp.union1d is vars(snp)["union1d"]


# -------------------------------------------------------------------------------------- late modules


@pytest.fixture
def slow_module(tmp_path, monkeypatch):
    """A module that takes a while to load and counts how often it is."""
    (tmp_path / "slow_to_load.py").write_text(
        "import builtins, time\n"
        "builtins.slow_loads = getattr(builtins, 'slow_loads', 0) + 1\n"
        "time.sleep(0.05)\n"
        "value = 42\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "slow_to_load"
    sys.modules.pop("slow_to_load", None)
    vars(sys.modules["builtins"]).pop("slow_loads", None)


def test_a_late_module_is_loaded_by_its_first_use_and_takes_its_place(slow_module):
    namespace: dict[str, Any] = {}
    namespace["slow"] = late = later(slow_module, namespace)
    assert slow_module not in sys.modules
    assert late.value == 42
    assert namespace["slow"] is sys.modules[slow_module]
    assert later(slow_module, {}) is sys.modules[slow_module]


def test_threads_that_use_a_late_module_at_once_all_get_it_whole(slow_module):
    namespace: dict[str, Any] = {}
    namespace["slow"] = late = later(slow_module, namespace)
    start, seen = threading.Barrier(8), []

    def use() -> None:
        start.wait()
        seen.append(late.value)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [42] * 8
    assert vars(sys.modules["builtins"])["slow_loads"] == 1


def test_what_a_late_module_lacks_is_an_attribute_error(slow_module):
    with pytest.raises(AttributeError, match="nosuch"):
        later(slow_module, {}).nosuch  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        later("no_such_module_at_all", {}).value  # noqa: B018


# ------------------------------------------------------------------------------------------- records


def both(**options: Any) -> tuple[type, type]:
    """The same fields as a record and as a frozen dataclass of the standard library."""

    def body() -> type:
        class Point:
            """A point."""

            x: int
            y: Any = 7
            seen: list = dataclasses.field(default_factory=list, compare=False, repr=False)

            def norm(self) -> Any:
                return abs(self.x) + abs(self.y)

        return Point

    return record(**options)(body()), dataclasses.dataclass(frozen=True, **options)(body())


@record
class Named:
    name: str
    size: int = 1


@record(slots=True)
class Slotted:
    name: str
    size: int = 1


OPTIONS = [{}, {"slots": True}, {"eq": False}, {"slots": True, "weakref_slot": True, "eq": False}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_records_are_as_frozen_dataclasses(options):
    ours, theirs = both(**options)
    for args, kwargs in [((1,), {}), ((1, 2), {}), ((), {"x": 3}), ((4,), {"y": 5, "seen": [6]})]:
        a, b = ours(*args, **kwargs), theirs(*args, **kwargs)
        assert dataclasses.asdict(a) == dataclasses.asdict(b)
        assert repr(a) == repr(b)
        assert a.norm() == b.norm()
        again, again_theirs = ours(*args, **kwargs), theirs(*args, **kwargs)
        assert (a == again) == (b == again_theirs)
        assert (a != again) == (b != again_theirs)
        assert (hash(a) == hash(again)) == (hash(b) == hash(again_theirs))
        assert a != (1, 7)
        assert hasattr(a, "__dict__") == hasattr(b, "__dict__")
        moved, moved_theirs = dataclasses.replace(a, x=9), dataclasses.replace(b, x=9)
        assert dataclasses.asdict(moved) == dataclasses.asdict(moved_theirs)
        assert dataclasses.asdict(copy.copy(a)) == dataclasses.asdict(a)
    assert ours(1).seen is not ours(1).seen


def test_records_show_the_signature_of_their_fields():
    signature = inspect.signature(Named)
    assert list(signature.parameters) == ["name", "size"]
    assert signature.parameters["size"].default == 1
    assert signature.parameters["name"].default is inspect.Parameter.empty


@pytest.mark.parametrize("kind", [Named, Slotted])
def test_records_do_not_change(kind):
    one = kind("a")
    for change in (lambda: setattr(one, "size", 2), lambda: delattr(one, "size")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="size"):
            change()
    assert one.size == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "needs its field 'name'"),
        (("a", 1, 2), {}, "takes 2 fields, got 3"),
        (("a",), {"name": "b"}, "'name' twice"),
        (("a",), {"length": 3}, "no field 'length'"),
    ],
)
@pytest.mark.parametrize("kind", [Named, Slotted])
def test_wrong_fields_are_type_errors(kind, args, kwargs, words):
    with pytest.raises(TypeError, match=words):
        kind(*args, **kwargs)


def test_records_keep_what_a_class_defines_and_derive():
    @record
    class Checked(Named):
        extra: int = 0

        def __post_init__(self) -> None:
            if self.size < 0:
                raise ValueError("negative")

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __hash__(self) -> int:
            return 5

    assert repr(Checked("a", 2, 3)) == "<a>"
    assert (Checked("a", 2, 3).extra, hash(Checked("b"))) == (3, 5)
    assert Checked("a") != Named("a")
    assert Checked("a") == Checked("a", 1, 0) != Checked("a", 1, 1)
    with pytest.raises(ValueError, match="negative"):
        Checked("a", -1)
