"""Durable subscriptions of a router: its log, the subscriptions in the switch, and the requests of clients."""
