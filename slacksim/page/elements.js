// What can be clicked: buttons, menus, selects. `where(action, value)` tells the app and returns a promise.

import { ask, el, icon, popup } from "./dom.js";
import { link, textObject } from "./mrkdwn.js";
import { isDirect, store } from "./store.js";

const KINDS = {
  button,
  overflow,
  feedback_buttons: feedback,
  icon_button: (one, where) => iconButton("trash", one.text?.text ?? "Delete", () => where(one.action_id)),
};

export function element(one, block, where) {
  return KINDS[one.type] ? KINDS[one.type](one, where) : choice(one, (value) => where(one.action_id, value));
}

async function confirmed(confirm) {
  if (!confirm) return true;
  return ask({
    title: confirm.title.text,
    text: textObject(confirm.text),
    yes: confirm.confirm.text,
    no: confirm.deny.text,
    danger: confirm.style === "danger",
  });
}

async function run(node, confirm, tell) {
  if (!(await confirmed(confirm))) return;
  node.disabled = true;
  node.setAttribute("aria-busy", "true");
  try {
    await tell();
  } finally {
    node.disabled = false;
    node.removeAttribute("aria-busy");
  }
}

function button(one, where) {
  if (one.url) return linkButton(one, where);
  const node = el(
    "button",
    { class: `button ${one.style ?? ""}`, type: "button", "aria-label": one.accessibility_label },
    textObject(one.text),
  );
  const confirm = one.confirm && { style: one.style, ...one.confirm };
  node.addEventListener("click", () => run(node, confirm, () => where(one.action_id, one.value)));
  return node;
}

// Slack opens the address and tells the app of the click.
function linkButton(one, where) {
  const node = link(one.url, one.text.text);
  if (typeof node === "string") return node;
  node.className = `button ${one.style ?? ""}`;
  if (one.accessibility_label) node.setAttribute("aria-label", one.accessibility_label);
  node.addEventListener("click", () => where(one.action_id));
  return node;
}

function overflow(one, where) {
  const node = el(
    "button",
    { class: "button square", type: "button", "aria-label": "More", "aria-haspopup": "menu" },
    icon("more"),
  );
  const entries = one.options.map((option) => ({
    label: option.text.text,
    run: () => run(node, one.confirm, () => where(one.action_id, option.value)),
  }));
  node.addEventListener("click", () => popup(node, entries));
  return node;
}

function feedback(one, where) {
  const half = (side, sign) => {
    const label = one[`${side}_button`].text.text;
    const node = el(
      "button",
      { class: "button square", type: "button", "aria-label": label, title: label, "aria-pressed": "false" },
      sign,
    );
    node.addEventListener("click", async () => {
      await run(node, null, () => where(one.action_id, side));
      for (const other of node.parentNode.children) other.setAttribute("aria-pressed", String(other === node));
    });
    return node;
  };
  return el("span", { class: "feedback" }, half("positive", "👍"), half("negative", "👎"));
}

const iconButton = (glyph, label, run_) =>
  el(
    "button",
    { class: "button square", type: "button", "aria-label": label, title: label, onclick: run_ },
    icon(glyph),
  );

// Selects, checkboxes, radio buttons and pickers; onpick gets the value as the server wants it.
export function choice(one, onpick, current) {
  if (one.type === "checkboxes" || one.type === "radio_buttons") return boxes(one, onpick, current);
  if (one.type === "datepicker" || one.type === "timepicker") {
    const kind = one.type === "datepicker" ? "date" : "time";
    const value = current ?? one[`initial_${kind}`] ?? "";
    return el("input", { type: kind, value, onchange: (event) => onpick(event.target.value) });
  }
  return select(one, onpick, current);
}

export function optionsOf(one) {
  const people = () => store.now.members.filter((each) => !each.is_bot).map((each) => [each.id, each.real_name]);
  const places = () => store.now.channels.filter((each) => !isDirect(each)).map((each) => [each.id, `#${each.name}`]);
  if (one.type === "users_select") return people();
  if (one.type === "channels_select" || one.type === "conversations_select") return places();
  const all = [...(one.options ?? []), ...(one.option_groups ?? []).flatMap((group) => group.options)];
  return all.map((option) => [option.value, option.text.text]);
}

export const initialOf = (one) => {
  if (one.initial_options) return one.initial_options.map((option) => option.value);
  return (
    one.initial_option?.value ??
    one.initial_value ??
    one.initial_user ??
    one.initial_channel ??
    one.initial_conversation ??
    one.initial_date ??
    one.initial_time ??
    (one.type === "checkboxes" || one.type === "multi_static_select" ? [] : "")
  );
};

function select(one, onpick, current = initialOf(one)) {
  const many = one.type === "multi_static_select";
  const chosen = many ? current : [current];
  const node = el(
    "select",
    { multiple: many, "aria-label": one.placeholder?.text },
    !many && el("option", { value: "" }, one.placeholder?.text ?? "Choose"),
    optionsOf(one).map(([value, label]) => el("option", { value, selected: chosen.includes(value) }, label)),
  );
  const picked = () => (many ? [...node.selectedOptions].map((option) => option.value) : node.value);
  node.addEventListener("change", () => onpick(picked()));
  return node;
}

function boxes(one, onpick, current = initialOf(one)) {
  const many = one.type === "checkboxes";
  const name = `boxes-${Math.random()}`;
  const node = el(
    "div",
    { class: "boxes", role: many ? "group" : "radiogroup" },
    one.options.map((option) =>
      el(
        "label",
        {},
        el("input", {
          type: many ? "checkbox" : "radio",
          name,
          value: option.value,
          checked: many ? current.includes(option.value) : current === option.value,
        }),
        el("span", {}, textObject(option.text), option.description && el("small", {}, textObject(option.description))),
      ),
    ),
  );
  node.addEventListener("change", () => {
    const values = [...node.querySelectorAll("input:checked")].map((box) => box.value);
    onpick(many ? values : values[0]);
  });
  return node;
}
