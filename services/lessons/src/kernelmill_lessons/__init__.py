"""The memory of the swarm: a fold of the log that can be thrown away and rebuilt, byte for byte."""
