"""Owns a device and times candidates on it against baselines and champions."""
