// The modal on top: what the app sent, with inputs, inline errors, Submit and Cancel.

import { blocks } from "./blocks.js";
import { el, icon } from "./dom.js";
import { choice, initialOf } from "./elements.js";
import { textObject } from "./mrkdwn.js";
import { act, store } from "./store.js";

let dialog = null;
let shown = ""; // id and hash of the view that the dialog shows
let values = {}; // what was entered, by block id

export function drawModal(told) {
  const view = store.now.modal;
  if (!view) {
    values = {};
    shown = "";
    dialog?.remove();
    dialog = null;
    return;
  }
  if (shown.split(" ")[0] !== view.id) values = {};
  if (shown !== `${view.id} ${view.hash}`) build(view, told);
  showErrors(view);
}

function build(view, told) {
  const scrolled = dialog?.querySelector(".sheet-body").scrollTop ?? 0;
  dialog?.remove();
  shown = `${view.id} ${view.hash}`;
  const where = (action, value) =>
    act("click_in_modal", { action, value, values }).catch((error) => told(error.message));
  const cancel = () => act("cancel").catch(() => {});
  dialog = el(
    "dialog",
    { class: "sheet", "aria-labelledby": "sheet-title", oncancel: (event) => (event.preventDefault(), cancel()) },
    el(
      "form",
      { novalidate: true, onsubmit: (event) => submit(event, told) },
      el(
        "header",
        {},
        el("h2", { id: "sheet-title" }, textObject(view.title)),
        el("button", { class: "icon", type: "button", "aria-label": "Close", onclick: cancel }, icon("close")),
      ),
      el(
        "div",
        { class: "sheet-body" },
        el("p", { class: "trouble", role: "alert", hidden: true }),
        view.blocks.map((block) => (block.type === "input" ? input(block, where) : blocks([block], where))),
      ),
      el(
        "footer",
        {},
        el(
          "button",
          { class: "button", type: "button", onclick: cancel },
          view.close ? textObject(view.close) : "Cancel",
        ),
        view.submit &&
          el(
            "button",
            { class: "button primary", type: "submit", disabled: view.submit_disabled === true },
            textObject(view.submit),
          ),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector(".sheet-body").scrollTop = scrolled;
  dialog.querySelector(".field input, .field textarea, .field select")?.focus();
}

function input(block, where) {
  const element = block.element;
  const id = `in-${block.block_id}`;
  values[block.block_id] ??= initialOf(element);
  const pick = (value) => {
    values[block.block_id] = value;
    if (block.dispatch_action && element.type !== "plain_text_input") where(element.action_id, value);
  };
  const control = writer(element, values[block.block_id], pick) ?? choice(element, pick, values[block.block_id]);
  const boxes = control.classList.contains("boxes");
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  if (boxes) control.setAttribute("aria-labelledby", `${id}-label`);
  return el(
    "div",
    { class: "field", data: { block: block.block_id } },
    el(
      boxes ? "span" : "label",
      { class: "label", for: boxes ? null : id, id: `${id}-label` },
      textObject(block.label),
      block.optional && el("small", {}, " optional"),
    ),
    control,
    el("p", { class: "error", id: `${id}-error`, role: "alert", hidden: true }),
    block.hint && el("p", { class: "hint", id: `${id}-hint` }, textObject(block.hint)),
  );
}

const TYPES = { plain_text_input: "text", number_input: "text", email_text_input: "email", url_text_input: "url" };

function writer(element, value, pick) {
  if (!TYPES[element.type]) return null;
  const look = { placeholder: element.placeholder?.text, oninput: (event) => pick(event.target.value) };
  const node = element.multiline
    ? el("textarea", { rows: 3, ...look })
    : el("input", {
        type: TYPES[element.type],
        inputmode: element.type === "number_input" && "decimal",
        autocomplete: "off",
        ...look,
      });
  node.value = value ?? "";
  return node;
}

function showErrors(view) {
  const trouble = dialog.querySelector(".trouble");
  trouble.hidden = !view.trouble;
  trouble.textContent = view.trouble;
  for (const field of dialog.querySelectorAll(".field")) {
    const words = view.errors[field.dataset.block] ?? "";
    const error = field.querySelector(".error");
    error.hidden = !words;
    error.textContent = words;
    field.classList.toggle("wrong", Boolean(words));
    field.querySelector("input, textarea, select")?.setAttribute("aria-invalid", String(Boolean(words)));
  }
  dialog.querySelector(".wrong")?.scrollIntoView({ block: "nearest" });
}

async function submit(event, told) {
  event.preventDefault();
  const button = event.currentTarget.querySelector("[type=submit]");
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    await act("submit", { values });
  } catch (error) {
    told(error.message);
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}
