"""What `tamis.blocking` offers."""
