"""The house stays in order: who may import whom, who may import the engine, how long files grow.

The rules read the source with `ast` and import nothing. Each rule is tried on a small made-up house
that breaks it, so that a rule which stopped seeing anything would fail here.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke

SOURCE = Path(__file__).resolve().parents[1] / "src"
PACKAGE = "sagax"
MAX_LINES = 1000

# From the ground up: a module may import from its own layer and from those before it.
LAYERS = (
    "_ignores",  # beside _src: the checks of source read it, and load nothing else
    "lazy_import",
    "languages",  # the check of sources words its findings by it
    "weak_tables",
    "fork_locks",
    "uninterrupted",
    "xla",
    "source_stacks",
    "frozen_class",
    "tuning",
    "garbage_collector",
    "option_kinds",
    "config",
    "trees",
    "diagnostics",
    "core",
    "argument_checks",
    "primitives",
    "transforms",
    "collectives",
    "function_analysis",
    "higher_order",
    "callbacks",
    "lowering",
    "runtime",
    "api",
    "public",  # everything outside _src: the namespaces that users import
    "top",  # what puts the parts together, and the entrances
)
TOP = {"", "_lazy_names", "_assemble", "__main__", "_jax_internals", "as_jax"}
ENGINE_PACKAGE = f"{PACKAGE}._src.xla"


@dataclass(frozen=True)
class Import:
    """One import: the dotted names it may bring in, and where it stands."""

    names: tuple[str, ...]
    line: int
    in_function: bool
    typing_only: bool
    lazy: bool


@functools.cache
def imports_of(module: str, source: str, is_package: bool) -> tuple[Import, ...]:
    """Every import in `source`, wherever it stands, relative ones made absolute."""
    package = module if is_package else module.rpartition(".")[0]

    def visit(node: ast.AST, in_function: bool, typing_only: bool, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                names = tuple(alias.name for alias in child.names)
                yield Import(names, child.lineno, in_function, typing_only, lazy)
            elif isinstance(child, ast.ImportFrom):
                names = _from_names(child, package)
                yield Import(names, child.lineno, in_function, typing_only, lazy)
            elif _declares_lazy_imports(child):
                yield from visit(child, in_function, typing_only, True)
            else:
                function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                typed = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                yield from visit(child, in_function or function, typing_only or typed, lazy)

    lazy_module = module.endswith("._lazy_names")  # it is read, and never run
    return tuple(visit(ast.parse(source), False, False, lazy_module))


def _declares_lazy_imports(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING or lazy_imports():`, whose imports load on first use."""
    return isinstance(node, ast.If) and "lazy_imports" in ast.dump(node.test)


def _from_names(node: ast.ImportFrom, package: str) -> tuple[str, ...]:
    """`from a import b` may bring in the module `a.b`, and runs `a` in any case."""
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - node.level + 1] + ([base] if base else []))
    return (base, *(f"{base}.{alias.name}" for alias in node.names))


@dataclass(frozen=True)
class House:
    """The modules of a package: dotted name -> (source text, whether it is an __init__ file)."""

    modules: dict[str, tuple[str, bool]]

    @staticmethod
    def read(source: Path, package: str) -> House:
        modules = {}
        for path in sorted((source / package).rglob("*.py")):
            dotted = path.relative_to(source).with_suffix("").as_posix().replace("/", ".")
            is_package = path.name == "__init__.py"
            name = dotted.removesuffix(".__init__")
            modules[name] = (path.read_text(encoding="utf-8"), is_package)
        return House(modules)

    def imports(self) -> Iterator[tuple[str, Import]]:
        for module, (source, is_package) in self.modules.items():
            for found in imports_of(module, source, is_package):
                yield module, found

    def graph(self) -> dict[str, set[str]]:
        """Which modules a module needs in order to be imported itself."""
        needs: dict[str, set[str]] = {module: set() for module in self.modules}
        for module, found in self.imports():
            if not (found.typing_only or found.in_function or found.lazy):
                needs[module].update(n for n in found.names if n in self.modules and n != module)
        return needs


def layer_of(module: str) -> str | None:
    """The layer of a module, None for one that the plan has no place for."""
    parts = module.split(".")
    if parts[1:2] == ["_src"]:
        if len(parts) == 2:
            return LAYERS[0]  # the bare package: it must import nothing
        return parts[2] if parts[2] in LAYERS[: LAYERS.index("public")] else None
    if parts[1:] == [LAYERS[0]]:
        return parts[1]
    if parts[1:2] == ["_lsp"]:
        return "top"  # runs commands
    return "top" if ".".join(parts[1:]) in TOP else "public"


def misplaced(house: House) -> list[str]:
    return [module for module in house.modules if layer_of(module) is None]


def upward_imports(house: House) -> list[str]:
    broken = []
    for module, found in house.imports():
        rank = LAYERS.index(layer_of(module) or "top")
        for name in found.names:
            if found.typing_only or name not in house.modules:
                continue
            target = layer_of(name)
            if target is not None and LAYERS.index(target) > rank:
                broken.append(f"{module}:{found.line} imports {name} ({target})")
    return broken


def cycles(house: House) -> list[list[str]]:
    """Groups of modules that need each other: the strongly connected parts of the import graph."""
    graph = house.graph()

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for module in graph[todo.pop()] - seen:
                seen.add(module)
                todo.append(module)
        return seen

    reachable = {module: reach(module) for module in graph}
    groups = {
        frozenset(other for other in reachable[module] if module in reachable[other])
        for module in graph
        if module in reachable[module]
    }
    return sorted(sorted(group) for group in groups)


def imports_in_functions(house: House) -> list[str]:
    return [
        f"{module}:{found.line} imports {found.names[0]}"
        for module, found in house.imports()
        if found.in_function and any(n.split(".")[0] == PACKAGE for n in found.names)
    ]


def importers_of(house: House, package: str) -> set[str]:
    return {
        module
        for module, found in house.imports()
        if any(n.split(".")[0] == package for n in found.names)
    }


def is_within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def too_long(house: House) -> list[str]:
    lengths = {module: source.count("\n") for module, (source, _) in house.modules.items()}
    return [f"{module}: {n} lines" for module, n in lengths.items() if n > MAX_LINES]


# ---------------------------------------------------------------------------------- the real house


@pytest.fixture(scope="module")
def house() -> House:
    house = House.read(SOURCE, PACKAGE)
    assert ENGINE_PACKAGE in house.modules, f"no source found under {SOURCE}"
    return house


def test_every_module_of_src_has_a_layer(house):
    assert misplaced(house) == [], f"_src holds the layers {LAYERS[: LAYERS.index('public')]} only"


def test_imports_go_one_way(house):
    assert upward_imports(house) == [], f"a layer imports only those before it in {LAYERS}"


def test_the_pages_for_maintainers_list_the_layers():
    layers = list(LAYERS[: LAYERS.index("public")])
    contributing = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert " < ".join(layers) in " ".join(contributing.split())
    architecture = (SOURCE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `_src/(\w+)[^`]*` \|", architecture, re.MULTILINE) == layers[1:]


def test_no_import_cycles(house):
    assert cycles(house) == []


def test_no_sagax_import_inside_a_function(house):
    assert imports_in_functions(house) == [], "an import that waits for a call hides a cycle"


def test_one_package_imports_jaxlib(house):
    others = {m for m in importers_of(house, "jaxlib") if not is_within(m, ENGINE_PACKAGE)}
    assert others == set()


def test_nobody_imports_jax(house):
    assert importers_of(house, "jax") == set()


def test_the_tests_do_not_import_jax():
    # tests/oracle holds the programs that record expectations; they run on jax, outside the suite.
    # The programs in these folders are run with `jax` meaning sagax.
    programs = {
        "programs",
        "strangers",
        "visitors",
        "guests",
        "newcomers",
        "passersby",
        "latecomers",
        "wayfarers",
        "arrivals",
        "strollers",
        "pedestrians",
        "cyclists",
        "commuters",
        "riders",
        "boarders",
        "hikers",
        "trekkers",
        "ramblers",
        "anglers",
        "rowers",
        "oarsmen",
        "joggers",
        "healthy",
    }
    tests = Path(__file__).resolve().parent
    modules = {
        path.relative_to(tests).as_posix(): (path.read_text(encoding="utf-8"), False)
        for path in sorted(tests.rglob("*.py"))
        if not {"oracle", *programs} & set(path.relative_to(tests).parts[:-1])
    }
    assert len(modules) > 1
    assert importers_of(House(modules), "jax") == set()


def patches(house: House) -> list[str]:
    """Attributes assigned to classes of other modules: what a hook or a socket is for."""
    broken = []
    for module, (source, _) in house.modules.items():
        tree = ast.parse(source)
        classes = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name.lstrip("_")[:1].isupper() and not alias.name.isupper()
        }
        for node in ast.walk(tree):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                match target:
                    case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in classes:
                        broken.append(f"{module}:{node.lineno} assigns {name}.{attribute}")
    return broken


# It gives operations another meaning in a process of its own, in which nothing else runs.
# as_jax renames a class, as long as `jax` means sagax: libraries recognize it by its name
PATCHES = {"sagax._autofix.reference_run", "sagax.as_jax"}


# Python code that runs where an object dies loses exceptions of signal handlers: `weak_tables` has none.
# These two are not imported by programs that run.
COLLECTIONS_OF_WEAKREF = {"sagax._autofix.runtime_checks", "sagax.experimental.roofline._results"}


def test_no_python_code_runs_where_objects_die(house):
    names = ("WeakKeyDictionary", "WeakValueDictionary", "WeakSet")
    users = {
        module
        for module, (source, _) in house.modules.items()
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.Name) and node.id in names)
    }
    assert users == COLLECTIONS_OF_WEAKREF


def test_files_are_short_enough(house):
    assert too_long(house) == [], "a file this long has two duties: make it a folder of that name"


def test_no_module_patches_a_class_of_another(house):
    found = [line for line in patches(house) if line.partition(":")[0] not in PATCHES]
    assert found == [], "take part through a hook of diagnostics/events"


# ------------------------------------------------------------- the rules, on houses that break them


def small_house(**sources: str) -> House:
    """Module names with `__` for each dot below sagax; a name that ends in `__` is a package."""
    modules = {}
    for name, source in sources.items():
        parts = [part for part in name.split("__") if part]
        modules[".".join([PACKAGE, *parts])] = (source, name.endswith("__"))
    return House(modules)


@pytest.mark.parametrize(
    "source",
    [
        "from sagax._src.api import jit",
        "from sagax._src import api",
        "import sagax._src.api",
        "from ..api import jit",
        "from .. import api",
        "try:\n    import sagax._src.api\nexcept ImportError:\n    pass",
        "def f():\n    import sagax._src.api",
        "if TYPE_CHECKING or lazy_imports():\n    from sagax._src import api",
    ],
)
def test_an_upward_import_is_found(source):
    house = small_house(_src__core__aval=source, _src__api__="")
    assert len(upward_imports(house)) == 1
    assert upward_imports(small_house(_src__api__="from .core import aval", _src__core__="")) == []


def test_an_import_for_type_checkers_may_go_up():
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sagax._src.api"
    house = small_house(_src__core__aval=source, _src__api__="import sagax._src.core.aval")
    assert upward_imports(house) == []
    assert cycles(house) == []


def test_public_code_stands_above_src_and_below_the_entrances():
    assert layer_of("sagax.numpy.fft") == "public"
    assert layer_of("sagax.tree_util") == "public"
    assert [layer_of(m) for m in ("sagax", "sagax._assemble", "sagax.as_jax")] == ["top"] * 3
    house = small_house(numpy="from sagax import _assemble", _assemble="import sagax.numpy")
    assert upward_imports(house) == ["sagax.numpy:1 imports sagax._assemble (top)"]


def test_a_lazy_import_is_no_import_of_a_call_and_closes_no_cycle():
    source = "if TYPE_CHECKING or lazy_imports():\n    from sagax._src.core import b"
    house = small_house(_src__core__a=source, _src__core__b="from sagax._src.core import a")
    assert imports_in_functions(house) == []
    assert cycles(house) == []


def test_a_module_without_a_layer_is_found():
    assert misplaced(small_house(_src__utils="", _src__core__dims="")) == ["sagax._src.utils"]


def test_a_cycle_is_found():
    house = small_house(
        _src__core__a="from sagax._src.core import b",
        _src__core__b="from .c import x",
        _src__core__c="import sagax._src.core.a",
        _src__core__d="import sagax._src.core.a",
    )
    assert cycles(house) == [[f"sagax._src.core.{m}" for m in "abc"]]


def test_a_package_that_its_own_module_needs_is_a_cycle():
    package, module = "from sagax._src.core.a import f", "from sagax._src.core import g"
    house = small_house(_src__core__=package, _src__core__a=module)
    assert cycles(house) == [["sagax._src.core", "sagax._src.core.a"]]


@pytest.mark.parametrize(
    "source", ["def f():\n    import sagax", "class A:\n    def f(s):\n        from . import b"]
)
def test_an_import_in_a_function_is_found(source):
    assert len(imports_in_functions(small_house(_src__core__a=source))) == 1
    assert imports_in_functions(small_house(_src__core__a="def f():\n    import scipy")) == []


def test_importers_are_found():
    house = small_house(
        numpy__fft="import jaxlib.xla_client",
        random="from jax import random",
        lax="import jaxtyping",
    )
    assert importers_of(house, "jaxlib") == {"sagax.numpy.fft"}
    assert importers_of(house, "jax") == {"sagax.random"}


def test_a_patched_class_is_found():
    house = small_house(numpy="from sagax._src.core.trace import Tracer\nTracer.__array__ = len")
    assert patches(house) == ["sagax.numpy:2 assigns Tracer.__array__"]
    assert patches(small_house(numpy="class A: pass\nA.f = len")) == []


def test_a_long_file_is_found():
    house = small_house(lax="x = 1\n" * (MAX_LINES + 1), numpy="x = 1\n" * MAX_LINES)
    assert too_long(house) == [f"sagax.lax: {MAX_LINES + 1} lines"]
