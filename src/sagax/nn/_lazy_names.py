"""Name what `sagax.nn` imports on first use."""

from sagax.nn import initializers as initializers
from sagax.nn.attention import dot_product_attention as dot_product_attention
from sagax.nn.scaled import get_scaled_dot_general_config as get_scaled_dot_general_config
from sagax.nn.scaled import scaled_dot_general as scaled_dot_general
from sagax.nn.scaled import scaled_matmul as scaled_matmul
