"""Asks the lessons service for what the swarm has learned."""

_ASK_SECONDS = 10.0
_REBUILD_SECONDS = 600.0
