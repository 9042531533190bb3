"""Plan checkpoints of long runs: how often something fails, how often to save, what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sagax._plan.report import duration
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.diagnostics.wording import in_users_language as say

# 419 unexpected interruptions of 16,384 H100 in 54 days: "The Llama 3 Herd of Models", arXiv:2407.21783,
# section 3.3.4.
HOURS_BETWEEN_FAILURES_OF_A_CHIP = 16384 * 54 * 24 / 419


@dataclass(frozen=True)
class FailurePlan:
    """Failures of a run, and when to save. All times are in seconds.

    `between_failures` is the mean time between failures of the whole machine, `young` and `daly` are the best
    intervals between checkpoints by the formulas of these authors, and `efficiency` is the share of the time
    that goes into steps that count, with the interval `daly`.
    """

    devices: int
    between_failures: float
    save: float
    restart: float
    young: float
    daly: float
    efficiency: float
    steps: int | None  # between checkpoints, if the duration of a step is known

    def __str__(self) -> str:
        return say(
            "{devices} devices fail every {between}; save for {save} every {daly}{steps} (Young: {young}); "
            "{efficiency} of the time goes into steps that count",
            devices=f"{self.devices:,}",
            between=_hours(self.between_failures),
            save=duration(self.save),
            daly=_hours(self.daly),
            steps=say(", every {count} steps", count=f"{self.steps:,}") if self.steps else "",
            young=_hours(self.young),
            efficiency=f"{self.efficiency:.1%}",
        )


def plan_failures(
    devices: int,
    *,
    save_seconds: float | None = None,
    checkpoint_bytes: float | None = None,
    storage_bandwidth: float = 2e9,
    restart_seconds: float = 600.0,
    step_seconds: float | None = None,
    chip_hours: float = HOURS_BETWEEN_FAILURES_OF_A_CHIP,
) -> FailurePlan:
    """Return when to save, from the duration of a save, or the size of the checkpoint."""
    if save_seconds is None:
        if checkpoint_bytes is None:
            raise ArgumentValueError(
                function="plan.failures",
                argument="save_seconds",
                got=None,
                expected="the seconds that a checkpoint takes, or checkpoint_bytes with storage_bandwidth",
            )
        save_seconds = checkpoint_bytes / storage_bandwidth
    for name, value in (
        ("devices", devices),
        ("save_seconds", save_seconds),
        ("chip_hours", chip_hours),
    ):
        if not value > 0:
            raise ArgumentValueError(
                function="plan.failures", argument=name, got=value, expected="a positive number"
            )
    mean = chip_hours * 3600 / devices
    young = math.sqrt(2 * save_seconds * mean)
    daly = daly_interval(save_seconds, mean)
    steps = None
    if step_seconds is not None:
        steps = max(1, round(daly / step_seconds))
    return FailurePlan(
        devices,
        mean,
        save_seconds,
        restart_seconds,
        young,
        daly,
        efficiency(daly, save_seconds, restart_seconds, mean),
        steps,
    )


def daly_interval(save: float, mean: float) -> float:
    """Return the interval between checkpoints that wastes least, if failures are independent.

    J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006,
    equation 37.

    >>> round(daly_interval(60.0, 6 * 3600.0))
    1570
    """
    if save >= 2 * mean:
        return mean
    ratio = save / (2 * mean)
    return math.sqrt(2 * save * mean) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def efficiency(interval: float, save: float, restart: float, mean: float) -> float:
    """Return the share of the time that goes into work, by Daly's complete model."""
    exponent = (interval + save) / mean
    if exponent > 500:
        return 0.0
    return interval / (mean * math.exp(restart / mean) * math.expm1(exponent))


def _hours(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.3g} s"
