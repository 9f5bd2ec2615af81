// The page: draws what the server says, and keeps what is already drawn.

import { composer } from "./composer.js";
import { el, icon } from "./dom.js";
import { drawHome, tabs } from "./home.js";
import { avatar, follows, messageRow } from "./message.js";
import { drawModal } from "./modal.js";
import { act, actAs, begin, called, channel, fileUrl, isDirect, message, store } from "./store.js";

const $ = (id) => document.getElementById(id);
const view = { channel: "", thread: "", atHome: false, seen: {} };
const drawn = { log: new Map(), "thread-log": new Map() };
let toastTimer = 0;

const told = (words) => {
  $("toast").textContent = words;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => ($("toast").hidden = true), 6000);
};

const hint = () => {
  const one = store.now && channel(view.channel);
  return one ? `Message ${called(one).replace("# ", "#")}` : "Message";
};

const writer = composer($("composer-form"), { id: "composer", told, place: () => ({ channel: view.channel }), hint });
const replier = composer($("thread-form"), {
  id: "reply",
  told,
  place: () => ({ channel: view.channel, thread_ts: view.thread }),
  hint: () => "Reply",
});

function draw() {
  if (!channel(view.channel)) view.channel = store.now.channels[0].id;
  if (view.thread && !message(view.channel, view.thread)) view.thread = "";
  document.title = `${channel(view.channel).name} · ${store.now.workspace.name}`;
  drawSide();
  drawBar();
  drawTabs();
  drawLog();
  drawThread();
  drawModal(told);
}

function drawSide() {
  $("team").textContent = store.now.workspace.name;
  const row = (one) => {
    const news = store.now.messages.filter(
      (each) => each.channel === one.id && each.user !== store.me && +each.ts > (view.seen[one.id] ?? 0),
    ).length;
    const here = one.id === view.channel;
    return el(
      "button",
      {
        class: "place",
        type: "button",
        "aria-current": here && "page",
        data: { place: one.id },
        onclick: () => go(one.id),
      },
      one.is_im
        ? avatar(store.now.app.user, "mini")
        : el("span", { class: "hash", "aria-hidden": "true" }, one.is_mpim ? `${one.name.split(", ").length}` : "#"),
      el("span", { class: "place-name" }, one.name),
      !here && news > 0 && el("span", { class: "news", "aria-label": `${news} new` }, String(news)),
    );
  };
  const group = (title, all) => all.length > 0 && [el("h2", {}, title), all.map(row)];
  const apps = store.now.channels.filter((one) => one.is_im);
  const groups = store.now.channels.filter((one) => one.is_mpim);
  const rooms = store.now.channels.filter((one) => !isDirect(one));
  const all = [group("Channels", rooms), group("Direct messages", groups), group("Apps", apps)];
  $("channels").replaceChildren(...all.flat(9).filter(Boolean));
  const { name, connected } = store.now.app;
  $("app-state").className = `app-state ${connected ? "on" : "off"}`;
  $("app-state").textContent = connected ? `${name} is connected` : `${name} is not connected`;
}

function drawBar() {
  const one = channel(view.channel);
  $("title").textContent = called(one);
  $("topic").textContent = one.is_im ? "Direct messages with the app" : one.is_mpim ? "Direct messages of a few" : one.topic;
  $("topic").title = $("topic").textContent;
  const people = store.now.members.filter((each) => !each.is_bot);
  const short = matchMedia("(max-width: 720px)").matches;
  const label = (each) => (each.title && !short ? `${each.real_name}, ${each.title}` : each.real_name);
  if (people.some((each, number) => $("me").options[number]?.text !== label(each)))
    $("me").replaceChildren(...people.map((each) => el("option", { value: each.id }, label(each))));
  $("me").value = store.me;
  writer.refresh();
  replier.refresh();
}

function drawTabs() {
  const app = channel(view.channel).is_im;
  const atHome = app && view.atHome;
  $("tabs").hidden = !app;
  $("home").hidden = !atHome;
  $("log").hidden = $("composer-form").hidden = atHome;
  if (app && $("tabs").dataset.at !== String(atHome)) {
    $("tabs").dataset.at = String(atHome);
    $("tabs").replaceChildren(...tabs(atHome, turn));
  }
  if (atHome) drawHome($("home"), told);
}

function turn(home) {
  view.atHome = home;
  act("open_home", { tab: home ? "home" : "messages" }).catch((error) => told(error.message));
  draw();
}

function drawLog() {
  const all = store.now.messages.filter((one) => one.channel === view.channel && !one.is_reply);
  const nodes = [welcome(all.length)];
  let before = null;
  for (const one of all) {
    if (!before || day(before.ts) !== day(one.ts)) nodes.push(el("div", { class: "day" }, el("span", {}, day(one.ts))));
    nodes.push(row("log", one, { joined: follows(before, one) }));
    nodes.push(...status(one.ts));
    before = one;
  }
  fill("log", nodes, view.channel);
  view.seen[view.channel] = Math.max(
    0,
    ...store.now.messages.filter((one) => one.channel === view.channel).map((one) => +one.ts),
  );
}

function drawThread() {
  const parent = view.thread && message(view.channel, view.thread);
  $("thread").hidden = !parent;
  document.body.classList.toggle("with-thread", Boolean(parent));
  if (!parent) return;
  const replies = store.now.messages.filter(
    (one) => one.channel === view.channel && one.thread_ts === view.thread && one.is_reply,
  );
  const count = replies.length ? `${replies.length} ${replies.length === 1 ? "reply" : "replies"}` : "No replies yet";
  $("thread-place").textContent = called(channel(view.channel));
  const nodes = [row("thread-log", parent, { inThread: true }), el("div", { class: "day" }, el("span", {}, count))];
  replies.forEach((one, number) =>
    nodes.push(row("thread-log", one, { inThread: true, joined: follows(replies[number - 1], one) })),
  );
  fill("thread-log", [...nodes, ...status(view.thread)], view.thread);
}

// A row that has not changed stays the node that it is: focus, selection and scrolling survive.
function row(log, one, look) {
  const files = one.files.map((id) => store.now.files[id]);
  const key = JSON.stringify([one, look, store.me, files, store.now.shortcuts]);
  const old = drawn[log].get(one.ts);
  if (old?.key === key) return old.node;
  const node = messageRow(one, { ...look, open, edit: look.inThread ? replier.edit : writer.edit, told });
  drawn[log].set(one.ts, { key, node });
  return node;
}

function fill(log, nodes, of) {
  const box = $(log);
  const moved = box.dataset.of !== of;
  const atEnd = moved || box.scrollHeight - box.scrollTop - box.clientHeight < 80;
  box.dataset.of = of;
  const wanted = new Set(nodes);
  for (const child of [...box.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach(
    (node, number) => box.childNodes[number] !== node && box.insertBefore(node, box.childNodes[number] ?? null),
  );
  if (atEnd) toEnd(box);
  for (const image of box.querySelectorAll("img"))
    if (!image.complete) image.addEventListener("load", () => atEnd && toEnd(box), { once: true });
}

const toEnd = (box) => (box.scrollTop = box.scrollHeight);

function status(ts) {
  const found = store.now.statuses.find((one) => one.channel === view.channel && one.thread_ts === ts);
  return found
    ? [
        el(
          "p",
          { class: "status" },
          el("span", { class: "dots" }, el("i"), el("i"), el("i")),
          `${store.now.app.name} ${found.text}`,
        ),
      ]
    : [];
}

function welcome(count) {
  const one = channel(view.channel);
  const words = one.is_im
    ? `Ask ${one.name} here, or run a command. Nobody else sees it.`
    : one.topic || (count ? "" : "Nothing was said here yet.");
  const offered = store.now.commands.flatMap(({ name, hint, examples }) =>
    examples.length ? examples.map((each) => [`${name} ${each}`, each]) : [[`${name} `, hint]],
  );
  const start = ([text, label]) =>
    el(
      "button",
      { class: "button", type: "button", onclick: () => writer.start(text) },
      icon("bolt"),
      `Try ${text.split(" ")[0]} ${label}`,
    );
  const suggested = store.now.prompts[one.id] ?? [];
  const ask = ({ title, message: text }) =>
    el(
      "button",
      {
        class: "button",
        type: "button",
        onclick: () => act("say", { channel: one.id, text }).catch((error) => told(error.message)),
      },
      title,
    );
  return el(
    "div",
    { class: `welcome${count ? " small" : ""}` },
    el("h2", {}, called(one)),
    el("p", {}, words),
    !count && el("div", { class: "b-actions" }, suggested.length ? suggested.map(ask) : offered.map(start)),
  );
}

function day(ts) {
  const date = new Date(ts * 1000);
  const today = date.toDateString() === new Date().toDateString();
  return today ? "Today" : date.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}

function go(where, thread = "") {
  view.channel = where;
  view.thread = thread;
  view.atHome = false;
  if (channel(where)?.is_im) act("open_home", { tab: "messages" }).catch((error) => told(error.message));
  sidebar(false);
  draw();
  if (matchMedia("(hover: hover)").matches) (thread ? replier : writer).focus();
}

function open(one) {
  view.thread = one.thread_ts ?? one.ts;
  drawThread();
  if (matchMedia("(hover: hover)").matches) replier.focus();
}

function closeThread() {
  view.thread = "";
  draw();
}

function sidebar(shown) {
  document.body.classList.toggle("with-side", shown);
  $("veil").hidden = !shown;
  $("menu").setAttribute("aria-expanded", String(shown));
}

function preview(one) {
  const url = fileUrl(one);
  const shown = one.mimetype.startsWith("image/")
    ? el("img", { src: url, alt: one.alt_txt || one.title })
    : el("iframe", { src: url, title: one.title, sandbox: "allow-scripts" });
  const dialog = el(
    "dialog",
    { class: "sheet preview", "aria-label": one.title, onclose: () => dialog.remove() },
    el(
      "header",
      {},
      el("h2", {}, one.title),
      el(
        "a",
        { class: "icon", href: url, target: "_blank", rel: "noopener noreferrer", "aria-label": "Open in a new tab" },
        icon("open"),
      ),
      el(
        "button",
        { class: "icon", type: "button", "aria-label": "Close", onclick: () => dialog.close() },
        icon("close"),
      ),
    ),
    el("div", { class: "preview-body" }, shown),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function follow(event) {
  const link = event.target.closest("a[data-ts]");
  const file = event.target.closest("button[data-file]");
  if (file) preview(store.now.files[file.dataset.file]);
  if (!link) return;
  event.preventDefault();
  const found = message(link.dataset.channel, link.dataset.ts);
  if (!found) return told("That message is not here any more.");
  go(found.channel, found.is_reply ? found.thread_ts : "");
  const node = $(`${found.is_reply ? "t" : "m"}-${found.ts}`);
  node?.scrollIntoView({ block: "center" });
  node?.classList.add("found");
  setTimeout(() => node?.classList.remove("found"), 2000);
}

$("menu").append(icon("menu"));
$("close-thread").append(icon("close"));
$("menu").addEventListener("click", () => sidebar(true));
$("veil").addEventListener("click", () => sidebar(false));
$("close-thread").addEventListener("click", closeThread);
$("me").addEventListener("change", (event) => actAs(event.target.value));
document.addEventListener("click", follow);
document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") (sidebar(false), view.thread && (closeThread(), writer.focus()));
  const writing = /^(TEXTAREA|INPUT|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && !writing) (event.preventDefault(), writer.start("/"));
});
store.onchange = draw;
store.onlost = () => told("The local Slack does not answer. Is it still running?");
begin().catch((error) => told(error.message));
