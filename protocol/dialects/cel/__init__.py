"""Conditions in the Common Expression Language."""
