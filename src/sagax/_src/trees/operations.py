"""Flatten, rebuild, map, reduce, transpose and broadcast pytrees.

These are the public functions. The engine does the work. If it fails by itself, not in a function
of the user, they find the position in the tree and explain the error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import sagax._src.trees.registry as registry
from sagax._src import xla
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax._src.trees.paths import KeyPath, as_leaf_test
from sagax._src.trees.registry import PyTreeDef

if TYPE_CHECKING or lazy_imports():
    from sagax._src.trees import differences


T = TypeVar("T")
IsLeaf = Callable[[Any], bool]

_flatten = registry.engine_flatten
_flatten_with_path = registry.flatten_with_path


class Unset:
    """The default of an argument for which every value, `None` too, is valid."""

    def __repr__(self) -> str:
        return "<not given>"


UNSET = Unset()


# Flatten and rebuild ------------------------------------------------------------------------------


def tree_flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], PyTreeDef]:
    """Flatten a pytree to its leaves, in order, and its structure, the inverse of `tree_unflatten`.

    Tuples, lists, dicts, namedtuples, `OrderedDict`, `defaultdict`, `None` (which has no leaves)
    and registered classes are nodes; everything else is a leaf. The leaves of a dict come in the
    order of its sorted keys.

    Args:
      tree: any object.
      is_leaf: called with each subtree before it is flattened; if it returns True, the subtree is a
        leaf.

    Raises:
      ValueError: the tree cannot be flattened, for instance because the keys of a dict cannot be
        sorted or because it contains itself; the message names the position.

    >>> tree_util.tree_flatten({"b": (1, None), "a": 2})
    ([2, 1], PyTreeDef({'a': *, 'b': (*, None)}))
    """
    try:
        return _flatten(tree, is_leaf)
    except Exception as error:
        _explain("tree_flatten", "tree", tree, is_leaf, error)


def tree_leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """Return the leaves of a pytree, in order.

    Args and errors are those of `tree_flatten`.

    >>> tree_util.tree_leaves({"b": (1, None), "a": 2})
    [2, 1]
    """
    try:
        return _flatten(tree, is_leaf)[0]
    except Exception as error:
        _explain("tree_leaves", "tree", tree, is_leaf, error)


def tree_structure(tree: Any, is_leaf: IsLeaf | None = None) -> PyTreeDef:
    """Return the structure of a pytree: a treedef, which compares by `==`, hashes and pickles.

    Args and errors are those of `tree_flatten`.

    >>> tree_util.tree_structure([1, (2, 3)])
    PyTreeDef([*, (*, *)])
    """
    try:
        return _flatten(tree, is_leaf)[1]
    except Exception as error:
        _explain("tree_structure", "tree", tree, is_leaf, error)


def of_objects(treedef: PyTreeDef) -> Any:
    """Rebuild a pytree with an `object()` at each leaf, for its paths and prefixes.

    Nodes may check what they get as leaves; those that do let plain objects pass.
    """
    return treedef.unflatten([object() for _ in range(treedef.num_leaves)])


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Rebuild a pytree from its structure and leaves, the inverse of `tree_flatten`.

    Args:
      treedef: a structure, from `tree_flatten` or `tree_structure`.
      leaves: as many objects as the structure has leaves.

    Raises:
      TypeError: `treedef` is not a structure, or `leaves` cannot be iterated over.
      ValueError: there are more or fewer leaves than the structure has.

    >>> tree_util.tree_unflatten(tree_util.tree_structure([0, (0, 0)]), "abc")
    ['a', ('b', 'c')]
    """
    if not isinstance(treedef, PyTreeDef):
        swapped = isinstance(leaves, PyTreeDef)
        raise _not_a_treedef("tree_unflatten", "treedef", treedef, swapped)
    if not isinstance(leaves, (list, tuple)):
        if not isinstance(leaves, Iterable):
            raise worded(
                TypeError(
                    f"tree_unflatten: leaves must be iterable; got an object of class "
                    f"{type(leaves).__name__}. A single leaf goes in a list: [leaf]."
                )
            )
        leaves = list(leaves)
    try:
        return treedef.unflatten(leaves)
    except ValueError:
        if len(leaves) == treedef.num_leaves:
            raise
        raise worded(
            ValueError(
                f"tree_unflatten: the structure has {treedef.num_leaves} leaves, but "
                f"{len(leaves)} were given. The structure is {treedef!r:.300}."
            )
        ) from None


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf | None = None) -> bool:
    """Return whether every item is a leaf. `None` is a node without leaves, and no leaf.

    Args:
      iterable: the items to test.
      is_leaf: as in `tree_flatten`.

    Raises:
      TypeError: `iterable` cannot be iterated over.

    >>> tree_util.all_leaves([1, "a"]), tree_util.all_leaves([1, (2, 3)])
    (True, False)
    """
    if not isinstance(iterable, Iterable):
        raise worded(
            TypeError(
                f"all_leaves: an iterable of objects is needed; got an object of class "
                f"{type(iterable).__name__}. For one object write all_leaves([x])."
            )
        )
    if is_leaf is not None:
        iterable = [x for x in iterable if not is_leaf(x)]
    return not any(map(registry.default_registry.is_node, map(type, iterable)))


# Map ----------------------------------------------------------------------------------------------


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Map `f` over the leaves of `tree`: same structure, new leaves.

    Args:
      f: takes one leaf of `tree` and, from each of `rest`, the subtree at the same position.
      tree: a pytree.
      *rest: pytrees that have the structure of `tree`, or go on where `tree` has leaves.
      is_leaf: as in `tree_flatten`, for `tree`.

    Raises:
      TypeError: `f` is not callable.
      ValueError: one of `rest` does not have the structure of `tree`; the message names each position
        that differs and what both trees have there.

    >>> tree_util.tree_map(lambda x, y: x + y, {"a": 1, "b": 2}, {"a": 10, "b": 20})
    {'a': 11, 'b': 22}
    """
    if not callable(f):
        raise _not_callable("tree_map", "f", f, tree)
    try:
        leaves, treedef = _flatten(tree, is_leaf)
    except Exception as error:
        _explain("tree_map", "tree", tree, is_leaf, error)
    if not rest:
        return treedef.unflatten([f(leaf) for leaf in leaves])
    columns = _flatten_rest("tree_map", tree, rest, treedef, is_leaf)
    return treedef.unflatten([f(*row) for row in zip(leaves, *columns)])


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Map `f` over the key paths and leaves of `tree`.

    Args:
      f: takes the key path of a leaf, the leaf, and from each of `rest` the subtree there.
      tree: a pytree.
      *rest: pytrees that have the structure of `tree`, or go on where `tree` has leaves.
      is_leaf: as in `tree_flatten`, for `tree`.
      is_leaf_takes_path: call `is_leaf(path, subtree)` instead of `is_leaf(subtree)`.

    Raises:
      TypeError: `f` is not callable.
      ValueError: one of `rest` does not have the structure of `tree`; the message names each position
        that differs and what both trees have there.

    >>> tree_util.tree_map_with_path(
    ...     lambda path, x: tree_util.keystr(path) + f"={x}", {"a": [1, 2]})
    {'a': ["['a'][0]=1", "['a'][1]=2"]}
    """
    function = "tree_map_with_path"
    if not callable(f):
        raise _not_callable(function, "f", f, tree)
    pairs, treedef = _flatten_paths(function, tree, is_leaf, is_leaf_takes_path)
    if not rest:
        return treedef.unflatten([f(path, leaf) for path, leaf in pairs])
    columns = _flatten_rest(function, tree, rest, treedef, is_leaf, is_leaf_takes_path)
    rows = zip(*columns)
    return treedef.unflatten([f(path, leaf, *row) for (path, leaf), row in zip(pairs, rows)])


def _flatten_rest(
    function: str,
    tree: Any,
    rest: Sequence[Any],
    treedef: PyTreeDef,
    is_leaf: Callable[..., bool] | None,
    takes_path: bool = False,
) -> list[list[Any]]:
    """Return the subtrees of each of `rest` at the leaves of `tree`."""
    try:
        return list(map(treedef.flatten_up_to, rest))
    except (ValueError, TypeError, SystemError) as error:
        if not registry.is_engine_error(error):
            raise
        test = as_leaf_test(is_leaf, takes_path)
        explanation = _suppress_errors(lambda: differences.map_error(function, tree, rest, test))
        if explanation is None:
            raise
        raise explanation from None


# Key paths ----------------------------------------------------------------------------------------


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Flatten a pytree to its leaves, each with its key path, and its structure.

    Args:
      tree: any object.
      is_leaf: as in `tree_flatten`.
      is_leaf_takes_path: call `is_leaf(path, subtree)` instead of `is_leaf(subtree)`.

    Raises:
      ValueError: as `tree_flatten`.

    >>> leaves, treedef = tree_util.tree_flatten_with_path({"a": [1, 2]})
    >>> leaves[1]
    ((DictKey(key='a'), SequenceKey(idx=1)), 2)
    """
    return _flatten_paths("tree_flatten_with_path", tree, is_leaf, is_leaf_takes_path)


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of a pytree, each with its key path.

    Args and errors are those of `tree_flatten_with_path`.

    >>> for path, leaf in tree_util.tree_leaves_with_path({"b": [1, 2], "a": 3}):
    ...     print(tree_util.keystr(path), leaf)
    ['a'] 3
    ['b'][0] 1
    ['b'][1] 2
    """
    return _flatten_paths("tree_leaves_with_path", tree, is_leaf, is_leaf_takes_path)[0]


def key_paths(tree: Any, is_leaf: IsLeaf | None = None) -> list[KeyPath]:
    """Return the key paths of the leaves of a pytree, in order."""
    return [path for path, _ in tree_leaves_with_path(tree, is_leaf)]


def _flatten_paths(
    function: str, tree: Any, is_leaf: Callable[..., bool] | None, takes_path: bool
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    test = as_leaf_test(is_leaf, takes_path)
    try:
        return _flatten_with_path(tree, test)
    except Exception as error:
        _explain(function, "tree", tree, is_leaf, error, takes_path=takes_path)


# Reduce -------------------------------------------------------------------------------------------


def tree_reduce(
    function: Callable[[T, Any], T],
    tree: Any,
    initializer: T | Unset = UNSET,
    is_leaf: IsLeaf | None = None,
) -> T:
    """Reduce the leaves by `function` from the left.

    Args:
      function: takes the accumulated value and the next leaf.
      tree: a pytree.
      initializer: the initial value; by default the first leaf.
      is_leaf: as in `tree_flatten`.

    Raises:
      TypeError: `function` is not callable, or there are neither leaves nor an initializer.

    >>> tree_util.tree_reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]}, 0)
    6
    """
    if not callable(function):
        raise _not_callable("tree_reduce", "function", function, tree)
    leaves = _checked_leaves("tree_reduce", tree, is_leaf)
    if not isinstance(initializer, Unset):
        return functools.reduce(function, leaves, initializer)
    if not leaves:
        raise worded(
            TypeError(
                "tree_reduce: the tree has no leaves and no initializer was given. "
                "Pass the value of an empty tree as the third argument."
            )
        )
    return functools.reduce(function, leaves)


def tree_reduce_associative(
    operation: Callable[[T, T], T],
    tree: Any,
    *,
    identity: T | Unset = UNSET,
    is_leaf: IsLeaf | None = None,
) -> T:
    """Reduce the leaves by an associative operation, as a balanced tree of operations.

    For n leaves the chain of dependent operations is about log2(n) long, where that of
    `tree_reduce` is n; the operands keep their order.

    Args:
      operation: takes two values, returns their combination.
      tree: a pytree.
      identity: the result for a tree without leaves; not used otherwise.
      is_leaf: as in `tree_flatten`.

    Raises:
      TypeError: `operation` is not callable, or there are neither leaves nor an identity.

    >>> tree_util.tree_reduce_associative(lambda x, y: f"({x}{y})", ["a", "b", "c", "d"])
    '((ab)(cd))'
    """
    function = "tree_reduce_associative"
    if not callable(operation):
        raise _not_callable(function, "operation", operation, tree)
    leaves = _checked_leaves(function, tree, is_leaf)
    if leaves:
        return _halving_reduce(operation, leaves)
    if isinstance(identity, Unset):
        raise worded(
            TypeError(
                f"{function}: the tree has no leaves and no identity was given. "
                "Pass identity=..., the value of an empty tree."
            )
        )
    return identity


def _halving_reduce(operation: Callable[[T, T], T], values: Sequence[T]) -> T:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    left = _halving_reduce(operation, values[:half])
    return operation(left, _halving_reduce(operation, values[half:]))


def tree_all(tree: Any, *, is_leaf: IsLeaf | None = None) -> bool:
    """Return whether all leaves are true; True for a tree without leaves.

    Args:
      tree: a pytree whose leaves have a truth value.
      is_leaf: as in `tree_flatten`.

    >>> tree_util.tree_all({"a": True, "b": [1, 0]})
    False
    """
    return all(_checked_leaves("tree_all", tree, is_leaf))


def _checked_leaves(function: str, tree: Any, is_leaf: IsLeaf | None) -> list[Any]:
    try:
        return _flatten(tree, is_leaf)[0]
    except Exception as error:
        _explain(function, "tree", tree, is_leaf, error)


# Two trees ----------------------------------------------------------------------------------------


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Transpose a tree of trees of structure (outer, inner) to (inner, outer).

    Args:
      outer_treedef: structure of the outer tree.
      inner_treedef: structure of the subtrees at the outer one's leaves. `None` takes it from the
        first of them; then they must all be alike.
      pytree_to_transpose: the tree. If `inner_treedef` is given its leaves are taken in order, and
        only their number has to fit.

    Raises:
      TypeError: a structure is not one, or the tree does not have the leaves of the two.
      ValueError: the tree does not begin with the outer structure, or has no subtree to take the
        inner one from.

    >>> tree_util.tree_transpose(
    ...     tree_util.tree_structure([0, 0]), None, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    function = "tree_transpose"
    if not isinstance(outer_treedef, PyTreeDef):
        raise _not_a_treedef(function, "outer_treedef", outer_treedef)
    if inner_treedef is None:
        inner_treedef = _common_structure(function, outer_treedef, pytree_to_transpose)
    if not isinstance(inner_treedef, PyTreeDef):
        raise _not_a_treedef(function, "inner_treedef", inner_treedef)
    leaves = _checked_leaves(function, pytree_to_transpose, None)
    outer_size, inner_size = outer_treedef.num_leaves, inner_treedef.num_leaves
    if len(leaves) != outer_size * inner_size:
        expected = outer_treedef.compose(inner_treedef)
        found = differences.structure_mismatch(
            expected, tree_structure(pytree_to_transpose), "expected", "pytree_to_transpose"
        )
        raise differences.mismatch_error(
            function,
            f"a tree of {outer_size} x {inner_size} = {outer_size * inner_size} leaves is "
            f"expected, of structure outer_treedef with inner_treedef at its leaves; "
            f"pytree_to_transpose has {len(leaves)} leaves",
            found,
            kind=TypeError,
        )
    columns = [leaves[i::inner_size] for i in range(inner_size)]
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in columns])


def _common_structure(function: str, outer: PyTreeDef, tree: Any) -> PyTreeDef:
    try:
        subtrees = outer.flatten_up_to(tree)
    except ValueError:
        found = _suppress_errors(
            lambda: differences.prefix_mismatch(outer, tree, "outer", "pytree_to_transpose")
        )
        if not found:
            raise
        raise differences.mismatch_error(
            function,
            "pytree_to_transpose does not begin with the structure outer_treedef",
            found,
        ) from None
    if not subtrees:
        raise worded(
            ValueError(
                f"{function}: outer_treedef has no leaves, so there is no subtree to take the inner "
                "structure from. Pass inner_treedef."
            )
        )
    first, *others = map(tree_structure, subtrees)
    for i, other in enumerate(others, start=1):
        if other != first:
            found = differences.structure_mismatch(first, other, "subtree[0]", f"subtree[{i}]")
            raise differences.mismatch_error(
                function,
                "the subtrees at the leaves of outer_treedef differ, so there is no one inner "
                "structure (subtree[i] stands at the i-th leaf)",
                found,
                kind=TypeError,
            )
    return first


def broadcast_prefix(prefix: Any, full: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """Return for each leaf of `full` the corresponding leaf of `prefix`.

    Args:
      prefix: a pytree whose leaves may stand where `full` has subtrees.
      full: a pytree.
      is_leaf: as in `tree_flatten`, for `prefix` only.

    Raises:
      ValueError: `prefix` is no prefix of `full`. Callers with their own names for the two use
        `prefix_mismatch` to explain the difference.
    """
    return _broadcast("broadcast_prefix", "prefix", "full", prefix, full, is_leaf)


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Broadcast `prefix_tree` to the structure of `full_tree`, by repeating its leaves.

    Args:
      prefix_tree: a pytree whose leaves may stand where `full_tree` has subtrees.
      full_tree: a pytree.
      is_leaf: as in `tree_flatten`, for `prefix_tree` only.

    Raises:
      ValueError: `prefix_tree` is no prefix of `full_tree`; the message names each position that
        differs.

    >>> tree_util.tree_broadcast([1, 2], [("x", "y"), {"k": "z"}])
    [(1, 1), {'k': 2}]
    """
    leaves = _broadcast(
        "tree_broadcast", "prefix_tree", "full_tree", prefix_tree, full_tree, is_leaf
    )
    return registry.flatten(full_tree)[1].unflatten(leaves)


def _broadcast(
    function: str, name: str, full_name: str, prefix: Any, full: Any, is_leaf: IsLeaf | None
) -> list[Any]:
    try:
        prefix_leaves, prefix_def = _flatten(prefix, is_leaf)
    except Exception as error:
        _explain(function, name, prefix, is_leaf, error)
    try:
        parts = list(map(registry.flatten, prefix_def.flatten_up_to(full)))
    except (ValueError, TypeError, SystemError) as error:
        if not registry.is_engine_error(error):
            raise
        found = _suppress_errors(
            lambda: differences.prefix_mismatch(prefix, full, name, full_name, is_leaf=is_leaf)
        )
        if not found:
            _explain(function, full_name, full, None, error)
        raise differences.mismatch_error(
            function,
            f"{name} is no prefix of {full_name}",
            found,
            f"A leaf of {name} may stand for a whole subtree of {full_name}; above its leaves both "
            "must have the same nodes.",
        ) from None
    return [x for x, (leaves, _) in zip(prefix_leaves, parts) for _ in leaves]


# Treedefs -----------------------------------------------------------------------------------------


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Return the structure of a tuple whose items have the given structures.

    Raises:
      TypeError: one of `treedefs` is not a structure.

    >>> leaf = tree_util.tree_structure(0)
    >>> tree_util.treedef_tuple([leaf, tree_util.tree_structure([0])])
    PyTreeDef((*, [*]))
    """
    if isinstance(treedefs, PyTreeDef) or not isinstance(treedefs, Iterable):
        raise worded(
            TypeError(
                f"treedef_tuple: a sequence of treedefs is needed; got {treedefs!r:.80}. "
                "For one item write treedef_tuple([treedef])."
            )
        )
    treedefs = list(treedefs)
    for i, treedef in enumerate(treedefs):
        if not isinstance(treedef, PyTreeDef):
            raise _not_a_treedef("treedef_tuple", f"treedefs[{i}]", treedef)
    return xla.treedef_tuple(registry.default_registry, treedefs)


def treedef_of(kind: type, aux: Any, children: Iterable[PyTreeDef]) -> PyTreeDef:
    """Return the treedef of a node of type `kind` with this static data and these children."""
    cls: Any = PyTreeDef  # its declaration for type checkers lacks the method
    return cls.from_node_data_and_children(registry.default_registry, (kind, aux), list(children))


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Return the structures of the direct children of a structure; none for a leaf.

    Raises:
      TypeError: `treedef` is not a structure.

    >>> tree_util.treedef_children(tree_util.tree_structure([1, (2, 3)]))
    [PyTreeDef(*), PyTreeDef((*, *))]
    """
    if not isinstance(treedef, PyTreeDef):
        raise _not_a_treedef("treedef_children", "treedef", treedef)
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return whether a structure is a single node: a leaf, or a container without children.

    Raises:
      TypeError: `treedef` is not a structure.

    >>> tree_util.treedef_is_leaf(tree_util.tree_structure(1.0))
    True
    >>> tree_util.treedef_is_leaf(tree_util.tree_structure([1.0]))
    False
    """
    if not isinstance(treedef, PyTreeDef):
        raise _not_a_treedef("treedef_is_leaf", "treedef", treedef)
    return treedef.num_nodes == 1


# Errors -------------------------------------------------------------------------------------------


def flatten_argument(
    function: str, name: str, tree: Any, is_leaf: IsLeaf | None = None
) -> tuple[list[Any], PyTreeDef]:
    """Flatten an argument, with errors that name the function and the argument."""
    try:
        return _flatten(tree, is_leaf)
    except Exception as error:
        _explain(function, name, tree, is_leaf, error)


def _explain(
    function: str,
    name: str,
    tree: Any,
    is_leaf: Any,
    error: Exception,
    *,
    takes_path: bool = False,
) -> NoReturn:
    """Raise an error that explains the engine's failure on `tree`, or `error` of a user function."""
    if is_leaf is not None and not callable(is_leaf):
        raise worded(
            TypeError(
                f"{function}: is_leaf must be a function from a subtree to a bool; got {is_leaf!r:.80}."
            )
        ) from None
    test = as_leaf_test(is_leaf, takes_path)
    registry.restore_recursion_depth(tree, test)
    if not registry.is_engine_error(error):
        raise error
    reason = _suppress_errors(lambda: differences.flatten_error(function, name, tree, test))
    if reason is None and isinstance(error, SystemError):
        reason = differences.depth_error(function, name)
    if reason is None:
        raise error
    raise reason from None


def _suppress_errors(explain: Callable[[], T]) -> T | None:
    """Return the result of `explain`, or `None`: user functions that it calls may raise again."""
    try:
        return explain()
    except Exception:
        return None


def _not_a_treedef(function: str, argument: str, got: Any, swapped: bool = False) -> TypeError:
    hint = (
        "The arguments are the other way round."
        if swapped
        else "Make one with tree_structure(tree)."
    )
    return worded(
        TypeError(
            f"{function}: {argument} must be a PyTreeDef; got an object of class "
            f"{type(got).__name__}. {hint}"
        )
    )


def _not_callable(function: str, argument: str, got: Any, second: Any) -> TypeError:
    hint = " The arguments are the other way round." if callable(second) else ""
    return worded(
        TypeError(
            f"{function}: {argument}, the first argument, must be a function; got an object of class "
            f"{type(got).__name__}.{hint}"
        )
    )
