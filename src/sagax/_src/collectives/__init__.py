"""Communicate along named axes: between batch elements, or between devices of a mesh."""
