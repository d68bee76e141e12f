"""Kept subscriptions as the router serves them: the log, the keeps in the switch, and what clients ask about them."""
