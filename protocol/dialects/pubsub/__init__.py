"""Filters of Google Cloud Pub/Sub subscriptions."""
