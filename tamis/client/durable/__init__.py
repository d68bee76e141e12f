"""Durable subscriptions in the client: consumers, acknowledgements and policies.

Law: pure; imports from `messages`.
"""
