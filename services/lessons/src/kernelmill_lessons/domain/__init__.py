"""What is learned from events, as pure folds and pure summaries: no clock, no blobs, no I/O."""
