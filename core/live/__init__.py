"""A job that still runs: lines in as they come, findings out; pure, with the caller's clock."""
