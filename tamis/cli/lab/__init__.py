"""Commands for engines, simulations, analyses and measurements, which need no network."""
