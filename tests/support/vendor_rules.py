"""The rules of detect-secrets that the bot takes over, as text for bot/outgoing/vendors.toml."""

import re
from importlib import import_module

import tomli_w

HEADER = """\
# Keys of vendors: rules of detect-secrets, https://github.com/Yelp/detect-secrets, Apache License 2.0.
# Written by: pytest tests/bot/outgoing/test_vendors.py --update-golden

"""
# Left out: aws (its ACCA... strikes hashes in capitals; ours has edges), jwt, npm, openai and ibm_cloud_iam
# (quadratic), artifactory (its AP... strikes words in capitals), keyword, high_entropy_strings and ip_public (they
# strike ordinary lines), private_key and basic_auth (ours take the whole).
DETECTORS = (
    "azure_storage_key.AzureStorageKeyDetector", "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector", "gitlab_token.GitLabTokenDetector", "mailchimp.MailchimpDetector",
    "pypi_token.PypiTokenDetector", "sendgrid.SendGridDetector", "slack.SlackDetector",
    "square_oauth.SquareOAuthDetector", "stripe.StripeDetector", "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)  # fmt: skip


def rules_of_the_library() -> str:
    """As TOML."""
    rules = [
        {
            "kind": detector.secret_type,
            "regex": _ungrouped(pattern.pattern),
            "any_case": bool(pattern.flags & re.IGNORECASE),
        }
        for detector in map(_detector, DETECTORS)
        for pattern in detector.denylist
    ]
    return HEADER + tomli_w.dumps({"rule": rules})


def _detector(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 the library's own class of plugins
    module, _, kind = name.partition(".")
    return getattr(import_module(f"detect_secrets.plugins.{module}"), kind)()


def _ungrouped(regex: str) -> str:
    """Without groups that capture, so that all rules can stand in one pattern."""
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", regex)
