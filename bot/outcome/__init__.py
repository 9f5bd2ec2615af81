"""How a job came to its end, by its lines and its job.json: checkpoints, exit codes. Start at ``job_outcome.py``."""
