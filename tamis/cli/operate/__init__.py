"""Routers as processes of this machine: up, down, restarted, and what they write down."""
