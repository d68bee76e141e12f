"""Kept subscriptions of one router: what becomes of a message that a keep wants, until a consumer acknowledges it."""
