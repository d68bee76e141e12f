"""Commands that show where a message goes, and why."""
