"""The messages that a client publishes and receives.

Law: pure, and below the connection: nothing here knows which router answers, or that there are two during a handover.
"""
