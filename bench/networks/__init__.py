"""What a network costs its routers as it grows, and whether it keeps its promises while its parts fail."""
