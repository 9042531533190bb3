"""Import modules lazily: load each when one of its attributes is first used.

`import sagax` would otherwise load what only programs of several processes use (asyncio brings TLS),
or what is needed to compile. A use of `lazy_import` counts as an import in the rules of the architecture.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["LateMethod", "late_names", "lazy_import"]


class _Later:
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


def lazy_import(name: str, namespace: dict[str, Any]) -> Any:
    """The module of that name, loaded when its first attribute is asked for.

    `namespace` is the `globals()` of the caller, where the module itself then takes the place of
    what is returned here. Names that are imported from elsewhere would stay behind it: ask for
    attributes of the module where they are needed.
    """
    return sys.modules.get(name) or _Later(name, namespace)


def late_names(
    namespace: dict[str, Any], functions: Mapping[str, str] | None = None, parts: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names are imported when they are first asked for.

    `namespace` is the `globals()` of the package; `functions` says which names, separated by blanks,
    each of its modules defines, which must be called otherwise: once imported, a module stands in the
    namespace itself. `parts` are modules that are names of the package.
    """
    package = namespace["__name__"]
    groups = {module: names.split() for module, names in (functions or {}).items()}
    modules = {name: module for module, names in groups.items() for name in names}

    def find(name: str) -> Any:
        if name in parts:
            return importlib.import_module(f"{package}.{name}")
        if name in modules:
            found = importlib.import_module(f"{package}.{modules[name]}")
            for n in groups[modules[name]]:  # what somebody put there in the meantime stays
                namespace.setdefault(n, getattr(found, n))
            return namespace[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted({*namespace, *modules, *parts})


class LateMethod:
    """Stands on a class for a function of a late module, until it is first asked for."""

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
