"""The page: every figure in it is that of a table, and its sentences and plots are those of the simulator's account."""

from __future__ import annotations
