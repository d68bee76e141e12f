"""How commands reach routers: contexts, addresses, administration, spaces."""
