"""``python -m slacksim``: the local Slack alone, for a bot that is started elsewhere."""

import argparse
import sys
import threading

from slacksim import LocalSlackError, start


def main() -> int:
    """Run until Ctrl-C; what a bot needs to connect is printed."""
    parser = argparse.ArgumentParser(prog="slacksim", description="A local Slack, on loopback only.")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: any free one)")
    parser.add_argument(
        "--attached", action="store_true", help="end with the program that holds the other end of standard input"
    )
    options = parser.parse_args()
    try:
        with start(port=options.port) as slack:
            app = slack.workspace.app
            lines = (
                f"Open in a browser:    {slack.page_url}",
                "For the bot:",
                f"  SLACK_API_URL={slack.api_url}",
                f"  SLACK_BOT_TOKEN={app.bot_token}",
                f"  SLACK_APP_TOKEN={app.app_token}",
                f"  SLACK_SIGNING_SECRET={app.signing_secret}",
            )
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()
            if options.attached:
                sys.stdin.buffer.read()
            else:
                threading.Event().wait()
    except LocalSlackError as error:
        sys.stderr.write(f"{error.message} {error.hint}\n")
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
