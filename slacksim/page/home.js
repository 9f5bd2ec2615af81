// The app's page for one person: what the app has published, below the tabs of its direct messages.

import { blocks } from "./blocks.js";
import { el } from "./dom.js";
import { act, store } from "./store.js";

let shown = ""; // person, id and hash of the view that is drawn

export function drawHome(box, told) {
  const view = store.now.home;
  const key = view ? `${store.me} ${view.id} ${view.hash}` : store.me;
  if (key === shown) return;
  shown = key;
  const where = (action, value) => act("click_in_home", { action, value }).catch((error) => told(error.message));
  const empty = el("p", { class: "welcome" }, `${store.now.app.name} has published nothing here.`);
  box.replaceChildren(...(view ? blocks(view.blocks, where) : [empty]));
}

// Tabs as Slack has them above the messages of an app; pick gets true for the page.
export function tabs(atHome, pick) {
  const tab = (words, home) =>
    el(
      "button",
      { class: "tab", type: "button", "aria-pressed": String(home === atHome), onclick: () => pick(home) },
      words,
    );
  return [tab("Home", true), tab("Messages", false)];
}
