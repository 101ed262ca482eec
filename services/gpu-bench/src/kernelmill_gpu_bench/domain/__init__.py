"""What the bench decides without touching a device: which pair comes next, and when it is enough."""
