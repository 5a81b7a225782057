"""What tells the cases of a run apart."""
