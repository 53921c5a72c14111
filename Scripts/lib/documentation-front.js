"use strict";
// The search of the documentation's front page: all words of what is typed, in names before abstracts before texts. Everything is in one file beside this one.
(() => {
const field = document.querySelector("#search"), list = document.querySelector("#found"), state = document.querySelector("#state");
const base = document.documentElement.dataset.base, most = 40;
let index = null, chosen = -1, round = 0;

const load = async () => {
  index ??= fetch(base + "/search.json").then(answer => answer.json()).then(entries => entries.map(entry => ({
    ...entry, title: entry.t.toLowerCase(), abstract: entry.a.toLowerCase(), text: entry.x.toLowerCase(),
  })));
  return index;
};

// How well a page fits a word; 0 where it does not.
const rank = (entry, word) => {
  const at = entry.title.indexOf(word);
  if (entry.title === word || entry.title.startsWith(word + "(")) return 100;
  if (at === 0) return 60;
  if (at > 0) return /[a-z0-9]/.test(entry.title[at - 1]) ? 25 : 40;
  if (entry.abstract.includes(word)) return 10;
  return entry.text.includes(word) ? 3 : 0;
};

const find = (entries, words) => entries.map(entry => {
  let sum = 0;
  for (const word of words) {
    const found = rank(entry, word);
    if (!found) return null;
    sum += found;
  }
  // Pages that explain, and short names, before the rest.
  return { entry, sum: sum + (entry.k === "Article" ? 8 : 0) - Math.min(entry.t.length, 60) / 20 };
}).filter(Boolean).sort((a, b) => b.sum - a.sum);

// Text with the words marked; nothing of it is ever markup.
const marked = (text, words) => {
  const place = document.createElement("span");
  const lower = text.toLowerCase();
  let position = 0;
  while (position < text.length) {
    const next = words.map(word => [lower.indexOf(word, position), word.length]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0] || b[1] - a[1])[0];
    if (!next) break;
    place.append(text.slice(position, next[0]));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(next[0], next[0] + next[1]);
    place.append(mark);
    position = next[0] + next[1];
  }
  place.append(text.slice(position));
  return place;
};

const around = (entry, words) => {
  const at = Math.min(...words.map(word => entry.text.indexOf(word)).filter(at => at >= 0));
  if (!isFinite(at)) return "";
  const start = Math.max(0, at - 60);
  return (start ? "… " : "") + entry.x.slice(start, start + 180) + (start + 180 < entry.x.length ? " …" : "");
};

const show = (found, words) => {
  list.replaceChildren(...found.slice(0, most).map(({ entry }) => {
    const line = document.createElement("li"), link = document.createElement("a"), kind = document.createElement("small"), rest = document.createElement("div");
    line.setAttribute("role", "option");
    link.href = base + "/" + entry.u;
    link.append(marked(entry.t, words));
    kind.textContent = entry.k + ", " + entry.l;
    const inAbstract = words.some(word => entry.abstract.includes(word));
    rest.append(marked(inAbstract || !around(entry, words) ? entry.a : around(entry, words), words));
    line.append(kind, link, rest);
    return line;
  }));
  chosen = -1;
};

const search = async () => {
  const mine = ++round, words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  document.querySelector("#contents").hidden = words.length > 0;
  if (!words.length) { list.replaceChildren(); state.textContent = ""; return; }
  const entries = await load();
  if (mine !== round) return;
  const found = find(entries, words);
  state.textContent = found.length === 0 ? "Nothing has all of these words." : found.length === 1 ? "1 page" : found.length + " pages" + (found.length > most ? ", the best " + most : "");
  show(found, words);
  history.replaceState(null, "", "?q=" + encodeURIComponent(field.value));
};

field.addEventListener("focus", load);
field.addEventListener("input", search);
field.addEventListener("keydown", event => {
  const lines = [...list.children];
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    chosen = Math.min(Math.max(chosen + (event.key === "ArrowDown" ? 1 : -1), 0), lines.length - 1);
    lines.forEach((line, i) => line.setAttribute("aria-selected", i === chosen));
    lines[chosen]?.scrollIntoView({ block: "nearest" });
  } else if (event.key === "Enter" && lines.length) location.href = lines[Math.max(chosen, 0)].querySelector("a").href;
  else return;
  event.preventDefault();
});
addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
});
const asked = new URLSearchParams(location.search).get("q");
if (asked) { field.value = asked; search(); }
})();
