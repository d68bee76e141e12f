"""The sections of a topology file: a model for each, with the keys of a network, a router and a link."""
