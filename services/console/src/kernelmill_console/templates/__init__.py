"""Files that an export copies as they are."""
