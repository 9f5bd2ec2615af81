"""A small bot on the real slack_bolt: it plays the whole story of a diagnosis."""

import base64
import json
import re
import threading
from typing import Any

from slack_bolt import Ack, App, Respond
from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler

from benchmarks.support.patience import PATIENCE
from slacksim import Slack

Json = dict[str, Any]
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class ToyBot:
    """Listeners for a command, a shortcut, buttons, a modal, mentions and replies; what it saw is in lists."""

    def __init__(self, slack: Slack, plot: bytes = PIXEL) -> None:
        config = slack.workspace.app
        self.client = WebClient(
            config.bot_token, base_url=slack.api_url, retry_handlers=[RateLimitErrorRetryHandler(max_retry_count=2)]
        )
        self.app = App(client=self.client, signing_secret=config.signing_secret)
        self.archived: list[tuple[str, str]] = []
        self.events: list[tuple[str, str]] = []
        self.wait = threading.Event()
        self.wait.set()
        self._plot = plot
        self._answered: set[str] = set()
        self._listen()

    def _listen(self) -> None:
        self.app.command("/diagnose")(self.on_command)
        self.app.shortcut("diagnose_message")(self.on_shortcut)
        self.app.action("approve")(self.on_approve)
        self.app.action("edit")(self.on_edit)
        self.app.action("reject")(self.on_reject)
        self.app.action("more")(self.on_more)
        self.app.action(re.compile("cancel|add|feedback"))(lambda ack: ack())
        self.app.view_closed("")(lambda ack: ack())
        self.app.view("archive")(self.on_submit)
        self.app.event("app_mention")(self.on_mention)
        self.app.event("message")(self.on_message)

    def on_command(self, ack: Ack, body: Json) -> None:
        """Acknowledge at once, then work."""
        self.wait.wait(PATIENCE)
        if not body["text"]:
            ack("Usage: `/diagnose JOB`. Failed last: `f02`, `f07`.")
            return
        ack()
        if body["text"] == "nowhere":
            return
        self.diagnose(body["text"], body["channel_id"], body["user_id"])

    def diagnose(self, job: str, channel: str, user: str) -> None:
        """Post progress, then edit the answer in, then plot and report in the thread."""
        posted = self.client.chat_postMessage(channel=channel, text=f"Diagnosing {job}", blocks=progress(job))
        ts = posted["ts"]
        self.client.chat_update(channel=channel, ts=ts, text=f"{job}: look at node-01", blocks=answer(job, user))
        files: list[Json] = [
            {
                "filename": "suspects.png",
                "file": self._plot,
                "title": "Suspects by node",
                "alt_txt": "node-01 stands out",
            },
            {"filename": f"{job}.html", "content": "<h1>Report</h1>", "title": f"Full report of {job}"},
        ]
        self.client.files_upload_v2(
            channel=channel, thread_ts=ts, file_uploads=files, initial_comment="Plot and full report."
        )

    def on_shortcut(self, ack: Ack, body: Json, respond: Respond) -> None:
        """Answer through the response URL."""
        ack()
        respond(f"No job id in: {body['message']['text']}")

    def on_approve(self, ack: Ack, body: Json) -> None:
        """Edit the message."""
        ack()
        self._close(body["channel"]["id"], body["message"]["ts"], body["user"]["id"], body["message"]["blocks"])

    def on_edit(self, ack: Ack, body: Json) -> None:
        """Open the modal."""
        ack()
        place = json.dumps([body["channel"]["id"], body["message"]["ts"]])
        self.client.views_open(trigger_id=body["trigger_id"], view=modal(place))

    def on_submit(self, ack: Ack, body: Json, view: Json) -> None:
        """Refuse short causes, archive the others."""
        values = view["state"]["values"]
        cause = values["cause"]["v"]["value"]
        if "node" not in cause:
            ack(response_action="errors", errors={"cause": "Name the node that is at fault."})
            return
        ack()
        self.archived.append((cause, body["user"]["id"]))
        channel, ts = json.loads(view["private_metadata"])
        found = self.client.conversations_history(channel=channel, latest=ts, inclusive=True, limit=1)
        self._close(channel, ts, body["user"]["id"], found["messages"][0]["blocks"])

    def on_reject(self, ack: Ack, respond: Respond) -> None:
        """Tell the person alone."""
        ack()
        respond("Rejected. The evidence stays.")

    def on_more(self, ack: Ack, respond: Respond, body: Json) -> None:
        """Say what was chosen."""
        ack()
        respond(f"Chosen: {body['actions'][0]['selected_option']['value']}")

    def on_mention(self, event: Json, body: Json) -> None:
        """Note it; answer outside of threads."""
        self.events.append(("app_mention", body["event_id"]))
        if "thread_ts" not in event:
            self.client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="Which job?")

    def on_message(self, event: Json, body: Json) -> None:
        """Answer replies of people once."""
        self.events.append((f"message.{event.get('subtype', '')}", body["event_id"]))
        if "bot_id" in event or "subtype" in event or event["ts"] in self._answered:
            return
        if event["channel_type"] == "im":
            self.client.chat_postMessage(channel=event["channel"], text="Hello. Ask me about a job.")
        elif "thread_ts" in event:
            self._answered.add(event["ts"])
            self._follow_up(event)

    def _follow_up(self, event: Json) -> None:
        feedback = {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": plain("Good answer"), "value": "good"},
            "negative_button": {"text": plain("Bad answer"), "value": "bad"},
        }
        words = "Unlikely. *No data loading event* was kept on any rank, and the step time was normal before [I1]."
        blocks: list[Json] = [
            {"type": "section", "text": mrkdwn(words)},
            {"type": "context_actions", "elements": [feedback]},
        ]
        self.client.chat_postMessage(
            channel=event["channel"], thread_ts=event["thread_ts"], text="Unlikely.", blocks=blocks
        )

    def _close(self, channel: str, ts: str, user: str, blocks: list[Json]) -> None:
        kept = [block for block in blocks if block["type"] != "actions"]
        done = {"type": "context", "elements": [mrkdwn(f":white_check_mark: Archived as *FP-0042* by <@{user}>")]}
        self.client.chat_update(channel=channel, ts=ts, text="Archived", blocks=[*kept, done])


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def button(action: str, text: str, **more: Any) -> Json:
    return {"type": "button", "action_id": action, "text": plain(text), "value": "run-1:1", **more}


def progress(job: str) -> list[Json]:
    lines = (
        f"*Diagnosing job {job}*\n:white_check_mark: 25 files read, 8 of 8 ranks\n"
        ":hourglass_flowing_sand: Comparing 4 nodes\n:white_circle: Writing the note"
    )
    return [{"type": "section", "text": mrkdwn(lines)}, {"type": "actions", "elements": [button("cancel", "Cancel")]}]


def answer(job: str, user: str) -> list[Json]:
    rows = [
        ("#", "Node / rank", "When", "Event"),
        (
            "E1",
            "all 4 nodes",
            "03:56:52",
            "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc] Timed out waiting 25000ms",
        ),
        ("E2", "node-01", "03:57:04", "Unable to shutdown process 8431 via 15, forcefully exiting via 9"),
        ("E3", "node-01 / 3", "03:56:43", "<script>alert('log text')</script> <!channel> last line before silence"),
    ]
    confirm = {
        "title": plain("Reject this draft?"),
        "text": plain("The evidence stays. Nothing is added to the fault library."),
        "confirm": plain("Reject"),
        "deny": plain("Keep it"),
    }
    menu = [("Run again", "rerun"), ("Show all evidence", "all"), ("Download the report", "report")]
    options = [{"text": plain(text), "value": value} for text, value in menu]
    return [
        {"type": "header", "text": plain(f"{job}: look at node-01, it went silent while the others waited")},
        {
            "type": "section",
            "text": mrkdwn(
                "*Start with `node-01`* (ranks 2-3). Rank 3 never complained; 7 of 8 ranks did, "
                "and its last word came 9.3 s before theirs."
            ),
        },
        {
            "type": "section",
            "fields": [
                mrkdwn("*Stage*\ntraining, after iteration 45"),
                mrkdwn("*Confidence*\nsupported: likely, verify before you act"),
                mrkdwn("*Suspects*\nnode-01 _(1 of 4 nodes)_"),
                mrkdwn("*Logs read*\n25 files, 1,123 lines, 8 of 8 ranks"),
                mrkdwn("*Compared with*\n2 successful jobs: s01, s03"),
                mrkdwn("*First sign*\n03:56:43, zone as in the logs"),
            ],
        },
        {"type": "divider"},
        {
            "type": "section",
            "text": mrkdwn(
                "*Draft of the root cause* _written by qwen3-32b from the evidence below, not confirmed_\n"
                "Rank 3 on `node-01` stopped inside the training loop [E2] [N1]; the other ranks waited in "
                "AllReduce until gloo gave up [E1].\n> Unable to shutdown process 8431 via 15"
            ),
        },
        {
            "type": "table",
            "column_settings": [{}, {}, {"align": "right"}, {"is_wrapped": True}],
            "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in rows],
        },
        {
            "type": "section",
            "text": mrkdwn(
                "*Confirmed faults that look like this*\n"
                "• <https://example.com/FP-0031|FP-0031> Rank hung in a driver call (0.91)\n"
                "• <https://example.com/FP-0007|FP-0007> Node lost power &amp; network (0.78)"
            ),
        },
        {
            "type": "actions",
            "elements": [
                button("approve", "Approve and archive", style="primary"),
                button("edit", "Edit draft"),
                button("reject", "Reject", style="danger", confirm=confirm),
                {"type": "overflow", "action_id": "more", "options": options},
            ],
        },
        {"type": "context", "elements": [mrkdwn(f"run `dx-7f3a91` · 3.1 s · asked by <@{user}> · reply here to ask")]},
    ]


def modal(place: str) -> Json:
    def inputs(name: str, label: str, element: Json, **more: Any) -> Json:
        return {"type": "input", "block_id": name, "label": plain(label), "element": element, **more}

    kinds = [("Hardware", "hardware"), ("Network", "network"), ("Storage", "storage"), ("Training code", "code")]
    options = [{"text": plain(text), "value": value} for text, value in kinds]
    kept = [{"text": plain(text), "value": text[:2]} for text in ("E1 Timed out", "E2 Did not stop", "E3 Last line")]
    sure = [{"text": plain(t), "value": t[:5]} for t in ("Checked on the node", "Fixed by the action", "A best guess")]
    text = {"type": "plain_text_input", "action_id": "v"}
    return {
        "type": "modal",
        "callback_id": "archive",
        "private_metadata": place,
        "notify_on_close": False,
        "title": plain("Archive fault pattern"),
        "submit": plain("Archive"),
        "close": plain("Cancel"),
        "blocks": [
            {
                "type": "section",
                "text": mrkdwn("Job `f02`. What you save is shown to others as *confirmed*, with your name."),
            },
            inputs("title", "Short title", {**text, "initial_value": "Rank hung, peers timed out", "max_length": 120}),
            inputs(
                "category",
                "Category",
                {"type": "static_select", "action_id": "v", "options": options, "initial_option": options[0]},
            ),
            inputs(
                "cause",
                "Root cause",
                {**text, "multiline": True, "min_length": 10},
                hint=plain("Your words go into the library, not the model's."),
            ),
            inputs("fix", "What fixed it", {**text, "multiline": True}, optional=True),
            inputs(
                "evidence",
                "Evidence to keep",
                {"type": "checkboxes", "action_id": "v", "options": kept, "initial_options": kept[:2]},
            ),
            inputs(
                "sure",
                "How was this confirmed?",
                {"type": "radio_buttons", "action_id": "v", "options": sure, "initial_option": sure[0]},
            ),
        ],
    }
