"""Commands for routers as processes of this machine, and for their logs and records."""
