"""Filters of AWS that are patterns in JSON: events of EventBridge, messages of SNS."""
