// One message of a channel or thread.

import { blocks, file } from "./blocks.js";
import { el, icon, initials, popup } from "./dom.js";
import { QUICK, emoji } from "./emoji.js";
import { mrkdwn } from "./mrkdwn.js";
import { act, member, store } from "./store.js";

const TOGETHER = 300; // seconds within which messages of one person share a head

export const clock = (ts) =>
  new Date(ts * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
export const hue = (id) => `hue-${[...id].reduce((sum, sign) => sum + sign.charCodeAt(0), 0) % 6}`;

export function avatar(id, more = "") {
  const who = member(id);
  return el(
    "span",
    { class: `avatar ${who.is_bot ? "bot" : hue(id)} ${more}`, "aria-hidden": "true" },
    who.is_bot ? icon("pulse") : initials(who.real_name),
  );
}

export function follows(before, one) {
  return (
    before &&
    before.user === one.user &&
    !before.reply_count &&
    before.only_for === one.only_for &&
    one.ts - before.ts < TOGETHER &&
    !one.blocks
  );
}

// open: shows a thread; edit: puts an own message into the composer; told: says what went wrong.
export function messageRow(one, { inThread, joined, open, edit, told }) {
  const who = member(one.user);
  const where = (action, value) =>
    act("click", { channel: one.channel, ts: one.ts, action, value }).catch((error) => told(error.message));
  const classes = ["message", joined && "joined", one.only_for && "private"].filter(Boolean);
  return el(
    "article",
    {
      class: classes.join(" "),
      id: `${inThread ? "t" : "m"}-${one.ts}`,
      data: { ts: one.ts },
      "aria-label": `${who.real_name}, ${clock(one.ts)}`,
    },
    joined ? el("time", { class: "gutter" }, clock(one.ts)) : avatar(one.user),
    el(
      "div",
      { class: "content" },
      one.only_for && el("p", { class: "only" }, icon("eye"), "Only visible to you"),
      !joined && head(who, one),
      body(one, where),
      reactions(one, told),
      !inThread && threadLink(one, open),
    ),
    !one.only_for && tools(one, { inThread, open, edit, told }),
  );
}

function head(who, one) {
  return el(
    "header",
    {},
    el("strong", {}, who.real_name),
    who.is_bot && el("span", { class: "tag" }, "App"),
    el("time", { title: new Date(one.ts * 1000).toLocaleString() }, clock(one.ts)),
  );
}

function body(one, where) {
  const shown = one.blocks?.length
    ? blocks(one.blocks, where)
    : one.text
      ? [el("div", { class: "b-text" }, mrkdwn(one.text))]
      : [];
  const edited = one.edited && !one.blocks?.length && el("span", { class: "edited" }, "(edited)");
  if (edited) shown.at(-1)?.append(" ", edited);
  const files = one.files.map((id) => store.now.files[id]).filter(Boolean);
  const text = one.files.length && one.blocks?.length && one.text ? [] : shown;
  return el(
    "div",
    { class: "body" },
    text.length ? text : shown,
    files.length > 0 && el("div", { class: "files" }, files.map(file)),
  );
}

function reactions(one, told) {
  if (!one.reactions?.length) return null;
  const chip = ({ name, users, count }) =>
    el(
      "button",
      {
        class: "chip",
        type: "button",
        "aria-pressed": String(users.includes(store.me)),
        title: users.map((user) => member(user).real_name).join(", "),
        onclick: () => react(one, name, told),
      },
      emoji(name),
      ` ${count}`,
    );
  return el("div", { class: "reactions" }, one.reactions.map(chip));
}

const react = (one, name, told) =>
  act("react", { channel: one.channel, ts: one.ts, name }).catch((error) => told(error.message));

function threadLink(one, open) {
  if (!one.reply_count) return null;
  const count = `${one.reply_count} ${one.reply_count === 1 ? "reply" : "replies"}`;
  return el(
    "button",
    { class: "thread-link", type: "button", onclick: () => open(one) },
    el(
      "span",
      { class: "faces" },
      one.reply_users.slice(0, 3).map((user) => avatar(user, "mini")),
    ),
    el("strong", {}, count),
    el("span", {}, `last at ${clock(one.latest_reply)}`),
  );
}

function tools(one, { inThread, open, edit, told }) {
  const tool = (glyph, label, run, more = {}) =>
    el(
      "button",
      { class: "icon", type: "button", "aria-label": label, title: label, onclick: run, ...more },
      icon(glyph),
    );
  const emojis = (event) =>
    popup(
      event.currentTarget,
      QUICK.map((name) => ({ label: emoji(name), run: () => react(one, name, told) })),
    );
  const own = one.user === store.me;
  const more = [
    ...store.now.shortcuts.map((shortcut) => ({
      label: shortcut.name,
      glyph: "bolt",
      run: () =>
        act("shortcut", { callback_id: shortcut.callback_id, channel: one.channel, ts: one.ts }).catch((error) =>
          told(error.message),
        ),
    })),
    own && { label: "Edit message", glyph: "edit", run: () => edit(one) },
    own && {
      label: "Delete message",
      glyph: "trash",
      run: () => act("delete", { channel: one.channel, ts: one.ts }).catch((error) => told(error.message)),
    },
  ].filter(Boolean);
  return el(
    "div",
    { class: "tools" },
    tool("smile", "Add a reaction", emojis, { "aria-haspopup": "menu" }),
    !inThread && tool("reply", "Reply in thread", () => open(one)),
    more.length > 0 &&
      tool("more", "More actions", (event) => popup(event.currentTarget, more), { "aria-haspopup": "menu" }),
  );
}
