"""Filters in the CloudEvents SQL expression language."""
