"""What a client publishes and what it is sent.

Law: pure, and below the connection: nothing here knows which router answers, or that there are two for a while.
"""
