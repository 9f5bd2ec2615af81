// Block Kit as elements; an image that is not on this server is shown by its description.

import { chart } from "./charts.js";
import { el, icon } from "./dom.js";
import { element } from "./elements.js";
import { emoji } from "./emoji.js";
import { link, markdown, mrkdwn, pre, textObject } from "./mrkdwn.js";
import { channel, fileUrl, member, store } from "./store.js";

const RENDER = {
  header: (block) => el("h3", { class: "b-header" }, textObject(block.text)),
  divider: () => el("hr"),
  section,
  context: (block) => el("div", { class: "b-context" }, block.elements.map(small)),
  actions: (block, where) =>
    el(
      "div",
      { class: "b-actions" },
      block.elements.map((one) => element(one, block, where)),
    ),
  context_actions: (block, where) =>
    el(
      "div",
      { class: "b-actions quiet" },
      block.elements.map((one) => element(one, block, where)),
    ),
  image: (block) => picture(block),
  table,
  data_table: dataTable,
  data_visualization: chart,
  rich_text: (block) => el("div", { class: "b-rich" }, block.elements.flatMap(rich)),
  markdown: (block) => el("div", { class: "b-markdown" }, markdown(block.text)),
  input: (block, where) =>
    el("div", { class: "b-section" }, el("strong", {}, textObject(block.label)), element(block.element, block, where)),
};

// where: how the app is told of a click; see elements.js.
export function blocks(all, where) {
  return all.map((block) => (RENDER[block.type] ?? unknown)(block, where));
}

const unknown = (block) => el("div", { class: "b-context" }, `[${block.type}]`);

function section(block, where) {
  const body = el("div", { class: "b-text" }, textObject(block.text));
  const fields =
    block.fields &&
    el(
      "div",
      { class: "b-fields" },
      block.fields.map((one) => el("div", {}, textObject(one))),
    );
  const side =
    block.accessory &&
    (block.accessory.type === "image" ? picture(block.accessory, "thumb") : element(block.accessory, block, where));
  return el("div", { class: "b-section" }, el("div", { class: "b-main" }, block.text && body, fields), side);
}

const small = (one) => (one.type === "image" ? picture(one, "tiny") : el("span", {}, textObject(one)));

function picture(block, more = "") {
  const file = block.slack_file && store.now.files[block.slack_file.id];
  const title = block.title && el("figcaption", {}, textObject(block.title));
  const source = file ? fileUrl(file) : block.image_url;
  const local = file || source?.startsWith(store.now.workspace.base) || source?.startsWith("data:image/");
  const shown = local
    ? el("img", { src: source, alt: block.alt_text, loading: "lazy" })
    : el("span", { class: "no-image" }, `Image: ${block.alt_text}`);
  return el("figure", { class: `b-image ${more}` }, title, shown);
}

function table(block) {
  const look = (place) => block.column_settings?.[place] ?? {};
  const cell = (tag) => (one, place) =>
    el(
      tag,
      {
        class: `${look(place).align ?? "left"}${look(place).is_wrapped ? " wraps" : ""}`,
        scope: tag === "th" && "col",
      },
      content(one),
    );
  const [head, ...rows] = block.rows;
  return el(
    "div",
    { class: "b-table", tabindex: "0", role: "region", "aria-label": "Table" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, head.map(cell("th")))),
      el(
        "tbody",
        {},
        rows.map((row) => el("tr", {}, row.map(cell("td")))),
      ),
    ),
  );
}

// The first page of the rows; the others when asked for.
function dataTable(block) {
  const shown = table(block);
  const rest = [...shown.querySelectorAll("tbody tr")].slice(block.page_size ?? 5);
  shown.querySelector("table").prepend(el("caption", {}, block.caption));
  for (const row of rest) row.hidden = true;
  const more = () => {
    for (const row of rest) row.hidden = false;
    all.remove();
  };
  const all = el("button", { class: "button", type: "button", onclick: more }, `${rest.length} more`);
  return el("div", {}, shown, rest.length > 0 && all);
}

const content = (one) => (one.type === "rich_text" ? one.elements.flatMap(rich) : (one.text ?? String(one.value)));

function rich(part) {
  if (part.type === "rich_text_list") {
    const items = part.elements.map((item) => el("li", {}, item.elements.map(piece)));
    return [el(part.style === "ordered" ? "ol" : "ul", {}, items)];
  }
  if (part.type === "rich_text_preformatted")
    return [pre(part.elements.map((one) => one.text ?? one.url ?? "").join(""))];
  return [el(part.type === "rich_text_quote" ? "blockquote" : "p", {}, part.elements.map(piece))];
}

function piece(one) {
  let shown = plainPiece(one);
  for (const [name, tag] of [
    ["code", "code"],
    ["bold", "strong"],
    ["italic", "em"],
    ["strike", "s"],
    ["underline", "u"],
  ])
    if (one.style?.[name]) shown = el(tag, {}, shown);
  return shown;
}

function plainPiece(one) {
  if (one.type === "text") return el("span", { class: "as-is" }, one.text);
  if (one.type === "link") return link(one.url, one.text ?? one.url);
  if (one.type === "emoji") return emoji(one.name);
  const names = {
    user: () => member(one.user_id).name,
    channel: () => channel(one.channel_id)?.name ?? one.channel_id,
  };
  const name = names[one.type]?.() ?? one.range ?? one.usergroup_id;
  return el("span", { class: "mention" }, `${one.type === "channel" ? "#" : "@"}${name}`);
}

export const file = (one) => {
  const url = fileUrl(one);
  if (one.mimetype.startsWith("image/"))
    return el(
      "figure",
      { class: "b-image" },
      el("figcaption", {}, one.title),
      el(
        "button",
        { class: "picture", type: "button", data: { file: one.id }, "aria-label": `Enlarge ${one.title}` },
        el("img", { src: url, alt: one.alt_txt || one.title }),
      ),
    );
  return el(
    "div",
    { class: "file" },
    el("span", { class: "file-icon" }, icon("file")),
    el(
      "div",
      { class: "file-name" },
      el("strong", {}, one.title),
      el("span", {}, `${one.filetype.toUpperCase()} · ${size(one.size)}`),
    ),
    one.mimetype === "text/html" && el("button", { class: "button", type: "button", data: { file: one.id } }, "View"),
    el(
      "a",
      {
        class: "icon",
        href: url,
        target: "_blank",
        rel: "noopener noreferrer",
        "aria-label": `Open ${one.title} in a new tab`,
      },
      icon("open"),
    ),
    el(
      "a",
      { class: "icon", href: `${url}?download`, download: one.name, "aria-label": `Download ${one.title}` },
      icon("download"),
    ),
  );
};

const size = (bytes) =>
  bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
export const words = mrkdwn;
