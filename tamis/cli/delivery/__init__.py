"""Where a message goes, and why."""
