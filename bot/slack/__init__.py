"""What the bot says in Slack: values in, plain dicts of Block Kit out; no client, no network, no clock."""
