"""Present jaxprs with and without the values of their constants as one class, as jax 0.12 does."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sagax._src.core import jaxpr as _jaxpr
from sagax._src.core.jaxpr import DebugInfo, Eqn, Var, no_debug_info

if TYPE_CHECKING:
    from sagax._src.core.jaxpr import ClosedJaxpr as ClosedJaxpr
    from sagax._src.core.jaxpr import Jaxpr as Jaxpr
else:

    class Jaxpr(ABC):  # noqa: B024 - it is there for `isinstance`
        """A jaxpr: inputs, equations in order, outputs, and perhaps the values of its constants.

        Both classes of `sagax._src.core.jaxpr` are subclasses, so that `isinstance` and dispatch by class give
        what they give on jax, which has one class.

        Args:
          constvars: the variables of constants; or a jaxpr, which gets the values `invars`, as in older releases.
          invars, outvars, eqns: inputs, outputs, equations.
          effects: default: those of the equations.
          debug_info: names of the function and its arguments.
          consts: the values of `constvars`, if they are known.

        >>> from sagax.extend import core
        >>> jaxpr = sagax.make_jaxpr(lambda x: x + 1)(2)
        >>> isinstance(jaxpr, core.Jaxpr), isinstance(jaxpr.jaxpr, core.Jaxpr)
        (True, True)
        """

        def __new__(
            cls,
            constvars: Sequence[Var] | _jaxpr.Jaxpr | _jaxpr.ClosedJaxpr,
            invars: Sequence[Any] | None = None,
            outvars: Sequence[Any] | None = None,
            eqns: Sequence[Eqn] | None = None,
            effects: frozenset | None = None,
            debug_info: DebugInfo | None = None,
            is_high: bool = False,
            consts: Sequence[Any] | None = None,
        ) -> Any:
            """Return an instance of one of the two classes."""
            if isinstance(constvars, _jaxpr.Jaxpr | _jaxpr.ClosedJaxpr):
                given = consts if invars is None else invars
                return constvars.with_consts(constvars.consts if given is None else given)
            parts = [invars or (), outvars or (), eqns or ()]
            opened = _jaxpr.Jaxpr(constvars, *parts, effects or None, debug_info or no_debug_info)
            return opened if consts is None else opened.with_consts(consts)

    Jaxpr.register(_jaxpr.Jaxpr)
    Jaxpr.register(_jaxpr.ClosedJaxpr)
    ClosedJaxpr = Jaxpr

__all__ = ["ClosedJaxpr", "Jaxpr"]
