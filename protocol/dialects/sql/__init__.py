"""Filters in the manner of SQL's WHERE."""
