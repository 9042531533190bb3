"""Define primitives: the operations of jaxprs, each with all its rules.

A rule is a slot of the primitive, filled by a decorator next to its definition:

    abstract(*avals, **params)            -> aval, or a list of avals
    reference(*arrays, **params)          -> NumPy result(s): the expected values in tests
    jvp(primals, tangents, **params)      -> (out, tangent out); tangents may be `Zero`
    linearize(primals, tangents, **params)   same form; its linear part must be separate binds
    transpose(ct, *operands, **params)    -> a cotangent (or None) for each operand; `Linear` marks linear operands
    batch(axis, args, dims, **params)     -> (out, dim out); dims are ints or None
    lower(b, *operands, **params)         -> value(s) built with the module builder `b`
    composite(*operands, **params)        -> the same function in other primitives; replaces any missing rule
    show(params)                          -> the parameters to print
    name(params)                          -> the name to print, if not always the same
    stage(trace, args, params)            -> outputs, if the recorded equation differs from the bound one
    prune(used, **params)                 -> (params, operand mask, result mask) of an application with unused
                                             results; masks select at least the used ones; or None to leave it
    regroup(sizes, **params)              -> the parameters after each operand was replaced by so many; by default
                                             they stay
    shard(call)                           -> for each result, the mesh axes that shard each dimension (sharding_rules.py)
    mask(trace, primitive, args, params, out) -> result(s) where operands are lazy views (higher_order/lazy_masks.py)
    index(shapes, params)                 -> `Indices`: which operands are indices, into which axes
    wide(*operands, **params)             -> the result in float64, for integers that may overflow the dtype
    check(eqn, operands, categories, outcome) -> results, with checkify's checks added to the outcome
    key(interpreter, params, operands, avals, traceback) -> the keys that the results hold (runtime/key_reuse)
    discharge(args, owned, **params) -> results of an application to references; those marked in
                                        `owned` have values here (higher_order/discharge.py)

The last seven, and the traits that passes read, default to the answers of the primitive's `family`
(families.py).

With `multiple_results` the outputs (and their tangents and dims) are lists. `impl` overrides eager
evaluation, `effects` returns the side effects of an application.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

from sagax._src import config
from sagax._src.core import avals
from sagax._src.core.effects import no_effects
from sagax._src.core.families import RULES, SLOTS, TRAITS, UNKNOWN, Default, Family, Sums
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.core.references import CREATE, AbstractRef, Ref
from sagax._src.core.trace import current_trace, evaluation, state
from sagax._src.core.value import sockets
from sagax._src.diagnostics import errors
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax._src.source_stacks import capture
from sagax._src.weak_tables import WeakKeyTable

if TYPE_CHECKING or lazy_imports():
    from sagax._src.core import memory_spaces, sharding_rules


_CACHE_LIMIT = 8192
_evaluated: WeakKeyTable[Primitive, dict] = WeakKeyTable()  # the types cached by each
_thread = config.thread


class MissingRuleError(errors.SagaxError, NotImplementedError):
    """A transformation has no rule for a primitive."""

    __module__ = "sagax.errors"
    code = "SX0120"

    def __init__(self, primitive: str, rule: str = "abstract") -> None:
        super().__init__(
            f"the primitive '{primitive}' has no {rule} rule",
            fix=f"define one, or a `composite` of other primitives, on '{primitive}'",
            primitive=primitive,
            rule=rule,
        )


Rule = Callable[..., Any]
_RULES = (
    "abstract_rule",
    "reference_rule",
    "jvp_rule",
    "linearize_rule",
    "transpose_rule",
    "batch_rule",
    "lower_rule",
    "composite_rule",
    "show_rule",
    "stage_rule",
    "prune_rule",
    "effects_rule",
    "regroup_rule",
    "name_rule",
    "impl",
)


class Primitive:
    """An operation with rules for transformations. `bind` applies it under the current trace."""

    __slots__ = (
        "name",
        "multiple_results",
        "multilinear",
        "sums",
        "exact",
        "_samples",
        "elementwise",
        "is_higher_order",
        "is_call",
        "is_control",
        "sets_sharding",
        "sets_memory_space",
        "keeps_memory_space",
        "sets_vma",
        "batch_collective",
        "lower_on",
        "family",
        "entries",
        "_abstract_cache",
        "__weakref__",
        "__dict__",  # attributes that other libraries set on their primitives
        *_RULES,
        *RULES,
        *TRAITS,
    )

    abstract_rule: Rule | None
    reference_rule: Rule | None
    jvp_rule: Rule | None
    linearize_rule: Rule | None
    transpose_rule: Rule | None
    batch_rule: Rule | None
    lower_rule: Rule | None
    composite_rule: Rule | None
    show_rule: Rule | None
    stage_rule: Rule | None
    prune_rule: Rule | None
    effects_rule: Rule | None
    regroup_rule: Rule | None
    name_rule: Rule | None
    impl: Rule | None
    shard_rule: Rule | Default
    mask_rule: Rule | Default
    index_rule: Rule | Default
    wide_rule: Rule | Default
    check_rule: Rule | Default
    key_rule: Rule | Default
    discharge_rule: Rule | Default
    fusion: int
    latency: int
    recomputes: int
    cost: int | Rule
    host_cost: int
    rounds: bool
    creates_nan: bool
    cotangent_mask: int
    moves_keys: bool
    handles_keys: bool
    rewritten_by: int

    def __init__(
        self,
        name: str,
        *,
        multiple_results: bool = False,
        multilinear: bool = False,
        exact: bool | Callable[[tuple], bool] = False,
        is_higher_order: bool = False,
        samples: Sequence[Any] | Callable[[], Sequence[Any]] = (),
        family: Family = UNKNOWN,
        **answers: Any,
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.multilinear = multilinear
        self.sums = Sums.FIRST if multilinear else Sums.REFUSED
        # the NumPy reference and the executable agree bit for bit (maybe for some avals only)
        self.exact = exact
        self.is_higher_order = is_higher_order
        self.samples = samples
        self.elementwise = False
        self._abstract_cache: dict = {}
        self.entries: dict = {}  # of the evaluator: signature -> call path
        for slot in _RULES:
            setattr(self, slot, None)
        self.family = family
        for slot, answer in family.answers.items():
            setattr(self, slot, answer)
        for slot, answer in answers.items():  # overrides of the family's answers
            if slot not in SLOTS:
                raise worded(TypeError(f"a primitive has no slot {slot!r}"))
            setattr(self, slot, answer)
        # XLA inlines its jaxpr
        self.is_call = False
        # its jaxprs are loop bodies or branches, which XLA compiles as separate computations
        self.is_control = False
        # under a batch trace with a named axis: handles the axis, or returns NotImplemented
        self.batch_collective: Rule | None = None
        # the abstract rule sets the mesh axes along which results vary
        self.sets_vma = False
        # the abstract rule sets the shardings of results
        self.sets_sharding = False
        # the abstract rule sets the memory that results are in
        self.sets_memory_space = False
        # results are in the memory of the first operand, whatever the others are in
        self.keeps_memory_space = False
        # platform -> lower rule that overrides the general one
        self.lower_on: dict[str, Rule] = {}

    @property
    def samples(self) -> Sequence[Any]:
        """Operands and parameters for tests of the laws; may be set to a function that creates them."""
        if callable(self._samples):
            self._samples = self._samples()
        return self._samples

    @samples.setter
    def samples(self, samples: Sequence[Any] | Callable[[], Sequence[Any]]) -> None:
        self._samples = samples

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Set the eager evaluation rule, a function of arrays."""
        self.impl = impl
        return impl

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive to operands under the current trace."""
        found = current_trace()  # inlines `state.trace`, to save calls
        if found is None or found.thread != get_ident():
            return evaluation.evaluate(self, args, params)
        trace = found.trace
        if trace.records or found.here.origin is not None:
            return trace.process(self, args, params)
        # equations of a transformed operation inherit its source location
        here = found.here
        here.origin, here.around = capture(), here.outer
        try:
            return trace.process(self, args, params)
        finally:
            here.origin = None

    def __repr__(self) -> str:
        return self.name

    def abstract_eval(self, in_avals: tuple, params: dict) -> Any:
        """Return the aval(s) of the result(s); cached where the parameters are hashable."""
        cache = self._abstract_cache
        try:
            key = (in_avals, *params.items()) if params else in_avals
            found = cache.get(key)
        except TypeError:  # an unhashable parameter, of a primitive from another library
            return self._abstract(in_avals, params)
        if found is None:
            found = self._abstract(in_avals, params)
            if len(cache) >= _CACHE_LIMIT:
                cache.clear()
            elif not cache:
                _evaluated[self] = cache
            cache[key] = found
        settings = _thread.settings
        if settings.no_collectives and not self.is_higher_order:
            outs = found if self.multiple_results else [found]
            sharding_rules.check_no_collectives(self.name, in_avals, outs)
        if not (settings.auto_pcast or self.is_higher_order):
            sharding_rules.check_varying(self.name, in_avals)
        return found

    def _abstract(self, in_avals: tuple, params: dict) -> Any:
        """Infer the aval(s) of the result(s). A result varies along all mesh axes of the operands."""
        rule = self.rule("abstract")
        if any(type(a) is AbstractRef for a in in_avals):
            if not self.takes_references:
                raise _reference_operand(self, in_avals)
            return rule(*in_avals, **params)
        if any(a.memory_space is not avals.Space.Device for a in in_avals) and not (
            self.is_higher_order or self.sets_memory_space
        ):
            plain = tuple([a.with_memory_space(avals.Space.Device) for a in in_avals])
            out, space = self._abstract(plain, params), memory_spaces.common(self, in_avals)
            if self.multiple_results:
                return [a.with_memory_space(space) for a in out]
            return out.with_memory_space(space)
        divided = any(a.explicit_sharding is not None for a in in_avals)
        if divided and not (self.is_higher_order or self.sets_sharding):
            plain = tuple(
                [a if a.explicit_sharding is None else a.update(sharding=None) for a in in_avals]
            )
            return sharding_rules.infer(self, in_avals, self._abstract(plain, params), params)
        varying = avals.no_axes.union(*[a.vma for a in in_avals])
        if not varying:
            return rule(*in_avals, **params)
        if self.sets_vma:
            out = rule(*in_avals, **params)
            inner_jaxprs = subjaxprs(params)
            # operands vary along more axes than the inputs of the jaxpr: all results may vary
            varying -= avals.no_axes.union(
                *[a.vma for jaxpr in inner_jaxprs for a in jaxpr.in_avals]
            )
            if not inner_jaxprs or not varying:
                return out
        else:
            out = rule(*[a.with_vma(avals.no_axes) for a in in_avals], **params)
        if self.multiple_results:
            return [a.with_vma(varying | a.vma) for a in out]
        return out.with_vma(varying | out.vma)

    # For libraries that walk jaxprs: `bind` takes the parameters of an equation as they are.
    call_primitive = False
    map_primitive = False

    def get_bind_params(self, params: dict) -> dict:
        """Return the parameters with which `bind` repeats an equation."""
        return params

    def lower_for(self, platform: str) -> Callable[[Rule], Rule]:
        """Decorate the lowering rule for one platform, which overrides the general one there."""

        def set_rule(rule: Rule) -> Rule:
            self.lower_on[platform] = rule
            return rule

        return set_rule

    def rule(self, slot: str) -> Callable[..., Any]:
        """Return the rule in `slot`; raise an error that names primitive and rule without one."""
        rule = getattr(self, slot + "_rule")
        if rule is None:
            raise MissingRuleError(self.name, slot)
        return rule

    @property
    def takes_references(self) -> bool:
        """True if operands may be references."""
        return callable(self.discharge_rule)

    def effects(self, params: dict) -> frozenset:
        return self.effects_rule(**params) if self.effects_rule is not None else no_effects

    def _slot(slot: str) -> Callable[[Any, Callable], Callable]:  # type: ignore[misc]
        def define(self: Primitive, rule: Callable) -> Callable:
            setattr(self, slot, rule)
            return rule

        return define

    abstract = _slot("abstract_rule")
    reference = _slot("reference_rule")
    jvp = _slot("jvp_rule")
    linearize = _slot("linearize_rule")
    transpose = _slot("transpose_rule")
    batch = _slot("batch_rule")
    lower = _slot("lower_rule")
    composite = _slot("composite_rule")
    show = _slot("show_rule")
    stage = _slot("stage_rule")
    prune = _slot("prune_rule")
    effect = _slot("effects_rule")
    regroup = _slot("regroup_rule")
    shard = _slot("shard_rule")
    mask = _slot("mask_rule")
    index = _slot("index_rule")
    wide = _slot("wide_rule")
    check = _slot("check_rule")
    key = _slot("key_rule")
    discharge = _slot("discharge_rule")
    del _slot


def clear_cached_types() -> None:
    """Forget the types of results that primitives have computed."""
    for cache in _evaluated.values():
        cache.clear()


def _reference_operand(primitive: Primitive, in_avals: Sequence[Any]) -> errors.SagaxError:
    at = next(i for i, a in enumerate(in_avals) if type(a) is AbstractRef)
    return errors.ArgumentError(
        f"{primitive.name} got a Ref of type {in_avals[at]!r} at position {at}, where it takes an array",
        function=primitive.name,
        got=repr(in_avals[at]),
        expected="an array",
        fix="read the reference first: ref[...]",
    )


class HigherOrderPrimitive(Primitive):
    """A primitive whose jaxprs may read and write references among its operands.

    Where such a reference has a value, its `discharge` rule passes the value in, and writes the new
    one back. A trace that records does so later, and a reference from outside passes through.
    """

    __slots__ = ("entered",)

    entered: Callable[[dict], Any] | None  # parameters -> context in which its jaxprs are traced

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.entered = None

    def bind(self, *args: Any, **params: Any) -> Any:
        owned = None
        for i, a in enumerate(args):
            if type(a) is Ref:
                if owned is None:
                    owned, here = [False] * len(args), state.trace
                    _check_in_use(self, args)
                owned[i] = here is (a._trace or evaluation) and a._var is None
        if owned is not None and any(owned):
            return self.discharge_rule(args, owned, **params)  # type: ignore[operator]
        if type(state.trace).discharges and CREATE in self.effects(params):
            # references that the jaxprs create themselves
            return self.discharge_rule(args, owned or [False] * len(args), **params)  # type: ignore[operator]
        if sockets.evaluate_high is not None and type(state.trace).evaluates_high:
            found = sockets.evaluate_high(self, args, params)
            if found is not NotImplemented:
                return found
        return super().bind(*args, **params)


def _check_in_use(primitive: Primitive, args: Sequence[Any]) -> None:
    """Raise if a reference is used after it was freed."""
    for a in args:
        if type(a) is Ref and a._frozen == "free_ref":
            raise errors.ArgumentValueError(
                f"a reference is used after {a._frozen} ended its use",
                function=primitive.name,
                got=repr(a.aval),
                fix=f"do it before {a._frozen}, or create another with sagax.new_ref",
            )
