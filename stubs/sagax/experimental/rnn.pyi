"""Run LSTM networks on batches of sequences, with weights in the order of cuDNN."""

from typing import Any

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def get_num_params_in_lstm(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> int: ...
def init_lstm_weight(
    rng: Array, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array: ...
def lstm(
    x: ArrayLike,
    h_0: ArrayLike,
    c_0: ArrayLike,
    weights: ArrayLike,
    seq_lengths: ArrayLike,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: Any = None,
) -> tuple[Array, Array, Array]: ...
def lstm_ref(
    x: ArrayLike,
    h_0: ArrayLike,
    c_0: ArrayLike,
    W_ih: dict[int, Any],
    W_hh: dict[int, Any],
    b_ih: dict[int, Any],
    b_hh: dict[int, Any],
    seq_lengths: ArrayLike,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Array, Array, Array]: ...
def swap_lstm_gates(
    weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array: ...
def unpack_lstm_weights(
    weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> tuple[dict[int, Array], dict[int, Array], dict[int, Array], dict[int, Array]]: ...
