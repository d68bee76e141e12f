"""Engines, simulations, analyses and measurements, without a network of one's own."""
