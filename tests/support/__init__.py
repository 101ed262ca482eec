"""Events and histories for tests."""
