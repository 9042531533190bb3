"""Define the errors that sagax raises.

All but `JaxRuntimeError`, which the engine raises, derive from `SagaxError` and from the builtin
that people expect, such as TypeError.

>>> from sagax import errors
>>> issubclass(errors.TracerBoolConversionError, TypeError)
True
"""

from sagax._autojit.errors import AutojitError, AutojitWarning
from sagax._src.api.donation import DonationError
from sagax._src.api.guards import StaleValueError
from sagax._src.api.resharding import ConstraintError
from sagax._src.core.dtypes import DtypeTruncationWarning
from sagax._src.core.primitive import MissingRuleError
from sagax._src.core.shardings import (
    DuplicateSpecError,
    IndivisibleError,
    ShardingError,
    ShardingTypeError,
)
from sagax._src.core.trace import UnboundAxisError
from sagax._src.diagnostics.cautions import (
    AmbiguousAxesWarning,
    AsyncTimingWarning,
    BroadcastWarning,
    CapturedConstantWarning,
    DonationWarning,
    HostSyncWarning,
    ImpureTraceWarning,
    IntegerOverflowWarning,
    LostUpdateWarning,
    NaNGradientWarning,
    NaNWarning,
    OutOfBoundsIndexWarning,
    PrecisionLossWarning,
    RecompilationWarning,
    SideEffectWarning,
    StaleValueWarning,
    UnrolledLoopWarning,
    UnusedResultWarning,
    ZeroGradientWarning,
)
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    ConcretizationTypeError,
    DtypeError,
    InconclusiveDimensionOperation,
    JAXIndexError,
    JaxprTypeError,
    JAXTypeError,
    KeyReuseError,
    LeakedTraceError,
    NonConcreteBooleanIndexError,
    NonFiniteError,
    NotAnArrayError,
    SagaxError,
    ShapeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TreeError,
    TypePromotionError,
    UnexpectedTracerError,
)
from sagax._src.primitives.resharding import MissingMeshError
from sagax._src.runtime.array import DeletedArrayError, NonAddressableError
from sagax._src.runtime.callback_deadlock import CallbackDeadlockError
from sagax._src.runtime.commit_sites import DeviceConflictError
from sagax._src.runtime.device_errors import DeviceFaultError, OutOfMemoryError
from sagax._src.runtime.devices import BackendError
from sagax._src.runtime.distributed.process import DistributedError
from sagax._src.runtime.forks import ForkError
from sagax._src.runtime.transfer_guard import DisallowedTransferError
from sagax._src.xla import EngineError as JaxRuntimeError
