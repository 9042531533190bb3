"""Define the errors that sagax raises."""

from sagax._autojit.errors import AutojitError as AutojitError
from sagax._autojit.errors import AutojitWarning as AutojitWarning
from sagax._src.api.donation import DonationError as DonationError
from sagax._src.api.guards import StaleValueError as StaleValueError
from sagax._src.api.resharding import ConstraintError as ConstraintError
from sagax._src.core.dtypes import DtypeTruncationWarning as DtypeTruncationWarning
from sagax._src.core.primitive import MissingRuleError as MissingRuleError
from sagax._src.core.shardings import DuplicateSpecError as DuplicateSpecError
from sagax._src.core.shardings import IndivisibleError as IndivisibleError
from sagax._src.core.shardings import ShardingError as ShardingError
from sagax._src.core.shardings import ShardingTypeError as ShardingTypeError
from sagax._src.core.trace import UnboundAxisError as UnboundAxisError
from sagax._src.diagnostics.base import SagaxError as SagaxError
from sagax._src.diagnostics.cautions import AmbiguousAxesWarning as AmbiguousAxesWarning
from sagax._src.diagnostics.cautions import AsyncTimingWarning as AsyncTimingWarning
from sagax._src.diagnostics.cautions import BroadcastWarning as BroadcastWarning
from sagax._src.diagnostics.cautions import CapturedConstantWarning as CapturedConstantWarning
from sagax._src.diagnostics.cautions import DonationWarning as DonationWarning
from sagax._src.diagnostics.cautions import HostSyncWarning as HostSyncWarning
from sagax._src.diagnostics.cautions import ImpureTraceWarning as ImpureTraceWarning
from sagax._src.diagnostics.cautions import IntegerOverflowWarning as IntegerOverflowWarning
from sagax._src.diagnostics.cautions import LostUpdateWarning as LostUpdateWarning
from sagax._src.diagnostics.cautions import NaNGradientWarning as NaNGradientWarning
from sagax._src.diagnostics.cautions import NaNWarning as NaNWarning
from sagax._src.diagnostics.cautions import OutOfBoundsIndexWarning as OutOfBoundsIndexWarning
from sagax._src.diagnostics.cautions import PrecisionLossWarning as PrecisionLossWarning
from sagax._src.diagnostics.cautions import RecompilationWarning as RecompilationWarning
from sagax._src.diagnostics.cautions import SideEffectWarning as SideEffectWarning
from sagax._src.diagnostics.cautions import StaleValueWarning as StaleValueWarning
from sagax._src.diagnostics.cautions import UnrolledLoopWarning as UnrolledLoopWarning
from sagax._src.diagnostics.cautions import UnusedResultWarning as UnusedResultWarning
from sagax._src.diagnostics.cautions import ZeroGradientWarning as ZeroGradientWarning
from sagax._src.diagnostics.errors import ArgumentError as ArgumentError
from sagax._src.diagnostics.errors import ArgumentValueError as ArgumentValueError
from sagax._src.diagnostics.errors import ConcretizationTypeError as ConcretizationTypeError
from sagax._src.diagnostics.errors import DtypeError as DtypeError
from sagax._src.diagnostics.errors import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)
from sagax._src.diagnostics.errors import JAXIndexError as JAXIndexError
from sagax._src.diagnostics.errors import JaxprTypeError as JaxprTypeError
from sagax._src.diagnostics.errors import JAXTypeError as JAXTypeError
from sagax._src.diagnostics.errors import KeyReuseError as KeyReuseError
from sagax._src.diagnostics.errors import LeakedTraceError as LeakedTraceError
from sagax._src.diagnostics.errors import (
    NonConcreteBooleanIndexError as NonConcreteBooleanIndexError,
)
from sagax._src.diagnostics.errors import NonFiniteError as NonFiniteError
from sagax._src.diagnostics.errors import NotAnArrayError as NotAnArrayError
from sagax._src.diagnostics.errors import ShapeError as ShapeError
from sagax._src.diagnostics.errors import TracerArrayConversionError as TracerArrayConversionError
from sagax._src.diagnostics.errors import TracerBoolConversionError as TracerBoolConversionError
from sagax._src.diagnostics.errors import (
    TracerIntegerConversionError as TracerIntegerConversionError,
)
from sagax._src.diagnostics.errors import TreeError as TreeError
from sagax._src.diagnostics.errors import TypePromotionError as TypePromotionError
from sagax._src.diagnostics.errors import UnexpectedTracerError as UnexpectedTracerError
from sagax._src.primitives.resharding import MissingMeshError as MissingMeshError
from sagax._src.runtime.array import DeletedArrayError as DeletedArrayError
from sagax._src.runtime.array import NonAddressableError as NonAddressableError
from sagax._src.runtime.callback_deadlock import CallbackDeadlockError as CallbackDeadlockError
from sagax._src.runtime.commit_sites import DeviceConflictError as DeviceConflictError
from sagax._src.runtime.device_errors import DeviceFaultError as DeviceFaultError
from sagax._src.runtime.device_errors import OutOfMemoryError as OutOfMemoryError
from sagax._src.runtime.devices import BackendError as BackendError
from sagax._src.runtime.distributed.process import DistributedError as DistributedError
from sagax._src.runtime.forks import ForkError as ForkError
from sagax._src.runtime.transfer_guard import DisallowedTransferError as DisallowedTransferError
from sagax._src.xla.engine import EngineError as _JaxRuntimeError

JaxRuntimeError = _JaxRuntimeError
