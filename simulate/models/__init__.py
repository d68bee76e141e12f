"""What papers describe, to the letter, and twins of what the C does: for tests, and for the figures of the papers."""
