// Elements without HTML strings: text only ever becomes a text node, so that log text cannot become markup.

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  menu: "M3 6h14M3 10h14M3 14h14",
  close: "M5 5l10 10M15 5L5 15",
  reply: "M4 5h12v8H9l-4 3v-3H4z",
  send: "M4 10l12-5-4 12-3-5z",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  edit: "M5 15l1-3 7-7 2 2-7 7z",
  trash: "M5 6h10M8 6V4h4v2M6 6l1 10h6l1-10",
  smile: "M10 3a7 7 0 100 14 7 7 0 000-14zM7.5 8.5h.01M12.5 8.5h.01M7 12c1 1.5 5 1.5 6 0",
  pulse: "M3 11h3.500l2-5.500 3 9.500 2-6 1 2H17",
  bolt: "M11 3L5 11h4l-1 6 6-8h-4z",
  eye: "M3 10s2.500-4.500 7-4.500 7 4.500 7 4.500-2.500 4.500-7 4.500S3 10 3 10zM10 8.500a1.500 1.500 0 100 3 1.500 1.500 0 000-3",
  file: "M6 3h6l3 3v11H6zM12 3v3h3",
  download: "M10 4v8M6.500 9l3.500 3.500L13.500 9M5 16h10",
  open: "M8 5H5v10h10v-3M11 4h5v5M16 4l-7 7",
  down: "M6 8l4 4 4-4",
};

export function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `glyph glyph-${name}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function initials(name) {
  return name
    .split(/\s+/)
    .map((word) => word[0])
    .slice(0, 2)
    .join("")
    .toUpperCase();
}

// A dialog that asks; the answer is a promise.
export function ask({ title, text, yes, no, danger }) {
  return new Promise((resolve) => {
    const answer = (value) => () => {
      dialog.close();
      resolve(value);
    };
    const dialog = el(
      "dialog",
      { class: "sheet small", "aria-label": title, onclose: () => (dialog.remove(), resolve(false)) },
      el("h2", {}, title),
      el("div", { class: "sheet-body" }, text),
      el(
        "footer",
        {},
        el("button", { class: "button", type: "button", onclick: answer(false) }, no),
        el("button", { class: `button ${danger ? "danger" : "primary"}`, type: "button", onclick: answer(true) }, yes),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

// A small menu below a button.
export function popup(anchor, entries) {
  document.querySelector(".popup")?.remove();
  const menu = el(
    "div",
    { class: "popup", role: "menu" },
    entries.map(({ label, run, glyph }) =>
      el("button", { type: "button", role: "menuitem", onclick: () => (close(), run()) }, glyph && icon(glyph), label),
    ),
  );
  const away = (event) => !menu.contains(event.target) && close();
  const keys = (event) => {
    const all = [...menu.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") (event.stopPropagation(), close(), anchor.focus());
    if (step)
      (event.preventDefault(), all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus());
  };
  const close = () => (menu.remove(), document.removeEventListener("pointerdown", away, true));
  menu.addEventListener("keydown", keys);
  document.addEventListener("pointerdown", away, true);
  (anchor.closest("dialog") ?? document.body).append(menu);
  const box = anchor.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
  const below = box.bottom + 4 + menu.offsetHeight < innerHeight;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - menu.offsetHeight - 4)}px`;
  menu.firstChild?.focus();
}
