"""Save a tree of arrays into a folder, and load it with any sharding.

A folder holds `tree.json`, the structure with shapes and dtypes, and `arrays`, in TensorStore's format.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from sagax._src import fork_locks, trees
from sagax._src.api.export_format import tree_from_json, tree_to_json
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.runtime import devices
from sagax.experimental import multihost_utils
from sagax.experimental.array_serialization import tensorstore_impl
from sagax.experimental.array_serialization.serialization import is_remote_storage
from sagax.numpy._conversion import asarray

__all__ = ["load", "load_pytreedef", "nonblocking_load", "nonblocking_save", "save"]

_ARRAYS, _TREE = "arrays", "tree.json"
_saving = fork_locks.lock()


class PyTreeFuture(Future):
    """The result of a save or a load in the background; `pytree` has the shapes and dtypes at once."""

    pytree: Any = None


def save(
    data: Any, directory: str | os.PathLike[str], *, overwrite: bool = True, ts_specs: Any = None
) -> None:
    """Save a tree of arrays into a folder; `ts_specs` adds to the specification of each array.

    Leaves are arrays; None stays None. All processes call it with the same folder. An existing save is replaced as a
    whole, once the new one is complete.

    Raises ArgumentValueError if the folder holds anything else, or a save and `overwrite` is false.
    """
    with _saving:
        _save(data, _folder(directory, "save"), overwrite, ts_specs)


def _folder(directory: str | os.PathLike[str], function: str) -> str:
    path = os.fspath(directory)
    if is_remote_storage(path):
        raise ArgumentValueError.about(
            function, "directory", repr(path), "a folder of a file system that all processes see"
        )
    return os.path.abspath(os.path.expanduser(path))


def _save(data: Any, folder: str, overwrite: bool, ts_specs: Any) -> None:
    leaves, tree = trees.flatten(data)
    for i, x in enumerate(leaves):
        if not isinstance(x, Array | np.ndarray | np.generic):
            path = trees.argument_path("data", trees.key_paths(data)[i])
            raise ArgumentError(
                function="save",
                argument=path,
                got=kind_of(x),
                expected="an array, or None",
                fix="save what is no array beside it, as JSON",
            )
    if os.path.exists(folder) and os.listdir(folder):
        if not os.path.exists(os.path.join(folder, _TREE)):
            raise ArgumentValueError(
                f"{folder} holds something else than an earlier save",
                function="save",
                argument="directory",
            )
        if not overwrite:
            raise ArgumentValueError(
                f"Files already exist at path: `{folder}`, but you specified `overwrite=False`",
                function="save",
                argument="directory",
            )
    arrays = [x if isinstance(x, Array) else asarray(x) for x in leaves]
    facts = {
        "tree": tree_to_json(tree),
        "leaves": [{"shape": x.shape, "dtype": np.dtype(x.dtype).name} for x in arrays],
    }
    # beside it, renamed at the end: a save that is killed leaves the earlier one
    new, first = f"{folder}.new", devices.process_index() == 0
    if first:
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new)
    _meet("begin")
    given = _specs(ts_specs, tree, len(arrays), "save")
    specs = [
        tensorstore_impl.merge_nested_ts_specs(_spec(new, i), more) for i, more in enumerate(given)
    ]
    tensorstore_impl.run_serialization(arrays, specs)
    _meet("written")
    if first:
        Path(new, _TREE).write_text(json.dumps(facts), encoding="utf-8")
        old = f"{folder}.old"
        shutil.rmtree(old, ignore_errors=True)
        if os.path.exists(folder):
            os.replace(folder, old)
        os.replace(new, folder)
        shutil.rmtree(old, ignore_errors=True)
    _meet("done")


def _meet(where: str) -> None:
    if devices.process_count() > 1:
        multihost_utils.sync_global_devices(f"array_serialization save {where}")


def _spec(folder: str, i: int) -> dict[str, Any]:
    path = os.path.join(folder, _ARRAYS, str(i))
    return tensorstore_impl.get_tensorstore_spec(path, ocdbt=False)


def _specs(given: Any, tree: Any, n: int, function: str) -> list[Any]:
    if given is None:
        return [None] * n
    found, structure = trees.flatten(given, is_leaf=tensorstore_impl.is_tensorstore_spec_leaf)
    if structure.num_leaves != n:
        raise ArgumentValueError(
            "ts_specs has not the structure of the data", function=function, argument="ts_specs",
            got=f"{len(found)} specifications", expected=f"{n}, one for each array",
        )  # fmt: skip
    return found


def _read(directory: str | os.PathLike[str], function: str) -> tuple[str, Any, list[Any]]:
    folder = _folder(directory, function)
    path = Path(folder, _TREE)
    if not path.exists():
        raise ArgumentValueError(
            f"{folder} holds no tree of arrays",
            function=function,
            argument="directory",
            expected="a folder that `save` wrote",
        )
    facts = json.loads(path.read_text(encoding="utf-8"))
    shapes = [
        ShapeDtypeStruct(tuple(leaf["shape"]), np.dtype(leaf["dtype"])) for leaf in facts["leaves"]
    ]
    return folder, tree_from_json(facts["tree"]), shapes


def load_pytreedef(directory: str | os.PathLike[str]) -> Any:
    """Return the saved tree, with `ShapeDtypeStruct`s in place of arrays."""
    _, tree, shapes = _read(directory, "load_pytreedef")
    return tree.unflatten(shapes)


def load(
    directory: str | os.PathLike[str], shardings: Any, *, mask: Any = None, ts_specs: Any = None
) -> Any:
    """Load a tree of arrays with these shardings: one for all, or a tree, or a prefix of one.

    `mask` is a tree of booleans, or a prefix: arrays where it is false are not read, and None stands for them.
    """
    folder, tree, shapes = _read(directory, "load")
    whole = tree.unflatten(shapes)
    wanted = _spread(shardings, whole, "shardings")
    reads = [True] * len(shapes) if mask is None else _spread(mask, whole, "mask")
    given = _specs(ts_specs, tree, len(shapes), "load")
    chosen = [i for i, read in enumerate(reads) if read]
    specs = [tensorstore_impl.merge_nested_ts_specs(_spec(folder, i), given[i]) for i in chosen]
    found: list[Any] = [None] * len(shapes)
    arrays = tensorstore_impl.run_deserialization([wanted[i] for i in chosen], specs)
    for i, x in zip(chosen, arrays, strict=True):
        found[i] = x
    return tree.unflatten(found)


def _spread(prefix: Any, whole: Any, argument: str) -> list[Any]:
    try:
        return trees.broadcast_prefix(prefix, whole)
    except (ValueError, TypeError):
        wrong = trees.prefix_mismatch(prefix, whole, argument, "the saved tree")
        raise ArgumentValueError(
            f"{argument} must be a tree prefix of the saved tree: {'; '.join(map(str, wrong))}",
            function="load",
            argument=argument,
        ) from None


def nonblocking_save(
    data: Any, directory: str | os.PathLike[str], *, overwrite: bool = True, ts_specs: Any = None
) -> PyTreeFuture:
    """Begin to save a tree of arrays; `result()` waits for it."""
    shapes = trees.map(lambda x: ShapeDtypeStruct(np.shape(x), x.dtype), data)
    return _in_background(
        lambda: save(data, directory, overwrite=overwrite, ts_specs=ts_specs), shapes
    )


def nonblocking_load(
    directory: str | os.PathLike[str], shardings: Any, *, mask: Any = None, ts_specs: Any = None
) -> PyTreeFuture:
    """Begin to load a tree of arrays; `result()` waits for it and returns it."""
    shapes = load_pytreedef(directory)
    return _in_background(lambda: load(directory, shardings, mask=mask, ts_specs=ts_specs), shapes)


def _in_background(work: Callable[[], Any], shapes: Any) -> PyTreeFuture:
    future = PyTreeFuture()
    future.pytree = shapes

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="sagax saves arrays").start()
    return future
