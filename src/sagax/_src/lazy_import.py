"""Import modules lazily: load each when one of its attributes is first used.

`import sagax` would otherwise load what few programs need: asyncio (it brings TLS), the compiler's
passes, the transformations. Ordinary import statements declare them, so that type checkers and readers
see them: those under `if TYPE_CHECKING or lazy_imports():`, which are skipped, and for the names of a
package those of its module `_lazy_names`, which never runs. Both are read from their bytecode.

`importlib.util.LazyLoader` is no alternative: on Python 3.11 the first use by several threads raises
AttributeError, on 3.13 its lock and the one of imports can wait for each other, and it takes 30
microseconds a module where this takes one.
"""

from __future__ import annotations

import functools
import importlib
import opcode
import os
import sys
import time
from _thread import get_ident
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

_LANGUAGES = "sagax._src.languages.choice"  # which itself imports this module
_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
_IMPORT_NAME = opcode.opmap["IMPORT_NAME"]
_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]
_LOAD_CONST = opcode.opmap["LOAD_CONST"]
_STORE_NAME = opcode.opmap["STORE_NAME"]
_PATIENCE = 5.0  # seconds that a fork waits for imports, and imports for a fork
_PAUSE = 0.0005  # seconds between two looks
# The other instructions within import statements; 3.14 loads levels as small integers.
_STACK = {opcode.opmap.get(name) for name in ("POP_TOP", "SWAP", "CACHE", "LOAD_SMALL_INT")}


def _import_statements(code: CodeType, start: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the names that a run of import statements binds, with the dotted paths they stand for.

    The run is the first after the position `start` in the bytecode.
    """
    instructions, names = code.co_code, code.co_names
    extension = 0
    module = source = path = None
    for at in range(start, len(instructions), 2):
        operation, argument = instructions[at], instructions[at + 1] | extension
        extension = argument << 8 if operation == _EXTENDED_ARG else 0
        if operation == _LOAD_CONST:
            source, path = code.co_consts[argument], None
        elif operation == _IMPORT_NAME:
            module = names[argument]
            # `import a.b` binds `a`; `import a.b as c` and `from a import b` go on with IMPORT_FROM
            path = module.partition(".")[0]
            module = module if source else path
        elif operation == _IMPORT_FROM and module:
            path = f"{module}.{names[argument]}"
            module = module if source else path
        elif operation == _STORE_NAME and path:
            yield names[argument], path
        elif module and operation not in _STACK and operation != _EXTENDED_ARG:
            return


_loading: list[int] = []  # the threads that load modules
_forking: list[int] = []  # the threads that fork this process, or are about to


def _load(name: str) -> Any:
    """Import a module. Python's import sees to it that one thread loads while others wait."""
    thread = get_ident()
    nested = _loading.count(thread)
    try:
        _loading.append(thread)
        if not nested and _forking:
            _wait_for_forks(thread)
        return importlib.import_module(name)
    finally:
        while _loading.count(thread) > nested:
            _loading.remove(thread)


def _wait_for_forks(thread: int) -> None:
    """Do not load while other threads fork; those wait for what loads."""
    end = time.monotonic() + _PATIENCE
    while any(other != thread for other in _forking) and time.monotonic() < end:
        _loading.remove(thread)
        time.sleep(_PAUSE)
        _loading.append(thread)


def _before_fork() -> None:
    """Wait for the modules that other threads load, and let none begin: the child would wait for them forever."""
    thread = get_ident()
    _forking.append(thread)
    end = time.monotonic() + _PATIENCE
    while any(other != thread for other in _loading) and time.monotonic() < end:
        time.sleep(_PAUSE)


def _after_fork() -> None:
    _forking.remove(get_ident())


def _after_fork_in_child() -> None:
    thread = get_ident()
    _forking.clear()
    _loading[:] = [other for other in _loading if other == thread]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )


class _LazyModule:
    """Stands in a namespace for a module, until one of the module's attributes is asked for."""

    __slots__ = ("_name", "_namespace")

    def __init__(self, name: str, namespace: dict[str, Any]) -> None:
        self._name = name
        self._namespace = namespace

    def __reduce__(self) -> Any:
        return importlib.import_module, (self._name,)  # as cloudpickle pickles modules: by name

    def __getattr__(self, attribute: str) -> Any:
        module = _load(self._name)
        for alias, value in list(self._namespace.items()):
            if value is self:  # from now on there is nothing between the caller and the module
                self._namespace[alias] = module
        return getattr(module, attribute)


def lazy_imports() -> bool:
    """Bind the names of the import statements that follow in the caller, and return False.

    Each name must stand for a module, which loads on first use.

        if TYPE_CHECKING or lazy_imports():
            from sagax._src.lowering import reroll
    """
    frame = sys._getframe(1)
    namespace = frame.f_globals
    for name, path in _import_statements(frame.f_code, frame.f_lasti + 2):
        namespace[name] = sys.modules.get(path) or _LazyModule(path, namespace)
    return False


_OF_THE_FILE = ("TYPE_CHECKING", "annotations")  # what every such package imports for itself


def lazy_names(
    package: str,
    prepare: Callable[[list[Any]], Any] | None = None,
    foreign: str = "",
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package, for the names that its `_lazy_names` imports.

    That module is read on the first such use, and never run. With a name come all others of its
    module, which must be called otherwise: once imported, a module stands in the package itself.
    `__all__` has every public name, so that `from package import *` imports the lazy ones, too.
    `prepare` gets the values that are imported, before anybody else does. `foreign` names a module whose `FUNCTIONS` say what to
    use in place of names of other libraries.
    """
    namespace = vars(sys.modules[package])

    @functools.cache
    def table() -> dict[str, str]:
        import importlib.util  # which `import sagax` need not load

        module = f"{package}._lazy_names"
        loader: Any = importlib.util.find_spec(module).loader  # pyright: ignore[reportOptionalMemberAccess]
        return dict(_import_statements(loader.get_code(module)))

    def find(name: str) -> Any:
        if name == "__all__":
            return [x for x in every_name() if not x.startswith("_") and x not in _OF_THE_FILE]
        # Python asks packages for names like `__path__` which none of them has.
        path = None if name.startswith("__") else table().get(name)
        if path is None:
            instead = _load(foreign).FUNCTIONS.get(name) if foreign and path is None else None
            missing = f"module {package!r} has no attribute {name!r}"
            if instead:
                text = f"{missing}; use {instead}"
                raise _load(_LANGUAGES).worded(
                    AttributeError(text, name=name, obj=sys.modules[package])
                )
            raise AttributeError(missing, name=name, obj=sys.modules[package])
        home, _, attribute = path.rpartition(".")
        if home == package:
            return _load(path)
        module = _load(home)
        paths = [(other, its_path.rpartition(".")) for other, its_path in table().items()]
        found = {
            other: getattr(module, at) for other, (its_home, _, at) in paths if its_home == home
        }
        if prepare is not None:
            prepare(list(found.values()))
        for other, value in found.items():  # what somebody put there in the meantime stays
            namespace.setdefault(other, value)
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
