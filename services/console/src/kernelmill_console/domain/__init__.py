"""What the console decides without input or output: campaign files, summaries, reports, audits."""
