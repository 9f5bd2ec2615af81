"""``firstfault check``: what answers of jobs, library, model and Slack."""
