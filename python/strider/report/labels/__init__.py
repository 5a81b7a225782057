"""What distinguishes the cases of a run."""
