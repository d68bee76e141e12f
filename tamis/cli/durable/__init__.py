"""Commands that make, show and replay durable subscriptions."""
