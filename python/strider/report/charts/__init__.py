"""What is drawn when, from summaries of a run to figures with captions."""
