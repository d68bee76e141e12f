"""Durable subscriptions: made, shown, replayed."""
