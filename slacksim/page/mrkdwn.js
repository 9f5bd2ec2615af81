// Slack's mrkdwn and a little Markdown, as elements.

import { el } from "./dom.js";
import { emoji, withEmoji } from "./emoji.js";
import { channel, member, permalink } from "./store.js";

const INLINE = new RegExp(
  [
    "`([^`\\n]+)`", // 1 code
    "<([^<>\\n]+)>", // 2 link, mention
    "(?<![\\w*])\\*(?=\\S)([^*\\n]*[^*\\s])\\*(?![\\w*])", // 3 bold
    "(?<![\\w_])_(?=\\S)([^_\\n]*[^_\\s])_(?![\\w_])", // 4 italic
    "(?<![\\w~])~(?=\\S)([^~\\n]*[^~\\s])~(?![\\w~])", // 5 struck
    ":([a-z0-9_+-]+):", // 6 emoji
    "(https?://[^\\s<>|]*[^\\s<>|.,;:!?)\\]])", // 7 bare link
  ].join("|"),
  "g",
);
const MARKDOWN = /`([^`\n]+)`|\[([^\]\n]+)\]\((https?:[^)\s]+)\)|\*\*([^*\n]+)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?!\w)/g;

export const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

// A text object of Block Kit.
export function textObject(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : lines(withEmoji(object.text));
}

export function mrkdwn(text) {
  const parts = text.split(/```([\s\S]*?)```/);
  return parts.flatMap((part, place) => (place % 2 ? [pre(unescape(part))] : paragraphs(part)));
}

export const pre = (text) => el("pre", {}, el("code", {}, text.replace(/^\n/, "")));
const lines = (text) => text.split("\n").flatMap((line, place) => (place ? [el("br"), line] : [line]));

function paragraphs(text) {
  const found = [];
  for (const line of text.replace(/^\n|\n$/g, "").split("\n")) {
    const quote = line.match(/^(?:>|&gt;)\s?(.*)$/);
    const last = found.at(-1);
    if (quote && last?.quote) last.lines.push(quote[1]);
    else if (quote) found.push({ quote: true, lines: [quote[1]] });
    else if (last && !last.quote) last.lines.push(line);
    else found.push({ quote: false, lines: [line] });
  }
  return found.flatMap(({ quote, lines: own }) => {
    const inside = own.flatMap((line, place) => (place ? [el("br"), ...inline(line)] : inline(line)));
    return quote ? [el("blockquote", {}, inside)] : inside;
  });
}

function inline(text) {
  const out = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) out.push(unescape(text.slice(from, found.index)));
    const [, code, entity, bold, italic, struck, sign, url] = found;
    if (code) out.push(el("code", {}, unescape(code)));
    else if (entity) out.push(reference(entity, found[0]));
    else if (bold) out.push(el("strong", {}, inline(bold)));
    else if (italic) out.push(el("em", {}, inline(italic)));
    else if (struck) out.push(el("s", {}, inline(struck)));
    else if (sign) out.push(emoji(sign));
    else if (url) out.push(link(unescape(url), unescape(url)));
    from = found.index + found[0].length;
  }
  if (from < text.length) out.push(unescape(text.slice(from)));
  return out;
}

function reference(entity, whole) {
  const [target, label] = [entity.split("|")[0], entity.split("|").slice(1).join("|")];
  if (target.startsWith("@")) return mention(`@${member(target.slice(1)).name}`);
  if (target.startsWith("#")) return mention(`#${channel(target.slice(1))?.name ?? (label || target.slice(1))}`);
  if (target.startsWith("!date^")) return date(...target.split("^").slice(1, 3)) || label || target;
  if (target.startsWith("!")) return mention(`@${label || target.slice(1).split("^").at(-1)}`, "broadcast");
  if (/^(https?:|mailto:)/.test(target)) return link(unescape(target), unescape(label || target));
  return unescape(whole);
}

// A time in the reader's own zone, in the styles that Slack has; nothing for what is no time.
function date(seconds, style) {
  const at = new Date(Number(seconds) * 1000);
  if (!style || Number.isNaN(at.getTime())) return "";
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000);
  const short = at.toLocaleDateString("en-US", { month: "short", day: "numeric", year: "numeric" });
  const long = at.toLocaleDateString("en-US", { month: "long", day: "numeric", year: "numeric" });
  const pretty = { 0: "today", 1: "yesterday" }[days];
  const words = {
    date_num: at.toISOString().slice(0, 10),
    date: long,
    date_short: short,
    date_pretty: pretty ?? long,
    date_short_pretty: pretty ?? short,
    time: at.toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit" }),
  };
  return style.replace(/\{(\w+)\}/g, (whole, name) => words[name] ?? whole);
}

const mention = (text, more = "") => el("span", { class: `mention ${more}` }, text);

export function link(url, label) {
  if (!/^(https?:|mailto:)/.test(url)) return label;
  const place = permalink(url);
  if (place) return el("a", { href: url, data: { channel: place[0], ts: place[1] } }, label);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, label);
}

// The Markdown of markdown blocks: headings, lists, quotes, code, emphasis, links.
export function markdown(text) {
  const parts = text.split(/```(?:\w*\n)?([\s\S]*?)(?:```|$)/);
  return parts.flatMap((part, place) => (place % 2 ? [pre(part)] : part.split(/\n{2,}/).flatMap(markdownPart)));
}

function markdownPart(part) {
  if (!part.trim()) return [];
  const rows = part.trim().split("\n");
  const heading = rows[0].match(/^#{1,6}\s+(.*)$/);
  if (heading)
    return [
      el("h4", {}, markdownInline(heading[1])),
      ...(rows.length > 1 ? markdownPart(rows.slice(1).join("\n")) : []),
    ];
  for (const [kind, sign] of [
    ["ul", /^\s*[-*+]\s+/],
    ["ol", /^\s*\d+[.)]\s+/],
  ])
    if (rows.every((row) => sign.test(row)))
      return [
        el(
          kind,
          {},
          rows.map((row) => el("li", {}, markdownInline(row.replace(sign, "")))),
        ),
      ];
  if (rows.every((row) => row.startsWith(">")))
    return [el("blockquote", {}, markdownRows(rows.map((row) => row.replace(/^>\s?/, ""))))];
  return [el("p", {}, markdownRows(rows))];
}

const markdownRows = (rows) =>
  rows.flatMap((row, place) => (place ? [el("br"), ...markdownInline(row)] : markdownInline(row)));

function markdownInline(text) {
  const out = [];
  let from = 0;
  for (const found of text.matchAll(MARKDOWN)) {
    out.push(withEmoji(text.slice(from, found.index)));
    const [, code, label, url, bold, italic] = found;
    if (code) out.push(el("code", {}, code));
    else if (url) out.push(link(url, label));
    else if (bold) out.push(el("strong", {}, markdownInline(bold)));
    else out.push(el("em", {}, markdownInline(italic)));
    from = found.index + found[0].length;
  }
  return [...out, withEmoji(text.slice(from))];
}
