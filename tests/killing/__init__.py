"""Streaming joins that are killed and started again, and what is left of them."""
