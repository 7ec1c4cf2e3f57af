"""Sliding-window stream joins on a fixed budget of memory and processor time."""
