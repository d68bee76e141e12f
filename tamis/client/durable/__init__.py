"""Kept subscriptions as a client sees them: attachments, acknowledgements, and the terms of a keep.

Law: pure; stands on `messages`.
"""
