// The field in which a person writes: grows with the text, hints at commands and names, sends with Enter.

import { el, icon } from "./dom.js";
import { unescape } from "./mrkdwn.js";
import { act, member, store } from "./store.js";

// place: () => ({channel, thread_ts}); commands only work outside of threads, as in Slack.
export function composer(form, { place, told, id, hint }) {
  let editing = null;
  let offered = [];
  let chosen = 0;
  const list = el("ul", { class: "offers", role: "listbox", id: `${id}-offers`, hidden: true });
  const field = el("textarea", {
    id,
    rows: 1,
    "aria-label": hint(),
    "aria-controls": `${id}-offers`,
    "aria-autocomplete": "list",
  });
  const note = el("p", { class: "editing", hidden: true }, "Editing a message. Enter saves, Esc leaves it as it was.");
  form.append(
    list,
    note,
    el(
      "div",
      { class: "write" },
      field,
      el("button", { class: "icon send", type: "submit", "aria-label": "Send" }, icon("send")),
    ),
  );

  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 180)}px`;
    form.classList.toggle("filled", field.value.trim() !== "");
  };
  const set = (text) => {
    field.value = text;
    offer();
    grow();
  };
  const offer = () => {
    offered = offers(field.value.slice(0, field.selectionStart), !place().thread_ts);
    chosen = 0;
    show();
  };
  const show = () => {
    list.hidden = offered.length === 0;
    field.setAttribute("aria-expanded", String(offered.length > 0));
    list.replaceChildren(
      ...offered.map((one, number) =>
        el(
          "li",
          {
            role: "option",
            "aria-selected": String(number === chosen),
            onpointerdown: (event) => (event.preventDefault(), take(one)),
          },
          el("strong", {}, one.label),
          one.hint && el("code", {}, one.hint),
          el("span", {}, one.about),
        ),
      ),
    );
  };
  const take = (one) => {
    const end = field.selectionStart;
    const start = end - one.typed.length;
    const rest = field.value.slice(end);
    field.value = `${field.value.slice(0, start)}${one.insert} ${rest}`;
    field.selectionStart = field.selectionEnd = start + one.insert.length + 1;
    offered = [];
    show();
    grow();
    field.focus();
  };
  const leave = () => {
    editing = null;
    note.hidden = true;
    set("");
  };
  const send = async () => {
    const text = field.value.trim();
    if (!text) return;
    const { channel, thread_ts } = place();
    const changed = editing;
    leave();
    try {
      if (changed) await act("edit", { channel: changed.channel, ts: changed.ts, text });
      else if (text.startsWith("/") && thread_ts)
        told(`${text.split(/\s/)[0]} does not work in threads, as in Slack. Use it in the channel.`);
      else if (text.startsWith("/")) await act("command", { channel, text });
      else await act("say", { channel, text, thread_ts });
    } catch (error) {
      told(error.message);
      set(text);
    }
  };

  form.addEventListener("submit", (event) => (event.preventDefault(), send()));
  field.addEventListener("input", () => (offer(), grow()));
  field.addEventListener("blur", () => ((offered = []), show()));
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (offered.length && step) {
      event.preventDefault();
      chosen = (chosen + step + offered.length) % offered.length;
      show();
    } else if (
      offered.length &&
      (event.key === "Tab" || (event.key === "Enter" && offered[chosen].typed !== offered[chosen].insert))
    ) {
      event.preventDefault();
      take(offered[chosen]);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && (offered.length || editing)) {
      event.stopPropagation();
      if (offered.length) ((offered = []), show());
      else leave();
    }
  });
  return {
    focus: () => field.focus(),
    refresh: () => ((field.placeholder = hint()), field.setAttribute("aria-label", hint())),
    start: (text) => (set(text), field.focus()),
    edit: (one) => {
      editing = one;
      note.hidden = false;
      set(
        unescape(
          one.text.replace(/<@(\w+)>/g, (_, user) => `@${member(user).name}`).replace(/<#\w+\|([^>]+)>/g, "#$1"),
        ),
      );
      field.focus();
    },
  };
}

function offers(before, withCommands) {
  const command = before.match(/^\/\S*$/);
  if (command && withCommands) {
    const all = [
      ...store.now.commands,
      { name: "/invite", hint: "@NAME", description: "Add somebody to this channel" },
    ];
    return all
      .filter((one) => one.name.startsWith(command[0]))
      .map((one) => ({ label: one.name, hint: one.hint, about: one.description, insert: one.name, typed: command[0] }));
  }
  const name = before.match(/(?:^|\s)@([a-z0-9._-]*)$/);
  if (!name) return [];
  return store.now.members
    .filter((one) => one.id !== "USLACKBOT" && one.name.startsWith(name[1]))
    .map((one) => ({ label: `@${one.name}`, about: one.real_name, insert: `@${one.name}`, typed: `@${name[1]}` }));
}
