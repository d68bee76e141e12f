"""Tamis: a content-based network."""
