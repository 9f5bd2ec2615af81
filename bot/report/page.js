// What the page does beyond being read: filter the evidence by words, and mark a range of lines that a link names.
// Without it all is shown, and a link leads to its first line.
"use strict";
const filter = document.getElementById("filter");
const hash = /^#([ENIM]\d+\.\d+)\.(\d+)(?:-(\d+))?$/;
let from = null;

function filtered() {
  const words = filter.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const roles = [...filter.querySelectorAll("input[type=checkbox]")].filter((box) => !box.checked).map((box) => box.value);
  const all = [...document.querySelectorAll(".event")];
  const left = all.filter((event) => {
    const text = event.textContent.toLowerCase();
    event.hidden = roles.some((role) => event.classList.contains(role)) || !words.every((word) => text.includes(word));
    return !event.hidden;
  });
  filter.elements.told.value = left.length === all.length ? "" : `${left.length} of ${all.length} shown`;
}

function marked() {
  document.querySelectorAll(".line.range").forEach((line) => line.classList.remove("range"));
  const found = hash.exec(location.hash);
  if (!found) return;
  const [, part, first, last] = found;
  const begin = document.getElementById(`${part}.${first}`);
  if (!begin) return;
  for (let fold = begin.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const end = Math.max(Number(first), Number(last || first));
  for (const line of begin.parentElement.children) {
    const number = Number(line.id.split(".").pop());
    line.classList.toggle("range", number >= Number(first) && number <= end);
  }
  begin.scrollIntoView({ block: "center" });
}

if (filter) {
  filter.hidden = false;
  filter.addEventListener("input", filtered);
  filter.addEventListener("submit", (event) => event.preventDefault());
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.number");
  if (!link) return;
  const [, part, number] = hash.exec(link.hash);
  if (event.shiftKey && from && from.part === part) {
    event.preventDefault();
    const ends = [from.number, Number(number)].sort((one, other) => one - other);
    history.replaceState(null, "", `#${part}.${ends[0]}-${ends[1]}`);
    marked();
  } else from = { part, number: Number(number) };
});
window.addEventListener("hashchange", marked);
marked();
