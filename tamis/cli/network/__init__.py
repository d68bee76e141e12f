"""Commands that show the state and traffic of a network."""
