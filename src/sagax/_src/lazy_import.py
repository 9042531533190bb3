"""Import modules lazily: load each when one of its attributes is first used.

`import sagax` would otherwise load what few programs need: asyncio (it brings TLS), the compiler's
passes, the transformations. Ordinary import statements say what is imported, so that type checkers and
readers see it: those of a function under `lazy_imports`, and for the names of a package those of its
module `_lazy_names`. Their code runs under an `__import__` that only notes what it is asked for, in
the builtins given to `exec`: the import system, and so other threads, take no part.

`importlib.util.LazyLoader` is no alternative: on Python 3.11 the first use by several threads raises
AttributeError, on 3.13 its lock and the one of imports can wait for each other, and it takes 30
microseconds a module where this takes one.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any


class _Note:
    """What an import statement asked for: a dotted path."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __getattr__(self, name: str) -> _Note:
        return _Note(f"{self.path}.{name}")


def _note(name: str, _globals: Any, _locals: Any, fromlist: Any, _level: int) -> _Note:
    """Stand in for `__import__`; as that does, give the first package to `import a.b as c`."""
    return _Note(name if fromlist else name.partition(".")[0])


_NOTING = {"__import__": _note}


def _noted(statements: CodeType) -> dict[str, str]:
    """The names that import statements bind, each with the dotted path of what it is."""
    bound: dict[str, Any] = {"__builtins__": _NOTING}
    exec(statements, bound)
    return {name: note.path for name, note in bound.items() if type(note) is _Note}


class _LazyModule:
    """Stands in a namespace for a module, until one of the module's attributes is asked for."""

    __slots__ = ("_name", "_namespace")

    def __init__(self, name: str, namespace: dict[str, Any]) -> None:
        self._name = name
        self._namespace = namespace

    def __getattr__(self, attribute: str) -> Any:
        # Python's import sees to it that one thread loads while others wait.
        module = importlib.import_module(self._name)
        for alias, value in list(self._namespace.items()):
            if value is self:  # from now on there is nothing between the caller and the module
                self._namespace[alias] = module
        return getattr(module, attribute)


def lazy_imports(statements: Callable[[], None]) -> None:
    """Run a function of import statements so that each module loads on first use.

    The function declares its names global. Each must be a module: a name from within one would
    stay behind what stands for it.

        @lazy_imports
        def _() -> None:
            global reroll
            from sagax._src.lowering import reroll
    """
    code, namespace = statements.__code__, statements.__globals__
    if code.co_varnames:
        raise NameError(f"lazy imports that are not declared global: {', '.join(code.co_varnames)}")
    for name, path in _noted(code).items():
        namespace[name] = sys.modules.get(path) or _LazyModule(path, namespace)


_OF_THE_FILE = ("TYPE_CHECKING", "annotations")  # what every such package imports for itself


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package, for the names that its `_lazy_names` imports.

    That module is read on the first such use, and never run. With a name come all others of its
    module, which must be called otherwise: once imported, a module stands in the package itself.
    `__all__` has every public name, so that `from package import *` imports the lazy ones, too.
    """
    namespace = vars(sys.modules[package])

    @functools.cache
    def table() -> dict[str, str]:
        import importlib.util  # which `import sagax` need not load

        module = f"{package}._lazy_names"
        loader: Any = importlib.util.find_spec(module).loader  # pyright: ignore[reportOptionalMemberAccess]
        return _noted(loader.get_code(module))

    def find(name: str) -> Any:
        if name == "__all__":
            return [x for x in every_name() if not x.startswith("_") and x not in _OF_THE_FILE]
        # Python asks packages for names like `__path__` which none of them has.
        path = None if name.startswith("__") else table().get(name)
        if path is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, _, attribute = path.rpartition(".")
        if home == package:
            return importlib.import_module(path)
        module = importlib.import_module(home)
        for other, its_path in table().items():
            its_home, _, attribute = its_path.rpartition(".")
            if its_home == home:  # what somebody put there in the meantime stays
                namespace.setdefault(other, getattr(module, attribute))
        return namespace[name]

    def every_name() -> list[str]:
        return sorted({*namespace, *table()})

    return find, every_name


class LazyMethod:
    """Stands on a class for a function of a lazy module, until it is first asked for."""

    __slots__ = ("_make", "_module", "_name")

    def __init__(self, module: Any, name: str, make: Callable[[Any], Any] | None = None) -> None:
        """The function `name` of the module; `make` turns it into what stands on the class."""
        self._module = module
        self._name = name
        self._make = make

    def __get__(self, instance: Any, owner: type) -> Any:
        found = getattr(self._module, self._name)
        if self._make is not None:
            found = self._make(found)
        for cls in owner.__mro__:
            for name, value in list(vars(cls).items()):
                if value is self:  # from now on the function itself stands there
                    setattr(cls, name, found)
        return found.__get__(instance, owner)
