"""Execute converted control flow: as Python on concrete values, as lax on traced ones."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._autojit.errors import AutojitError
from sagax._autojit.rewrite import Site
from sagax._src import config, trees
from sagax._src.callbacks.callbacks import debug_callback
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import DebugInfo, eval_jaxpr
from sagax._src.core.staging import stage
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerIntegerConversionError,
)
from sagax._src.diagnostics.spans import display_path
from sagax._src.languages.choice import worded
from sagax._src.primitives.structural import convert

MIN_SCAN_LENGTH = 16  # iterations from which on a `for` over a range becomes a scan
_MAX_TYPE_PASSES = 4  # attempts to find stable types of a carry


class Unset:
    """Stand for a variable without value: any use raises the reason."""

    __slots__ = ("_sx_name", "_sx_why")

    def __init__(self, name: str, why: str = "") -> None:
        self._sx_name = name
        self._sx_why = why

    def _sx_raise(self, *_: Any) -> Any:
        name = self._sx_name
        raise worded(
            UnboundLocalError(
                self._sx_why
                or f"cannot access local variable {name!r} where it is not associated with a value"
            )
        )

    __getattr__ = _sx_raise
    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __array__ = __index__ = _sx_raise
    __float__ = __int__ = __neg__ = __invert__ = __eq__ = __ne__ = _sx_raise
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._sx_name} has no value>"


for _operator in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    for _side in ("", "r"):
        setattr(Unset, f"__{_side}{_operator}__", Unset._sx_raise)
for _operator in ("lt", "le", "gt", "ge"):
    setattr(Unset, f"__{_operator}__", Unset._sx_raise)


class TracedRange:
    """Represent a `range` with a traced bound."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


class StagedBlock:
    """Hold the jaxpr of a block, and its results by variable, each as leaves and structure."""

    __slots__ = ("consts", "jaxpr", "values")

    def __init__(self, run: Callable[..., Sequence[Any]], avals: Sequence[Any], site: Site) -> None:
        self.values: list[tuple[list[Any], Any]] = []

        def flat(*leaves: Any) -> list[Any]:
            outs: list[Any] = []
            for value in run(*leaves):
                found, tree = trees.flatten(value)
                self.values.append((found, tree))
                outs += [x for x in found if _is_array(x)]
            return outs

        info = DebugInfo(site.function, (), (), "autojit")
        self.jaxpr, self.consts = stage(flat, avals, info)

    def results(self, *args: Any) -> Iterator[Any]:
        """Evaluate the jaxpr in the current trace; return the results that are arrays or numbers."""
        return iter(eval_jaxpr(self.jaxpr, self.consts, *args))

    def avals(self) -> Iterator[Any]:
        return iter([v.aval for v in self.jaxpr.outvars])


class Operators:
    """Implement the operators of one converted function with its `sites`."""

    def __init__(
        self, sites: Sequence[Site], convert: Callable[[Any], Any], max_steps: int | None
    ) -> None:
        self.sites = sites
        self.call = convert
        self._max_steps = max_steps
        self.unset = Unset
        self.converted: dict[Site, str] = {}  # what statements on traced values became

    # -- conditionals ---------------------------------------------------------------------------------

    def if_(self, test: Any, then: Callable, orelse: Callable, state: tuple, site: Site) -> tuple:
        """Return the variables after an `if`."""
        known = _concrete_truth(test, site)
        if known is not None:
            return (then if known else orelse)(*state)
        return self._cond(test, then, orelse, state, site, site.names)

    def if_return(
        self, test: Any, then: Callable, orelse: Callable, state: tuple, site: Site
    ) -> Any:
        """Return the result of a function that ends with an `if` that returns on both sides."""
        known = _concrete_truth(test, site)
        if known is not None:
            return (then if known else orelse)(*state)

        def single(branch: Callable) -> Callable:
            return lambda *state: (branch(*state),)

        names = ("the returned value",)
        return self._cond(test, single(then), single(orelse), state, site, names)[0]

    def _cond(
        self,
        test: Any,
        then: Callable,
        orelse: Callable,
        state: tuple,
        site: Site,
        names: Sequence[str],
    ) -> tuple:
        self._check_effects(site, "branch")
        self.converted[site] = "lax.cond"
        first = StagedBlock(lambda: then(*state), [], site)
        second = StagedBlock(lambda: orelse(*state), [], site)
        merged = _MergedVariables(names, first, second, site)
        branches = (lambda: merged.outputs(first, 0)), (lambda: merged.outputs(second, 1))
        return merged.rebuild(iter(lax.cond(_as_predicate(test), *branches)))

    def if_else(self, test: Any, then: Callable, orelse: Callable, site: Site) -> Any:
        """Return the value of `a if test else b`."""
        known = _concrete_truth(test, site)
        if known is not None:
            return then() if known else orelse()
        branches = (lambda: (then(),)), (lambda: (orelse(),))
        return self._cond(test, *branches, (), site, ("the value",))[0]

    # -- truth ----------------------------------------------------------------------------------------

    def and_(self, parts: Sequence[Callable], site: Site) -> Any:
        return self._join(parts, site, stop=False, join=snp.logical_and)

    def or_(self, parts: Sequence[Callable], site: Site) -> Any:
        return self._join(parts, site, stop=True, join=snp.logical_or)

    def _join(self, parts: Sequence[Callable], site: Site, stop: bool, join: Callable) -> Any:
        value = parts[0]()
        for k, part in enumerate(parts[1:], 1):
            known = _concrete_truth(value, site)
            if known is stop:
                return value
            if known is not None:
                value = part()
                continue
            self.converted[site] = f"snp.{join.__name__}"
            rest = self._join(parts[k:], site, stop, join)
            if _is_bool(value) and _is_bool(rest):
                return join(value, rest)
            # the result is one of the two values, not True or False
            sides = (value, rest) if stop else (rest, value)
            then, orelse = [functools.partial(_identity, side) for side in sides]
            return self.if_else(value, then, orelse, site)
        return value

    def not_(self, value: Any, site: Site) -> Any:
        known = _concrete_truth(value, site)
        if known is not None:
            return not known
        self.converted[site] = "snp.logical_not"
        return snp.logical_not(value)

    def compare(
        self, left: Any, names: Sequence[str], parts: Sequence[Callable], site: Site
    ) -> Any:
        """Return the value of `a < b < c`, where each operand is computed once."""
        result: Any = True
        for name, part in zip(names, parts, strict=True):
            right = part()
            link = _COMPARISONS[name](left, right)
            known = _concrete_truth(result, site)
            if known is False:
                return result
            if known:
                result = link
            elif _is_bool(link):
                self.converted[site] = "snp.logical_and"
                result = snp.logical_and(result, link)
            left = right
            if not isinstance(result, Tracer) and not _concrete_truth(result, site):
                return result
        return result

    def assert_(self, test: Any, message: Callable | None, site: Site) -> None:
        """Check an `assert`, at run time if its test is traced."""
        known = _concrete_truth(test, site)
        if known:
            return
        reason = message() if message is not None else None
        if known is False:
            raise AssertionError(*(() if reason is None else (reason,)))
        self.converted[site] = "a check when the program runs"
        text = f"{display_path(site.file)}:{site.line}: {site.text}"
        if reason is not None and not isinstance(reason, Tracer):
            text = f"{reason} ({text})"

        def check(truth: Any) -> None:
            if not np.all(np.asarray(truth)):
                raise AssertionError(text)

        debug_callback(check, _as_predicate(test))

    # -- loops ----------------------------------------------------------------------------------------

    def while_(self, test: Callable, body: Callable, state: tuple, site: Site) -> tuple:
        """Return the variables after a `while`."""
        while True:
            exited = False if site.exit_flag is None else state[site.exit_flag]
            known = _concrete_truth(exited, site)
            if known is True:
                return state
            if known is None:
                return self._while_loop(test, body, state, site)
            known = _concrete_truth(test(*state), site)
            if known is False:
                return state
            if known is None:
                return self._while_loop(test, body, state, site)
            state = body(*state)

    def _while_loop(self, test: Callable, body: Callable, state: tuple, site: Site) -> tuple:
        """Run a `lax.while_loop` as long as the test holds and the exit flag is not set."""
        self._check_effects(site, "loop")
        self.converted[site] = "lax.while_loop"
        carry = _LoopCarry(site.names, state, body, site)

        def cond_fun(leaves: Any) -> Any:
            values = carry.rebuild(leaves)
            truth = test(*values)
            if site.exit_flag is None:
                return _as_predicate(truth)
            return snp.logical_and(_as_predicate(truth), snp.logical_not(values[site.exit_flag]))

        outs = lax.while_loop(cond_fun, carry.step, carry.initial, max_steps=self._max_steps)
        return carry.final(outs)

    def range(self, function: Any, *args: Any) -> Any:
        """Return a `range`, of traced bounds too."""
        if function is not range or not any(isinstance(a, Tracer) for a in args):
            return function(*args)
        values = [a.concrete() if isinstance(a, Tracer) else a for a in args]
        if all(v is not None for v in values):
            return range(*[operator.index(v) for v in values])
        start, stop, step = {
            1: lambda: (0, args[0], 1),
            2: lambda: (args[0], args[1], 1),
            3: lambda: args,
        }[len(args)]()
        return TracedRange(start, stop, step)

    def for_(self, iterable: Any, body: Callable, state: tuple, site: Site) -> tuple:
        """Return the variables after a `for`."""
        if isinstance(iterable, TracedRange):
            return self._traced_range_loop(iterable, body, state, site)
        for k, item in enumerate(iterable):
            # The first iteration may show which variables are traced, and give all a value.
            if k == 1 or (k == 0 and not any(isinstance(v, Unset) for v in state)):
                scanned = self._scan(iterable, k, body, state, site)
                if scanned is not None:
                    return scanned
            exited = False if site.exit_flag is None else state[site.exit_flag]
            known = _concrete_truth(exited, site)
            if known is True:
                break
            if known is None:  # run the iteration unless the exit flag is set
                stay, go = (lambda *state: state), functools.partial(body, item)
                state = self._cond(exited, stay, go, state, site, site.names)
                self.converted[site] = "rounds that are left out with lax.cond"
            else:
                state = body(item, *state)
        return state

    def _traced_range_loop(
        self, over: TracedRange, body: Callable, state: tuple, site: Site
    ) -> tuple:
        """Run a `lax.while_loop` over a range of traced length."""
        self._check_effects(site, "loop")
        self.converted[site] = "lax.while_loop"
        start, step = over.start, over.step
        length = snp.maximum(-((start - over.stop) // step), 0)
        count = snp.asarray(0, length.dtype)

        def numbered(count: Any, *state: Any) -> tuple:
            return (count + 1, *body(start + count * step, *state))

        names = ("the number of rounds", *site.names)
        carry = _LoopCarry(names, (count, *state), numbered, site)

        def cond_fun(leaves: Any) -> Any:
            count, *values = carry.rebuild(leaves)
            if site.exit_flag is None:
                return count < length
            return snp.logical_and(count < length, snp.logical_not(values[site.exit_flag]))

        outs = lax.while_loop(cond_fun, carry.step, carry.initial, max_steps=self._max_steps)
        return carry.final(outs)[1:]

    def _scan(
        self, iterable: Any, done: int, body: Callable, state: tuple, site: Site
    ) -> tuple | None:
        """Run the iterations after the first `done` of a long loop as a `scan`; None if impossible."""
        over_array = isinstance(iterable, Tracer)
        if not site.pure or not (over_array or type(iterable) is range):
            return None
        if len(iterable) < MIN_SCAN_LENGTH or not any(map(_contains_tracer, (iterable, *state))):
            return None
        if site.exit_flag is not None and _concrete_truth(state[site.exit_flag], site):
            return None
        iterable = iterable[done:] if done else iterable
        items = iterable if over_array else snp.asarray(np.asarray(iterable, np.int32))
        first = items[0]
        item_aval = aval_of(first)
        if not over_array:
            item_aval = intern_aval((), item_aval.dtype, True, None)

        def iteration(item: Any, *state: Any) -> tuple:
            if site.exit_flag is None:
                return body(item, *state)
            go = functools.partial(body, item)
            return self.if_(state[site.exit_flag], lambda *s: s, go, state, site)

        try:
            carry = _LoopCarry(site.names, state, iteration, site, (item_aval,))
        except (
            AutojitError,
            ConcretizationTypeError,
            TracerIntegerConversionError,
            TracerArrayConversionError,
        ):
            # An iteration needs its number, or changes a type: unroll the loop.
            self.converted[site] = "rounds one by one: they cannot be one program"
            return None
        self.converted[site] = "lax.scan"

        def step(leaves: Any, item: Any) -> tuple[list[Any], None]:
            return carry.step(leaves, _cast(item, item_aval)), None

        outs, _ = lax.scan(step, carry.initial, items)
        return carry.final(outs)

    def _check_effects(self, site: Site, construct: str) -> None:
        if not site.effects:
            return
        line, text = site.effects[0]
        if text.startswith("raise"):
            why = "raises an exception"
            fix = "check the values before the call, or use `assert`, which is checked when the program runs"
        else:
            why = "changes something that is not a variable of the function"
            fix = "make it a new value of a variable, such as x = x.at[i].set(v), or return it"
        raise AutojitError(
            f"`{text}` (line {line}) {why}, inside of a {construct} that depends on a traced value: `{site.text}` (line "
            f"{site.line}). The program cannot do that only sometimes",
            function=f"autojit of {site.function}",
            fix=fix,
        )


_COMPARISONS: dict[str, Callable] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}


# --- values ----------------------------------------------------------------------------------------------


def _identity(x: Any) -> Any:
    return x


def _concrete_truth(x: Any, site: Site) -> bool | None:
    """Return whether a value is true; None if it is traced."""
    if not isinstance(x, Tracer):
        return True if x else False
    value = x.concrete()
    if value is not None:
        return bool(value)
    if x.size != 1:
        raise AutojitError(
            f"the truth of an array with {x.size} elements is not one value: `{site.text}` (line {site.line})",
            function=f"autojit of {site.function}",
            got=x,
            expected="a traced value with one element",
            fix="say what is meant: .any() or .all(); element by element: numpy.where",
        )
    return None


def _as_predicate(x: Any) -> Any:
    """Convert a traced value to a boolean of shape ()."""
    if not _is_bool(x):
        x = snp.asarray(x) != 0
    return snp.reshape(x, ())


def _is_bool(x: Any) -> bool:
    return isinstance(x, bool) or (_is_array(x) and aval_of(x).dtype == np.bool_)


def _is_array(x: Any) -> bool:
    return type(x) is not Unset and is_operand(x)


def _contains_tracer(value: Any) -> bool:
    if isinstance(value, (Unset, types.FunctionType)):
        return False
    return any(isinstance(x, Tracer) for x in trees.flatten(value)[0])


def _common_aval(a: Any, b: Any) -> Any:
    """Return the common aval of two avals with equal shapes."""
    if a is b:
        return a
    settings = config.current()
    pair = ((a.dtype, a.weak_type), (b.dtype, b.weak_type))
    dtype, weak = dtypes.promote(pair, settings.x64, settings.numpy_dtype_promotion)
    return intern_aval(a.shape, dtype, weak, None)


def _cast(x: Any, aval: Any) -> Any:
    return convert(x, aval.dtype, aval.weak_type)


def _type_text(aval: Any) -> str:
    return aval.str_short(short_dtypes=False)


class _MergedVariables:
    """Merge the variables after a conditional: equal on both sides, or selected by lax.cond."""

    def __init__(
        self, names: Sequence[str], first: StagedBlock, second: StagedBlock, site: Site
    ) -> None:
        self.rows: list[tuple[str, Any, list[Any]]] = []
        types = first.avals(), second.avals()
        for name, *sides in zip(names, first.values, second.values, strict=True):
            self._add_variable(name, tuple(sides), types, site)

    def _add_variable(self, name: str, sides: tuple, types: tuple, site: Site) -> None:
        found = [[next(t) if _is_array(x) else None for x in s[0]] for s, t in zip(sides, types)]
        (a, tree), (b, other) = sides
        unset = [len(s[0]) == 1 and isinstance(s[0][0], Unset) for s in sides]
        if any(unset):
            if all(unset) or not name.startswith("_sx_"):
                why = f"`{name}` has a value after only one side of `{site.text}` (line {site.line}), whose condition is traced"
                self.rows.append((name, None, [("keep", a[0] if all(unset) else Unset(name, why))]))
                # the results of the other side are computed but not used
                return
            here, avals = (1, found[1]) if unset[0] else (0, found[0])
            rows = [
                ("one", here, t) if t is not None else ("keep", x)
                for x, t in zip(sides[here][0], avals)
            ]
            self.rows.append((name, sides[here][1], rows))
            return
        if tree != other:
            raise _mismatch_error(name, _describe_value(sides[0]), _describe_value(sides[1]), site)
        rows: list[Any] = []
        for x, y, t, u in zip(a, b, *found, strict=True):
            if x is y or (t is None and u is None and _equal(x, y)):
                rows.append(("keep", x))
            elif type(x) is type(y) and isinstance(x, (bool, int, float)) and _equal(x, y):
                rows.append(("keep", x))
            elif t is None or u is None:
                raise _mismatch_error(name, repr(x), repr(y), site)
            elif t.shape != u.shape:
                raise _mismatch_error(name, _type_text(t), _type_text(u), site)
            else:
                rows.append(("both", _common_aval(t, u)))
        self.rows.append((name, tree, rows))

    def outputs(self, staged: StagedBlock, side: int) -> list[Any]:
        """Return the outputs of one branch of lax.cond."""
        results, outs = staged.results(), []
        for (leaves, _), (_, _, rows) in zip(staged.values, self.rows, strict=True):
            values = [next(results) if _is_array(x) else None for x in leaves]
            for value, row in zip(values, rows, strict=False):
                if row[0] == "both":
                    outs.append(_cast(value, row[1]))
                elif row[0] == "one":
                    _, its_side, aval = row
                    x = value if its_side == side else snp.zeros(aval.shape, aval.dtype)
                    outs.append(_cast(x, aval))
        return outs

    def rebuild(self, outs: Iterator[Any]) -> tuple:
        values = []
        for _, tree, rows in self.rows:
            leaves = [row[1] if row[0] == "keep" else next(outs) for row in rows]
            values.append(leaves[0] if tree is None else tree.unflatten(leaves))
        return tuple(values)


class _LoopCarry:
    """Hold the carried variables of a loop, with types that the body preserves.

    `items` are the avals of other operands of the body, before the variables.
    """

    def __init__(
        self,
        names: Sequence[str],
        state: Sequence[Any],
        body: Callable[..., Sequence[Any]],
        site: Site,
        items: tuple = (),
    ) -> None:
        self.site, self.names = site, names
        self.body, self.count = body, len(items)
        self.start = [trees.flatten(v) for v in state]
        # carried leaves: numbers and arrays; others must not change
        self.initial = [x for leaves, _ in self.start for x in leaves if _is_array(x)]
        self.avals = [aval_of(x) for x in self.initial]
        for _ in range(_MAX_TYPE_PASSES):
            self.staged = StagedBlock(self._run, [*items, *self.avals], site)
            if self._unify_types():
                break
        else:
            raise self._type_change(self.names[0], "its type", "another one in each round")
        self.initial = [_cast(x, a) for x, a in zip(self.initial, self.avals, strict=True)]

    def _run(self, *args: Any) -> Sequence[Any]:
        items, leaves = args[: self.count], args[self.count :]
        return self.body(*items, *self.rebuild(leaves))

    def rebuild(self, leaves: Sequence[Any]) -> tuple:
        """Return the variables with these leaves."""
        given = iter(leaves)
        return tuple(
            [
                tree.unflatten([next(given) if _is_array(x) else x for x in found])
                for found, tree in self.start
            ]
        )

    def _unify_types(self) -> bool:
        """Return whether the body preserves the types; if not, promote them."""
        types, k, stable = self.staged.avals(), 0, True
        fresh: list[int] = []
        for i, ((start, tree), (end, other)) in enumerate(
            zip(self.start, self.staged.values, strict=True)
        ):
            name = self.names[i]
            end_types = [next(types) if _is_array(x) else None for x in end]
            if len(start) == 1 and isinstance(start[0], Unset):
                if not name.startswith("_sx_") or (len(end) == 1 and isinstance(end[0], Unset)):
                    continue  # a variable of the body, without value before it
                zeros = [
                    snp.zeros(t.shape, t.dtype) if t is not None else x
                    for x, t in zip(end, end_types)
                ]
                self.start[i] = (zeros, other)
                fresh.append(i)
                continue
            if tree != other:
                raise self._type_change(
                    name, _describe_value((start, tree)), _describe_value((end, other))
                )
            for x, y, t in zip(start, end, end_types, strict=True):
                if _is_array(x) and t is not None:
                    if self.avals[k].shape != t.shape:
                        raise self._type_change(name, _type_text(self.avals[k]), _type_text(t))
                    common = _common_aval(self.avals[k], t)
                    stable &= common is self.avals[k]
                    self.avals[k] = common
                    k += 1
                elif _is_array(x) or t is not None or not _equal(x, y):
                    raise self._type_change(name, repr(x), repr(y))
        if fresh:
            self.initial = [x for leaves, _ in self.start for x in leaves if _is_array(x)]
            self.avals = [aval_of(x) for x in self.initial]
            return False
        return stable

    def step(self, leaves: Sequence[Any], *items: Any) -> list[Any]:
        """Run one iteration."""
        results, outs = self.staged.results(*items, *leaves), []
        for (start, _), (end, _) in zip(self.start, self.staged.values, strict=True):
            values = [next(results) for x in end if _is_array(x)]
            if not (len(start) == 1 and isinstance(start[0], Unset)):
                outs += values
        return [_cast(x, aval) for x, aval in zip(outs, self.avals, strict=True)]

    def final(self, leaves: Sequence[Any]) -> tuple:
        """Return the variables after the loop."""
        values = list(self.rebuild(leaves))
        for i, value in enumerate(values):
            if isinstance(value, Unset):
                name = self.names[i]
                why = (
                    f"`{name}` has no value if `{self.site.text}` (line {self.site.line}), whose number of rounds is "
                    "traced, does no round: give it a value before"
                )
                values[i] = Unset(name, why)
        return tuple(values)

    def _type_change(self, name: str, before: str, after: str) -> AutojitError:
        return AutojitError(
            f"`{name}` is {before} before a round and {after} after it, in `{self.site.text}` (line {self.site.line}): a "
            "loop of a program keeps the types of its variables",
            function=f"autojit of {self.site.function}",
            fix=f"give `{name}` its final shape and type before the loop",
        )


def _equal(x: Any, y: Any) -> bool:
    if x is y:
        return True
    try:
        return type(x) is type(y) and bool(x == y)
    except Exception:  # incomparable values are not equal
        return False


def _describe_value(side: tuple) -> str:
    leaves, tree = side
    if len(leaves) == 1 and trees.treedef_is_leaf(tree):
        x = leaves[0]
        return _type_text(aval_of(x)) if _is_array(x) else repr(x)
    if not leaves and tree == trees.structure(None):
        return "None"
    return str(tree)


def _mismatch_error(name: str, first: str, second: str, site: Site) -> AutojitError:
    subject = name if name.startswith("the ") else f"`{name}`"
    return AutojitError(
        f"{subject} is {first} if the condition holds and {second} if not, in `{site.text}` (line {site.line}), whose "
        "condition is traced: both sides must give one type",
        function=f"autojit of {site.function}",
        fix="give both sides the same structure and shape, such as zeros_like(x) in place of None or 0",
    )
