"""Provide the ready-made kernels under the names that GPUs have for them."""
