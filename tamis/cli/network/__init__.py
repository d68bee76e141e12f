"""What a network is and does: its routers, what they hold, what flows."""
