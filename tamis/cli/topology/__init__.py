"""Topology files: examples, checks, and what they become elsewhere."""
