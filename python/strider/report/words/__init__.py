"""What a run says, in sentences."""
