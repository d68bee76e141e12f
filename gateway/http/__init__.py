"""Requests and answers of the gateway.

surface.py     the table of routes, and what is checked before each
callers.py     who makes a request
queries.py     the query of a request, checked
messages.py    POST /v1/messages: one message
lines_in.py    POST /v1/messages: a stream of messages, one a line
streams.py     GET /v1/messages: a stream of deliveries
"""
