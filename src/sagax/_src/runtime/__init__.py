"""Run executables: devices, arrays, buffers."""
