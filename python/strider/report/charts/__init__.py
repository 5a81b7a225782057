"""Choice of charts: from summaries of a run to figures with captions."""
