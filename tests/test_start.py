"""Keep `import sagax` short: what it loads, lazy imports, and frozen classes without `dataclasses`."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

import sagax
import sagax.numpy as snp
import sagax.numpy._indexing as indexing
from sagax import example_libraries, extend, interpreters, nn, random, scipy
from sagax._src import lazy_import, trees, xla
from sagax._src.core import dims
from sagax._src.frozen_class import record
from sagax._src.lazy_import import LazyMethod, lazy_imports

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
        "sagax._src.lowering.module", "sagax._src.lowering.passes", "sagax._src.runtime.compilation_cache",
        "sagax._src.runtime.distributed.coordination", "sagax._src.runtime.key_reuse", "sagax._src.higher_order.scan",
        "sagax._src.higher_order.shard_map", "sagax._src.higher_order.lazy_masks", "sagax._src.core.dims.decide",
        "sagax._src.diagnostics.render", "sagax._src.diagnostics.leaks",
        "sagax._src.primitives.special", "sagax._src.primitives.linalg",
        "sagax._src.primitives.gathering", "sagax._src.primitives.scattering",
        "sagax._src.primitives.slicing", "sagax._src.primitives.sorting",
        "sagax._src.primitives.dot_general", "sagax._src.primitives.transcendental",
        "sagax._src.primitives.random_bits", "sagax._src.core.sharding_rules", "sagax._src.core.pretty_print",
        "sagax._src.trees.differences", "sagax._src.function_analysis.purity", "sagax._src.runtime.device_put",
        # the transformations, what traces and what is asked of a jitted function
        "sagax._src.transforms.jvp", "sagax._src.transforms.linearize",
        "sagax._src.transforms.transpose", "sagax._src.transforms.batch",
        "sagax._src.api.jacobians", "sagax._src.api.guards", "sagax._src.function_analysis.free_variables",
        "sagax._src.api.stages", "sagax._src.api.jit_shardings", "sagax._src.api.compile_log",
        # of what calls XLA: all that does not hold arrays
        "sagax._src.xla.client", "sagax._src.xla.compiler", "sagax._src.xla.executable",
        "sagax._src.xla.mlir", "sagax._src.xla.cuda_wheels", "sagax._src.xla.profiler",
        # public namespaces, and what is not in every program of the one for NumPy
        "sagax.lax", "sagax.nn", "sagax.random", "sagax.errors", "sagax.numpy.linalg",
        "sagax.numpy._sets", "sagax.numpy._indexing", "sagax.numpy._contraction",
        "sagax.numpy._elementary", "sagax.numpy._sorting", "sagax.numpy._joining",
    ],
)  # fmt: skip
def test_import_leaves_out_what_is_not_needed_yet(loaded, module):
    assert module not in loaded


def test_import_brings_in_what_everybody_needs(loaded):
    assert {"sagax._src.api.jit", "sagax._src.api.derivatives", "sagax.numpy._reductions"} <= loaded


FIRST_PROGRAM = "import sagax, sagax.numpy as n; sagax.jit(lambda x: x * 2 + 1)(n.ones(3))"


def test_a_first_small_program_loads_no_control_flow_and_no_pass_that_it_does_not_need():
    loaded = modules_after(FIRST_PROGRAM)
    assert "sagax._src.lowering.passes" in loaded
    late = """higher_order.scan higher_order.cond higher_order.while_loop higher_order.remat
    higher_order.custom_derivative_primitives higher_order.shard_map higher_order.varying_axes
    transforms.jvp transforms.linearize transforms.transpose transforms.batch lowering.reroll
    lowering.canonicalize_dots primitives.slicing primitives.dot_general primitives.random_bits
    api.stages api.donation runtime.device_put trees.differences xla.artifacts xla.cuda
    xla.custom_calls xla.distributed xla.dlpack xla.mlir xla.profiler"""
    assert not loaded & {f"sagax._src.{module}" for module in late.split()}


WHAT_LOADING_TRACES = """
import importlib, pkgutil, sys, sagax, sagax.numpy
from sagax._src.core import primitive, staging

seen = set()

def noting(run):
    def noted(*args, **kwargs):
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        if frame is not None and frame.f_globals.get("__name__", "").startswith("sagax"):
            seen.add((frame.f_globals["__name__"], frame.f_lineno))
        return run(*args, **kwargs)
    return noted

primitive.Primitive.bind = noting(primitive.Primitive.bind)
staging.StageTrace.__init__ = noting(staging.StageTrace.__init__)
for module in pkgutil.walk_packages(sagax.__path__, "sagax."):
    if not module.name.endswith(("__main__", "as_jax")):
        importlib.import_module(module.name)
print(len(sys.modules), sorted(seen))
"""


def test_loading_a_module_traces_and_computes_nothing():
    # It may be loaded within a trace, or while options are set that would stay in what it makes.
    done = subprocess.run(
        [sys.executable, "-c", WHAT_LOADING_TRACES], capture_output=True, text=True, check=True
    )
    count, seen = done.stdout.split(maxsplit=1)
    assert int(count) > 600
    assert seen.strip() == "[]"


def test_networks_load_no_random_numbers_and_random_numbers_no_control_flow():
    loaded = modules_after(
        "import sagax.nn, sagax.random as r; r.normal(r.split(r.key(0))[0], (3,))"
    )
    for module in ("_src.runtime.key_reuse", "_src.higher_order.scan", "_src.primitives.linalg"):
        assert f"sagax.{module}" not in loaded
    assert "sagax.random" not in modules_after("import sagax.nn as n; n.relu(1.0)")


# ------------------------------------------------------------------------------------- the lazy names

PACKAGES = [sagax, snp, random, nn, interpreters, extend, example_libraries, scipy, scipy.stats]
LAZY_PACKAGES = [*PACKAGES, indexing, dims, trees, xla]


@pytest.mark.parametrize("module", PACKAGES, ids=lambda m: m.__name__)
def test_dir_lists_names_that_are_all_there(module):
    missing = [name for name in dir(module) if not hasattr(module, name)]
    assert missing == []


@pytest.mark.parametrize("module", PACKAGES, ids=lambda m: m.__name__)
def test_a_wrong_name_is_an_attribute_error(module):
    with pytest.raises(
        AttributeError, match=f"module '{module.__name__}' has no attribute 'nosuch'"
    ):
        module.nosuch  # noqa: B018


def lazy_names(package: Any) -> dict[str, str]:
    """What a package imports lazily: name -> "module:its name there"."""
    path = Path(package.__file__).parent / "_lazy_names.py"
    return {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", LAZY_PACKAGES, ids=lambda m: m.__name__)
def test_the_lazy_names_of_a_package_are_what_its_import_statements_say(package):
    names = lazy_names(package)
    assert set(names) <= set(dir(package))
    for name, where in names.items():
        module, _, its_name = where.partition(":")
        home = importlib.import_module(module)
        assert getattr(package, name) is getattr(home, its_name)


def test_scipy_waits_until_it_computes():
    """SciPy's own signal module takes longer to load than all of sagax."""
    found = modules_after("import sagax.scipy.signal, sagax.scipy.linalg, sagax.scipy.optimize")
    assert "scipy" not in found and "sagax.scipy.signal" in found


@pytest.mark.parametrize("package", [snp, random, scipy.stats])
def test_a_star_import_of_a_package_imports_its_lazy_names(package):
    bound: dict[str, Any] = {}
    exec(f"from {package.__name__} import *", bound)
    public = {name for name in dir(package) if not name.startswith("_")}
    assert bound.keys() - {"__builtins__"} == public - {"TYPE_CHECKING", "annotations"}


def test_a_lazy_function_is_looked_up_once():
    assert sagax.checkpoint is sagax.remat
    assert vars(sagax)["checkpoint"] is sagax.checkpoint
    assert snp.union1d is vars(snp)["union1d"]


def test_what_somebody_put_in_the_place_of_a_lazy_function_stays():
    done = modules_after(
        "import sagax.random as r; r.gamma = 1; r.beta; assert r.gamma == 1 and callable(r.t)"
    )
    assert "sagax.random._gamma" in done


def test_no_module_is_called_as_a_lazy_function():
    # an import of the module would put it in the place of the function
    for package in LAZY_PACKAGES:
        modules = {where.partition(":")[0] for where in lazy_names(package).values()}
        functions = {
            f"{package.__name__}.{name}"
            for name, where in lazy_names(package).items()
            if where != f"{package.__name__}:{name}"
        }
        assert not modules & functions


# -------------------------------------------------------------------------------------- lazy imports


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


def run_lazily(statements: str) -> dict[str, Any]:
    """The globals of a module that declares lazy imports."""
    namespace: dict[str, Any] = {"lazy_imports": lazy_imports}
    exec(f"if lazy_imports():\n{textwrap.indent(statements, '    ')}\nafter = 1", namespace)
    return namespace


def test_a_lazy_module_is_loaded_by_its_first_use_and_takes_its_place(slow_module):
    namespace = run_lazily("import slow_to_load")
    assert slow_module not in sys.modules
    assert namespace["slow_to_load"].value == 42
    assert namespace["slow_to_load"] is sys.modules[slow_module]
    again = run_lazily("import slow_to_load as slow")
    assert again["slow"] is sys.modules[slow_module]


@pytest.mark.parametrize(
    "statement", ["import xml.dom.minidom as m", "from xml.dom import minidom as m"]
)
def test_both_forms_of_import_statements_may_be_lazy(statement):
    assert run_lazily(f"{statement}")["m"].parseString("<a/>").documentElement.tagName == "a"


def test_every_form_of_import_statement_is_read_from_its_bytecode():
    statements = """
        import html
        import html.parser
        import xml.dom.minidom as dom
        from email import message, policy as rules
        from email.mime import text
    """
    filler = "\n".join(
        f"name_{i} = {1000 + i}" for i in range(600)
    )  # so that arguments are extended
    for before in ("", '"A docstring."', filler):
        code = compile(f"{before}\n{textwrap.dedent(statements)}\nafter = before = 7", "", "exec")
        assert dict(lazy_import._import_statements(code)) == {
            "html": "html",
            "dom": "xml.dom.minidom",
            "message": "email.message",
            "rules": "email.policy",
            "text": "email.mime.text",
        }


def test_threads_that_use_a_lazy_module_at_once_all_get_it_whole(slow_module):
    slow = run_lazily("import slow_to_load as slow")["slow"]
    start, seen = threading.Barrier(16), []

    def use() -> None:
        start.wait()
        seen.append(slow.value)

    threads = [threading.Thread(target=use) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [42] * 16
    assert vars(sys.modules["builtins"])["slow_loads"] == 1


def test_a_lazy_module_and_an_import_that_need_each_other_do_not_wait_for_ever(
    tmp_path, monkeypatch
):
    # One thread uses `lazy_one`, which imports `lazy_two`, while another imports `lazy_two`.
    (tmp_path / "lazy_one.py").write_text(
        "import time\ntime.sleep(0.1)\nimport lazy_two\nvalue = 1\n"
    )
    (tmp_path / "lazy_two.py").write_text("import time\ntime.sleep(0.05)\nimport lazy_one\n")
    monkeypatch.syspath_prepend(tmp_path)
    one, seen = run_lazily("import lazy_one")["lazy_one"], []
    threads = [
        threading.Thread(target=lambda: seen.append(one.value), daemon=True),
        threading.Thread(target=lambda: importlib.import_module("lazy_two"), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert seen == [1] and not any(thread.is_alive() for thread in threads)
    for name in ("lazy_one", "lazy_two"):
        monkeypatch.delitem(sys.modules, name)


def test_lazy_imports_leave_the_import_system_as_it_was(slow_module):
    before = builtins.__import__, list(sys.meta_path), set(sys.modules)
    run_lazily("import slow_to_load as slow")
    assert (builtins.__import__, list(sys.meta_path), set(sys.modules)) == before


def test_what_a_lazy_module_lacks_is_an_attribute_error(slow_module):
    with pytest.raises(AttributeError, match="nosuch"):
        run_lazily("import slow_to_load as slow")["slow"].nosuch  # noqa: B018
    missing = run_lazily("import no_such_module_at_all as missing")["missing"]
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        missing.value  # noqa: B018


def test_a_lazy_method_stands_for_a_function_until_it_is_asked_for(tmp_path, monkeypatch):
    (tmp_path / "lazy_methods_of_test.py").write_text(
        "def twice(self, by=2):\n    'Twice.'\n    return self.value * by\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = run_lazily("import lazy_methods_of_test as m")["m"]

    class Base:
        value = 21
        method = LazyMethod(module, "twice")
        part = LazyMethod(module, "twice", property)
        __getitem__ = LazyMethod(module, "twice")

    class Derived(Base):
        pass

    assert "lazy_methods_of_test" not in sys.modules
    assert Derived()[3] == 63
    twice = sys.modules["lazy_methods_of_test"].twice
    assert vars(Base)["__getitem__"] is twice
    assert Derived().method(by=1) == 21
    assert Base.method is vars(Base)["method"] is twice
    assert Derived().part == 42
    assert vars(Base)["part"].fget is twice
    assert vars(Derived).keys().isdisjoint({"method", "part", "__getitem__"})
    monkeypatch.delitem(sys.modules, "lazy_methods_of_test")


ARRAY_METHODS = """
import inspect, sagax, sagax.numpy as snp
from sagax._src.lazy_import import LazyMethod
late = {name for name, value in vars(snp.ndarray).items() if isinstance(value, LazyMethod)}
docs = {name: inspect.getdoc(getattr(snp.ndarray, name)) for name in late}
left = {name for name, value in vars(snp.ndarray).items() if isinstance(value, LazyMethod)}
print(len(late), sorted(name for name in late if not docs[name] and name[0] != "_"), sorted(left))
"""


def test_the_lazy_methods_of_arrays_are_all_there_with_their_documentation():
    done = subprocess.run(
        [sys.executable, "-c", ARRAY_METHODS], capture_output=True, text=True, check=True
    )
    count, rest = done.stdout.split(maxsplit=1)
    assert int(count) >= 20
    assert rest.split() == ["[]", "[]"]


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
