"""The sections of a topology file, a model each: what may be set for a network, for a router and for a link."""
