"""What the control flow of a converted function calls: plain Python on plain values, control flow on traced ones."""

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
from sagax._src.diagnostics.spans import shown_path
from sagax._src.primitives.structural import convert

ROLLED = 16  # rounds from which on a `for` over a range becomes a loop of the program
_MOST_ROUNDS = 4  # of finding types that a loop keeps


class Unset:
    """A variable without value, and why: any use of it says so."""

    __slots__ = ("_sx_name", "_sx_why")

    def __init__(self, name: str, why: str = "") -> None:
        self._sx_name = name
        self._sx_why = why

    def _sx_raise(self, *_: Any) -> Any:
        name = self._sx_name
        raise UnboundLocalError(
            self._sx_why
            or f"cannot access local variable {name!r} where it is not associated with a value"
        )

    __getattr__ = _sx_raise
    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __array__ = __index__ = _sx_raise
    __float__ = __int__ = __neg__ = __invert__ = __eq__ = __ne__ = _sx_raise
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._sx_name} has no value>"


for _word in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    for _side in ("", "r"):
        setattr(Unset, f"__{_side}{_word}__", Unset._sx_raise)
for _word in ("lt", "le", "gt", "ge"):
    setattr(Unset, f"__{_word}__", Unset._sx_raise)


class TracedRange:
    """`range` with a traced bound."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


class Staged:
    """A block as a program: its results by variable, each as leaves and structure."""

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
        """The results that are arrays or numbers, in the program that is being traced now."""
        return iter(eval_jaxpr(self.jaxpr, self.consts, *args))

    def avals(self) -> Iterator[Any]:
        return iter([v.aval for v in self.jaxpr.outvars])


class Operators:
    """The operators of one converted function, which know its places (`sites`)."""

    def __init__(
        self, sites: Sequence[Site], convert: Callable[[Any], Any], max_steps: int | None
    ) -> None:
        self.sites = sites
        self.call = convert
        self._max_steps = max_steps
        self.unset = Unset
        self.converted: dict[Site, str] = {}  # what became of the statements with traced values

    # -- choices --------------------------------------------------------------------------------------

    def if_(self, test: Any, then: Callable, orelse: Callable, state: tuple, site: Site) -> tuple:
        """The variables after an `if`."""
        known = _decided(test, site)
        if known is not None:
            return (then if known else orelse)(*state)
        return self._choice(test, then, orelse, state, site, site.names)

    def if_return(
        self, test: Any, then: Callable, orelse: Callable, state: tuple, site: Site
    ) -> Any:
        """The result of a function whose last statement is an `if` that returns on both sides."""
        known = _decided(test, site)
        if known is not None:
            return (then if known else orelse)(*state)

        def single(branch: Callable) -> Callable:
            return lambda *state: (branch(*state),)

        return self._choice(
            test, single(then), single(orelse), state, site, ("the returned value",)
        )[0]

    def _choice(
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
        first = Staged(lambda: then(*state), [], site)
        second = Staged(lambda: orelse(*state), [], site)
        plans = _Merged(names, first, second, site)
        outs = lax.cond(_truth(test), lambda: plans.of(first, 0), lambda: plans.of(second, 1))
        return plans.rebuilt(iter(outs))

    def if_else(self, test: Any, then: Callable, orelse: Callable, site: Site) -> Any:
        """`a if test else b`."""
        known = _decided(test, site)
        if known is not None:
            return then() if known else orelse()
        return self._choice(test, lambda: (then(),), lambda: (orelse(),), (), site, ("the value",))[
            0
        ]

    # -- truth ----------------------------------------------------------------------------------------

    def and_(self, parts: Sequence[Callable], site: Site) -> Any:
        return self._joined(parts, site, stop=False, join=snp.logical_and)

    def or_(self, parts: Sequence[Callable], site: Site) -> Any:
        return self._joined(parts, site, stop=True, join=snp.logical_or)

    def _joined(self, parts: Sequence[Callable], site: Site, stop: bool, join: Callable) -> Any:
        value = parts[0]()
        for k, part in enumerate(parts[1:], 1):
            known = _decided(value, site)
            if known is stop:
                return value
            if known is not None:
                value = part()
                continue
            self.converted[site] = f"snp.{join.__name__}"
            rest = self._joined(parts[k:], site, stop, join)
            if _is_bool(value) and _is_bool(rest):
                return join(value, rest)
            # Python gives one of the two values, not True or False
            sides = (value, rest) if stop else (rest, value)
            then, orelse = [functools.partial(_itself, side) for side in sides]
            return self.if_else(value, then, orelse, site)
        return value

    def not_(self, value: Any, site: Site) -> Any:
        known = _decided(value, site)
        if known is not None:
            return not known
        self.converted[site] = "snp.logical_not"
        return snp.logical_not(value)

    def compare(
        self, left: Any, words: Sequence[str], parts: Sequence[Callable], site: Site
    ) -> Any:
        """`a < b < c`: each value is computed once."""
        result: Any = True
        for word, part in zip(words, parts, strict=True):
            right = part()
            now = _COMPARE[word](left, right)
            known = _decided(result, site)
            if known is False:
                return result
            if known:
                result = now
            elif _is_bool(now):
                self.converted[site] = "snp.logical_and"
                result = snp.logical_and(result, now)
            left = right
            if not isinstance(result, Tracer) and not _decided(result, site):
                return result
        return result

    def assert_(self, test: Any, message: Callable | None, site: Site) -> None:
        """`assert`: of a traced value it is checked when the program runs."""
        known = _decided(test, site)
        if known:
            return
        said = message() if message is not None else None
        if known is False:
            raise AssertionError(*(() if said is None else (said,)))
        self.converted[site] = "a check when the program runs"
        where = f"{shown_path(site.file)}:{site.line}: {site.text}"
        text = where if said is None or isinstance(said, Tracer) else f"{said} ({where})"

        def check(truth: Any) -> None:
            if not np.all(np.asarray(truth)):
                raise AssertionError(text)

        debug_callback(check, _truth(test))

    # -- loops ----------------------------------------------------------------------------------------

    def while_(self, test: Callable, body: Callable, state: tuple, site: Site) -> tuple:
        """The variables after a `while`."""
        while True:
            left = False if site.leaves_by is None else state[site.leaves_by]
            known = _decided(left, site)
            if known is True:
                return state
            if known is None:
                return self._loop(test, body, state, site)
            known = _decided(test(*state), site)
            if known is False:
                return state
            if known is None:
                return self._loop(test, body, state, site)
            state = body(*state)

    def _loop(self, test: Callable, body: Callable, state: tuple, site: Site) -> tuple:
        """A loop of the program, for as long as the test holds and the loop was not left."""
        self._check_effects(site, "loop")
        self.converted[site] = "lax.while_loop"
        kept = _Carried(site.names, state, body, site)

        def goes_on(leaves: Any) -> Any:
            now = kept.rebuilt(leaves)
            truth = test(*now)
            if site.leaves_by is None:
                return _truth(truth)
            return snp.logical_and(_truth(truth), snp.logical_not(now[site.leaves_by]))

        outs = lax.while_loop(goes_on, kept.step, kept.initial, max_steps=self._max_steps)
        return kept.after(outs)

    def range(self, function: Any, *args: Any) -> Any:
        """`range`, of traced bounds too."""
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
        """The variables after a `for`."""
        if isinstance(iterable, TracedRange):
            return self._counted(iterable, body, state, site)
        for k, item in enumerate(iterable):
            # The first round may be needed to see what is traced, and to give all variables a value.
            if k == 1 or (k == 0 and not any(isinstance(v, Unset) for v in state)):
                rolled = self._rolled(iterable, k, body, state, site)
                if rolled is not None:
                    return rolled
            left = False if site.leaves_by is None else state[site.leaves_by]
            known = _decided(left, site)
            if known is True:
                break
            if known is None:  # it may have been left: the round is done if it was not

                def stay(*state: Any) -> tuple:
                    return state

                def go(*state: Any, item: Any = item) -> tuple:
                    return body(item, *state)

                state = self._choice(left, stay, go, state, site, site.names)
                self.converted[site] = "rounds that are left out with lax.cond"
            else:
                state = body(item, *state)
        return state

    def _counted(self, over: TracedRange, body: Callable, state: tuple, site: Site) -> tuple:
        """A loop over a range whose length is traced."""
        self._check_effects(site, "loop")
        self.converted[site] = "lax.while_loop"
        start, step = over.start, over.step
        length = snp.maximum(-((start - over.stop) // step), 0)
        count = snp.asarray(0, length.dtype)

        def numbered(count: Any, *state: Any) -> tuple:
            return (count + 1, *body(start + count * step, *state))

        names = ("the number of rounds", *site.names)
        kept = _Carried(names, (count, *state), numbered, site)

        def goes_on(leaves: Any) -> Any:
            count, *now = kept.rebuilt(leaves)
            if site.leaves_by is None:
                return count < length
            return snp.logical_and(count < length, snp.logical_not(now[site.leaves_by]))

        outs = lax.while_loop(goes_on, kept.step, kept.initial, max_steps=self._max_steps)
        return kept.after(outs)[1:]

    def _rolled(
        self, iterable: Any, done: int, body: Callable, state: tuple, site: Site
    ) -> tuple | None:
        """The rounds after the first `done` of a long loop of known length as a `scan`; None if they cannot be."""
        over_array = isinstance(iterable, Tracer)
        if not site.plain or not (over_array or type(iterable) is range):
            return None
        if len(iterable) < ROLLED or not any(map(_traced_inside, (iterable, *state))):
            return None
        if site.leaves_by is not None and _decided(state[site.leaves_by], site):
            return None
        iterable = iterable[done:] if done else iterable
        items = iterable if over_array else snp.asarray(np.asarray(iterable, np.int32))
        first = items[0]
        weak = (
            intern_aval((), aval_of(first).dtype, True, None) if not over_array else aval_of(first)
        )

        def round_(item: Any, *state: Any) -> tuple:
            if site.leaves_by is None:
                return body(item, *state)
            return self.if_(
                state[site.leaves_by], lambda *s: s, functools.partial(body, item), state, site
            )

        try:
            kept = _Carried(site.names, state, round_, site, (weak,))
        except (
            AutojitError,
            ConcretizationTypeError,
            TracerIntegerConversionError,
            TracerArrayConversionError,
        ):
            # A round needs to know its number, or changes a type: Python goes through them, which may do.
            self.converted[site] = "rounds one by one: they cannot be one program"
            return None
        self.converted[site] = "lax.scan"
        outs, _ = lax.scan(
            lambda leaves, item: (kept.step(leaves, _as(item, weak)), None), kept.initial, items
        )
        return kept.after(outs)

    def _check_effects(self, site: Site, what: str) -> None:
        if not site.effects:
            return
        line, text = site.effects[0]
        why = (
            "raises an exception"
            if text.startswith("raise")
            else "changes something that is not a variable of the function"
        )
        fix = (
            "check the values before the call, or use `assert`, which is checked when the program runs"
            if text.startswith("raise")
            else "make it a new value of a variable, such as x = x.at[i].set(v), or return it"
        )
        raise AutojitError(
            f"`{text}` (line {line}) {why}, inside of a {what} that depends on a traced value: `{site.text}` (line "
            f"{site.line}). The program cannot do that only sometimes",
            function=f"autojit of {site.function}",
            fix=fix,
        )


_COMPARE: dict[str, Callable] = {
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


def _itself(x: Any) -> Any:
    return x


def _decided(x: Any, site: Site) -> bool | None:
    """Whether a value is true; None if only the program knows."""
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


def _truth(x: Any) -> Any:
    """A traced value as a boolean of shape ()."""
    if not _is_bool(x):
        x = snp.asarray(x) != 0
    return snp.reshape(x, ())


def _is_bool(x: Any) -> bool:
    return isinstance(x, bool) or (_is_array(x) and aval_of(x).dtype == np.bool_)


def _is_array(x: Any) -> bool:
    return type(x) is not Unset and is_operand(x)


def _traced_inside(value: Any) -> bool:
    if isinstance(value, (Unset, types.FunctionType)):
        return False
    return any(isinstance(x, Tracer) for x in trees.flatten(value)[0])


def _common(a: Any, b: Any) -> Any:
    """The aval that values of two avals are brought to; their shapes are equal."""
    if a is b:
        return a
    settings = config.current()
    pair = ((a.dtype, a.weak_type), (b.dtype, b.weak_type))
    dtype, weak = dtypes.promote(pair, settings.x64, settings.numpy_dtype_promotion)
    return intern_aval(a.shape, dtype, weak, None)


def _as(x: Any, aval: Any) -> Any:
    return convert(x, aval.dtype, aval.weak_type)


def _type_text(aval: Any) -> str:
    return aval.str_short(short_dtypes=False)


class _Merged:
    """What becomes of each variable after a choice: the same on both sides, or chosen by the program."""

    def __init__(self, names: Sequence[str], first: Staged, second: Staged, site: Site) -> None:
        self.rows: list[tuple[str, Any, list[Any]]] = []
        types = first.avals(), second.avals()
        for name, mine, other in zip(names, first.values, second.values, strict=True):
            self._variable(name, (mine, other), types, site)

    def _variable(self, name: str, sides: tuple, types: tuple, site: Site) -> None:
        found = [[next(t) if _is_array(x) else None for x in s[0]] for s, t in zip(sides, types)]
        (a, tree), (b, other) = sides
        unset = [len(s[0]) == 1 and isinstance(s[0][0], Unset) for s in sides]
        if any(unset):
            if all(unset) or not name.startswith("_sx_"):
                why = f"`{name}` has a value after only one side of `{site.text}` (line {site.line}), whose condition is traced"
                self.rows.append((name, None, [("keep", a[0] if all(unset) else Unset(name, why))]))
                # the results of the other side are computed, and not used
                return
            here, avals = (1, found[1]) if unset[0] else (0, found[0])
            rows = [
                ("one", here, t) if t is not None else ("keep", x)
                for x, t in zip(sides[here][0], avals)
            ]
            self.rows.append((name, sides[here][1], rows))
            return
        if tree != other:
            raise _unlike(name, _kind(sides[0]), _kind(sides[1]), site)
        rows: list[Any] = []
        for x, y, t, u in zip(a, b, *found, strict=True):
            if x is y or (t is None and u is None and _equal(x, y)):
                rows.append(("keep", x))
            elif type(x) is type(y) and isinstance(x, (bool, int, float)) and _equal(x, y):
                rows.append(("keep", x))
            elif t is None or u is None:
                raise _unlike(name, repr(x), repr(y), site)
            elif t.shape != u.shape:
                raise _unlike(name, _type_text(t), _type_text(u), site)
            else:
                rows.append(("both", _common(t, u)))
        self.rows.append((name, tree, rows))

    def of(self, staged: Staged, side: int) -> list[Any]:
        """The chosen leaves, of one side."""
        results, outs = staged.results(), []
        for (leaves, _), (_, _, rows) in zip(staged.values, self.rows, strict=True):
            mine = [next(results) if _is_array(x) else None for x in leaves]
            for k, row in enumerate(rows):
                if row[0] == "both":
                    outs.append(_as(mine[k], row[1]))
                elif row[0] == "one":
                    _, its_side, aval = row
                    x = mine[k] if its_side == side else snp.zeros(aval.shape, aval.dtype)
                    outs.append(_as(x, aval))
        return outs

    def rebuilt(self, outs: Iterator[Any]) -> tuple:
        values = []
        for _, tree, rows in self.rows:
            leaves = [row[1] if row[0] == "keep" else next(outs) for row in rows]
            values.append(leaves[0] if tree is None else tree.unflatten(leaves))
        return tuple(values)


class _Carried:
    """The variables that go round in a loop of the program, brought to types that a round keeps.

    `items` are the avals of what a round is given besides, before the variables.
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
        # leaves that go round: numbers and arrays; what else there is must stay as it is
        self.initial = [x for leaves, _ in self.start for x in leaves if _is_array(x)]
        self.avals = [aval_of(x) for x in self.initial]
        self.filled: dict[int, Any] = {}  # variables of autojit's own that have no value yet
        for _ in range(_MOST_ROUNDS):
            self.staged = Staged(self._run, [*items, *self.avals], site)
            if self._settle():
                break
        else:
            raise self._changes(self.names[0], "its type", "another one in each round")
        self.initial = [_as(x, a) for x, a in zip(self.initial, self.avals, strict=True)]

    def _run(self, *args: Any) -> Sequence[Any]:
        items, leaves = args[: self.count], args[self.count :]
        return self.body(*items, *self.rebuilt(leaves))

    def rebuilt(self, leaves: Sequence[Any]) -> tuple:
        """The variables of these leaves."""
        given = iter(leaves)
        return tuple(
            [
                tree.unflatten([next(given) if _is_array(x) else x for x in found])
                for found, tree in self.start
            ]
        )

    def _settle(self) -> bool:
        """Whether a round keeps the types; if not they become those that hold both."""
        types, k, stable = self.staged.avals(), 0, True
        fresh: list[int] = []
        for i, ((start, tree), (end, other)) in enumerate(
            zip(self.start, self.staged.values, strict=True)
        ):
            name = self.names[i]
            end_types = [next(types) if _is_array(x) else None for x in end]
            if len(start) == 1 and isinstance(start[0], Unset):
                if not name.startswith("_sx_") or (len(end) == 1 and isinstance(end[0], Unset)):
                    continue  # a variable of the rounds, without value at their beginning
                zeros = [
                    snp.zeros(t.shape, t.dtype) if t is not None else x
                    for x, t in zip(end, end_types)
                ]
                self.start[i] = (zeros, other)
                fresh.append(i)
                continue
            if tree != other:
                raise self._changes(name, _kind((start, tree)), _kind((end, other)))
            for x, y, t in zip(start, end, end_types, strict=True):
                if _is_array(x) and t is not None:
                    if self.avals[k].shape != t.shape:
                        raise self._changes(name, _type_text(self.avals[k]), _type_text(t))
                    common = _common(self.avals[k], t)
                    stable &= common is self.avals[k]
                    self.avals[k] = common
                    k += 1
                elif _is_array(x) or t is not None or not _equal(x, y):
                    raise self._changes(name, repr(x), repr(y))
        if fresh:
            self.initial = [x for leaves, _ in self.start for x in leaves if _is_array(x)]
            self.avals = [aval_of(x) for x in self.initial]
            return False
        return stable

    def step(self, leaves: Sequence[Any], *items: Any) -> list[Any]:
        """One round."""
        results, outs, k = self.staged.results(*items, *leaves), [], 0
        for (start, _), (end, _) in zip(self.start, self.staged.values, strict=True):
            unset = len(start) == 1 and isinstance(start[0], Unset)
            mine = [next(results) for x in end if _is_array(x)]
            if unset:
                continue
            for x in mine:
                outs.append(_as(x, self.avals[k]))
                k += 1
        return outs

    def after(self, leaves: Sequence[Any]) -> tuple:
        """The variables when the loop is over."""
        values = list(self.rebuilt(leaves))
        for i, value in enumerate(values):
            if isinstance(value, Unset):
                name = self.names[i]
                why = (
                    f"`{name}` has no value if `{self.site.text}` (line {self.site.line}), whose number of rounds is "
                    "traced, does no round: give it a value before"
                )
                values[i] = Unset(name, why)
        return tuple(values)

    def _changes(self, name: str, before: str, after: str) -> AutojitError:
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
    except Exception:  # what cannot be compared is not equal
        return False


def _kind(side: tuple) -> str:
    leaves, tree = side
    if len(leaves) == 1 and trees.treedef_is_leaf(tree):
        x = leaves[0]
        return _type_text(aval_of(x)) if _is_array(x) else repr(x)
    if not leaves and tree == trees.structure(None):
        return "None"
    return str(tree)


def _unlike(name: str, first: str, second: str, site: Site) -> AutojitError:
    subject = name if name.startswith("the ") else f"`{name}`"
    return AutojitError(
        f"{subject} is {first} if the condition holds and {second} if not, in `{site.text}` (line {site.line}), whose "
        "condition is traced: both sides must give one type",
        function=f"autojit of {site.function}",
        fix="give both sides the same structure and shape, such as zeros_like(x) in place of None or 0",
    )


__all__ = ["Operators", "Unset"]
