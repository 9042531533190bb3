"""What runs programs: devices, arrays, executables."""
