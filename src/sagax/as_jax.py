"""Substitute sagax for jax: after `import sagax.as_jax`, `import jax` imports sagax.

Programs and libraries written for jax then run on sagax unchanged. Real jax, if installed, is not
imported. jax's version, as an attribute or through `importlib.metadata`, is the version whose names
and semantics sagax has.

>>> import sagax.as_jax
>>> import jax.numpy as jnp
>>> jnp.__name__
'sagax.numpy'
"""

from __future__ import annotations

import dis
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from types import FrameType, ModuleType
from typing import Any

import sagax
from sagax._jax_internals import INTERNALS, JAX_VERSION, JAX_VERSION_INFO, PUBLIC, find_name
from sagax._src import config
from sagax._src.api.jit import JitFunction
from sagax._src.languages.choice import worded

_OWN = {"__version__": JAX_VERSION, "__version_info__": JAX_VERSION_INFO, "__sagax_alias__": True}


def _loaded(name: str) -> ModuleType:
    """Return a module of `jax` where a pickle is read; importing this module has made `jax` mean sagax there."""
    return importlib.import_module(name)


class _Alias(ModuleType):
    """The module `jax`: sagax with jax's version."""

    def __getattr__(self, name: str) -> Any:
        if name in INTERNALS:
            return importlib.import_module(f"jax.{name}")
        try:
            found = getattr(sagax, name)
        except AttributeError:
            if _is_import(caller := sys._getframe(1)):
                raise worded(ImportError(_not_here(f"jax.{name}", _asking(caller)))) from None
            raise AttributeError(
                f"module 'jax' (sagax {sagax.__version__} as jax) has no attribute {name!r}"
            ) from None
        if isinstance(found, ModuleType) and found.__name__ == f"sagax.{name}":
            # libraries look modules up by the names that they have in jax
            sys.modules.setdefault(f"jax.{name}", found)
        return found

    def __dir__(self) -> Iterable[str]:
        return sorted({*dir(sagax), *_OWN})

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.__name__,)


class _Loader(importlib.abc.Loader):
    """A loader of sagax modules under their names in jax."""

    def __init__(self, real: str) -> None:
        self.real = real

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name == "jax":
            alias = _Alias("jax", sagax.__doc__)
            alias.__dict__.update(_OWN)
            return alias
        module = importlib.import_module(self.real)
        # the import system writes the alias's spec and loader into the module; exec_module undoes it
        self.attributes = {
            k: module.__dict__[k]
            for k in ("__spec__", "__loader__", "__package__")
            if k in module.__dict__
        }
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self.real != "sagax":
            module.__dict__.update(self.attributes)
        else:  # the variables that a script sets before it imports jax count
            config.read_changed_environment()


class _Internal(ModuleType):
    """An internal module of jax, with the names that libraries import and sagax has."""

    def __getattr__(self, name: str) -> Any:
        module = self.__name__[4:]
        if f"{module}.{name}" in INTERNALS:
            return importlib.import_module(f"{self.__name__}.{name}")
        try:
            found = find_name(module, name)
        except AttributeError:
            caller = sys._getframe(1)
            text = _not_here(f"{self.__name__}.{name}", _asking(caller))
            raise worded((ImportError if _is_import(caller) else AttributeError)(text)) from None
        self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__") and f"{self.__name__}.{name}"[4:] not in INTERNALS:
            raise worded(
                AttributeError(
                    f"{self.__name__}.{name} cannot be replaced: `jax` means sagax in this process, which does not work through it"
                )
            )
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.__name__,)

    def __dir__(self) -> Iterable[str]:
        public = PUBLIC.get(self.__name__[4:], ())
        return sorted({*self.__dict__, *(n for m in public for n in dir(sys.modules.get(m)))})


def _is_import(frame: FrameType) -> bool:
    """Return whether a frame runs `from module import name`, which replaces the text of an AttributeError."""
    code = frame.f_code.co_code
    return frame.f_lasti >= 0 and code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]


def _not_here(name: str, library: str) -> str:
    """Say that a name of jax has no meaning here, which library asks for it, and how to report it."""
    own = name.rpartition(".")[2].startswith("_")
    if "._src" not in name and "pallas" not in name and not own:
        return (
            f"{library} asks for {name}, which is no public name of jax {JAX_VERSION} (`jax` means sagax in this "
            "process); older releases of jax may have it"
        )
    private = "internal to jax, and sagax has no equivalent" if "._src" in name else "not in sagax"
    return (
        f"{library} asks for {name}, which is {private}; `jax` means sagax in this process. If the library works with jax "
        f"{JAX_VERSION}, please report this sentence as an issue of sagax, with the version of the library"
    )


def _asking(frame: FrameType | None) -> str:
    """Return the package of the code that asks for a name, with the line."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not (file.startswith("<frozen importlib") or file == __file__):
            name = frame.f_globals.get("__name__", "").partition(".")[0]
            return (
                f"{'this script' if name in ('', '__main__') else name} ({file}:{frame.f_lineno})"
            )
        frame = frame.f_back
    return "a library"


class _InternalLoader(importlib.abc.Loader):
    """A loader of jax's internal modules, from the table `INTERNALS`."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Internal(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__.update(INTERNALS[module.__name__[4:]])


def _find_public(real: str) -> importlib.machinery.ModuleSpec | None:
    """Find a module of sagax; None if there is none, or no package around it."""
    try:
        return importlib.util.find_spec(real)
    except ModuleNotFoundError:
        return None


class _Finder(importlib.abc.MetaPathFinder):
    """A finder of `jax` and its submodules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "jax" and not fullname.startswith("jax."):
            return None
        if fullname[4:] in INTERNALS:
            return importlib.machinery.ModuleSpec(
                fullname, _InternalLoader(), origin=sagax.__file__, is_package=True
            )
        real = "sagax" + fullname[3:]
        found = None if fullname.startswith("jax._src.") else _find_public(real)
        if found is None:
            text = f"No module named {fullname!r}: {_not_here(fullname, _asking(sys._getframe(1)))}"
            raise worded(ModuleNotFoundError(text, name=fullname))
        spec = importlib.machinery.ModuleSpec(
            fullname, _Loader(real), origin=found.origin, is_package=True
        )
        spec.submodule_search_locations = []
        return spec


class _Distribution(importlib.metadata.Distribution):
    """The distribution metadata of `jax`, for `importlib.metadata.version("jax")`."""

    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: jax\nVersion: {JAX_VERSION}\nSummary: sagax under the name of jax\n"
        return None

    def locate_file(self, path: Any) -> Any:
        return importlib.util.find_spec("sagax").submodule_search_locations[0] + "/" + str(path)  # type: ignore[union-attr,index]


class _Metadata(importlib.metadata.DistributionFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        return None

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        name = getattr(context, "name", None)
        return [_Distribution()] if name is not None and name.lower() == "jax" else []


def install() -> None:
    """Make `jax` mean sagax in this process; does nothing the second time."""
    existing = sys.modules.get("jax")
    if existing is not None and not getattr(existing, "__sagax_alias__", False):
        raise worded(
            ImportError(
                "sagax.as_jax must be imported before jax: the real jax is already imported in this process. Put `import sagax.as_jax` "
                "first, or start the program with `python -m sagax run`"
            )
        )
    # libraries recognize jitted functions by the name of their type
    JitFunction.__name__ = JitFunction.__qualname__ = "PjitFunction"
    # and they print, and import again, the public names of types
    sagax.Array.__module__ = "jax"
    for typ in (sagax.dtypes.extended, sagax.dtypes.prng_key):
        typ.__module__ = "jax.dtypes"
    if not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path[:0] = [_Finder(), _Metadata()]
        # worker processes get a copy of sys.path, and find sagax there before an installed jax
        sys.path.insert(1, os.path.join(os.path.dirname(__file__), "_jax_in_workers"))


install()
