extension Assets {
    /// The script of all pages: counts, completion, notices of changes, keys. Everything else works without it. Text
    /// from the store gets into pages only as text (`textContent`), or in HTML that the server has escaped.
    static let script = """
        "use strict";
        (() => {
        const $ = (selector, root = document) => root.querySelector(selector);
        const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

        // Counts come after the page. Three are asked for at a time.
        const grouped = n => n.toString().replace(/\\B(?=(\\d{3})+$)/g, ",");
        const waiting = [];
        let asking = 0;
        const counts = root => { waiting.push(...$$("[data-count]", root)); while (asking < 3 && waiting.length) ask(); };
        const ask = async () => {
          const place = waiting.shift();
          if (!place) return;
          asking++;
          try {
            const answer = await (await fetch(place.dataset.count)).json();
            place.textContent = answer.count == null ? "?" : grouped(answer.count);
            const pages = $("[data-pages]", place.parentElement);
            if (pages && answer.count != null) pages.textContent = " of " + grouped(Math.max(1, Math.ceil(answer.count / pages.dataset.pages)));
          } catch { place.textContent = "?"; }
          place.classList.remove("pending");
          asking--;
          ask();
        };

        // Those of all entities, as many at a time as can be counted in a moment. What was asked before is not shown.
        let countings = 0;
        const countEntities = async () => {
          const table = $("[data-counts]");
          if (!table) return;
          const mine = ++countings, places = $$("tbody .number > *", table);
          for (let next = 0; next != null && mine === countings;) {
            let answer;
            try {
              answer = await (await fetch(`${table.dataset.counts}?after=${next}`)).json();
            } catch { answer = { counts: places.slice(next).map(() => null), next: null }; }
            if (mine !== countings) return;
            answer.counts.forEach((count, i) => {
              const place = places[next + i];
              place.textContent = count == null ? "?" : grouped(count);
              place.classList.remove("pending");
            });
            next = answer.next;
          }
        };

        // Times in the reader's own zone.
        const times = root => $$("[data-local]", root).forEach(place => {
          const date = new Date(place.dataset.local);
          if (!isNaN(date)) place.textContent = date.toLocaleString();
        });
        const arrive = root => { counts(root); times(root); };

        // News: the parts of the page that show the store are asked for anew.
        const signature = row => row.textContent;
        const refresh = async () => {
          const answer = await fetch(location.href);
          if (!answer.ok) return;
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          for (const old of $$("[data-live]")) {
            const fresh = page.getElementById(old.id);
            if (!fresh) continue;
            const known = new Map($$("tr[data-key]", old).map(row => [row.dataset.key, signature(row)]));
            const here = $("tr.here", old)?.dataset.key, isFocused = $("tr.here", old)?.contains(document.activeElement);
            $$("[data-count]", fresh).forEach((place, i) => { place.textContent = $$("[data-count]", old)[i]?.textContent ?? "…"; });
            old.replaceChildren(...fresh.childNodes);
            for (const row of $$("tr[data-key]", old)) {
              if (known.size && known.get(row.dataset.key) !== signature(row)) row.classList.add("fresh");
              if (row.dataset.key === here) row.classList.add("here");
            }
            if (isFocused) $("tr.here a", old)?.focus({ preventScroll: true });
            arrive(old);
          }
          countEntities();
        };
        let late = null;
        const live = $("#live");
        // Only pages that are seen listen: a browser opens no more than six lines to a server, for all its pages.
        let source = null;
        const listen = () => {
          source?.close();
          source = new EventSource(document.documentElement.dataset.base + "events");
          source.addEventListener("hello", () => { live.hidden = false; });
          source.onmessage = () => { clearTimeout(late); late = setTimeout(refresh, 80); };
          source.onerror = () => { live.hidden = true; };
        };
        addEventListener("pagehide", () => source?.close());
        addEventListener("pageshow", event => { if (event.persisted) { listen(); refresh(); } });
        document.addEventListener("visibilitychange", () => {
          if (document.hidden) return source?.close();
          listen();
          refresh();
        });

        // Choices under a field: keys for the filter, objects for relationships.
        const filter = $("input[data-complete]");
        let field = null, list = null, items = [], chosen = -1, span = [0, 0], tail = "", round = 0;
        const close = () => {
          list?.remove();
          field?.setAttribute("aria-expanded", "false");
          field?.removeAttribute("aria-activedescendant");
          list = null;
          items = [];
          chosen = -1;
        };
        const choose = i => {
          const text = items[i].text, rest = field.value.slice(span[1]), end = rest.startsWith(tail) ? "" : tail;
          field.value = field.value.slice(0, span[0]) + text + end + rest;
          const place = span[0] + text.length + tail.length;
          field.setSelectionRange(place, place);
          close();
          if (field === filter) offer();
        };
        const mark = i => {
          chosen = i;
          [...list.children].forEach((item, j) => item.setAttribute("aria-selected", j === i));
          field.setAttribute("aria-activedescendant", list.children[i]?.id ?? "");
          list.children[i]?.scrollIntoView({ block: "nearest" });
        };
        const keysOf = async () => {
          const query = new URLSearchParams({ text: field.value, cursor: [...field.value.slice(0, field.selectionStart)].length });
          const answer = await (await fetch(field.dataset.complete + "?" + query)).json();
          const letters = [...field.value];
          const from = letters.slice(0, answer.from).join("").length, to = letters.slice(0, answer.to).join("").length;
          return { span: [from, to], tail: " ", items: answer.items.filter(item => item.text !== field.value.slice(from, to)) };
        };
        const objectsOf = async signal => {
          const isList = "list" in field.dataset;
          const from = isList ? field.value.lastIndexOf(",", field.selectionStart - 1) + 1 : 0, to = isList ? field.selectionStart : field.value.length;
          const text = field.value.slice(from, to).trim();
          const answer = await (await fetch(field.dataset.find + "?" + new URLSearchParams({ text }), { signal })).json();
          const start = from + (isList && from ? 1 : 0);
          return { span: [Math.min(start, to), to], tail: isList ? ", " : "", items: answer.items };
        };
        // A search for objects may read a whole table: it begins when typing rests, and ends the former one.
        let search = null;
        const rest = () => new Promise(done => setTimeout(done, 200));
        const offer = async () => {
          const mine = ++round, asked = field;
          search?.abort();
          if (asked !== filter) {
            await rest();
            if (mine !== round) return;
            search = new AbortController();
          }
          let found;
          try { found = await (asked === filter ? keysOf() : objectsOf(search.signal)); } catch { return; }
          if (mine !== round || document.activeElement !== asked) return;
          close();
          ({ span, tail, items } = found);
          if (!items.length) return;
          list = document.createElement("ul");
          list.id = "choices";
          list.setAttribute("role", "listbox");
          for (const [i, item] of items.entries()) {
            const line = document.createElement("li");
            line.setAttribute("role", "option");
            line.id = "choice-" + i;
            const name = document.createElement("span"), detail = document.createElement("span");
            name.textContent = item.text;
            detail.textContent = item.detail;
            detail.className = "sub";
            line.append(name, detail);
            line.addEventListener("mousedown", event => { event.preventDefault(); choose(i); });
            list.append(line);
          }
          field.after(list);
          field.setAttribute("aria-expanded", "true");
        };
        for (const input of $$("input[data-complete], input[data-find]")) {
          for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", "choices"]]) {
            input.setAttribute(name, value);
          }
          input.addEventListener("input", () => { field = input; offer(); });
          input.addEventListener("focus", () => { field = input; if (input.value === "") offer(); });
          input.addEventListener("blur", () => { search?.abort(); close(); });
          input.addEventListener("keydown", event => {
            if (!list || field !== input) return;
            if (event.key === "ArrowDown") mark(Math.min(chosen + 1, items.length - 1));
            else if (event.key === "ArrowUp") mark(Math.max(chosen - 1, 0));
            else if ((event.key === "Tab" && (input === filter || chosen >= 0)) || (event.key === "Enter" && chosen >= 0)) choose(Math.max(chosen, 0));
            else if (event.key === "Escape") close();
            else return;
            event.preventDefault();
          });
        }

        // Addresses that somebody has kept, in this browser, without the secret, which is another one in the next run.
        const base = document.documentElement.dataset.base, shelf = "pippin " + ($(".brand")?.title ?? "");
        const kept = () => { try { return JSON.parse(localStorage.getItem(shelf)) ?? []; } catch { return []; } };
        const keep = list => { try { localStorage.setItem(shelf, JSON.stringify(list)); } catch { /* The browser keeps nothing. */ } };
        const saver = $("#save");
        if (saver) {
          saver.hidden = false;
          saver.addEventListener("click", () => {
            const name = prompt("Name of this query", $("#where")?.value || $("h1").textContent);
            if (!name) return;
            const path = location.pathname.slice(base.length), query = new URLSearchParams(location.search);
            for (const place of ["after", "before", "at", "n"]) query.delete(place);
            keep([...kept().filter(item => item.name !== name), { name, path: path + (query.size ? "?" + query : "") }]);
          });
        }
        const saved = $("#saved");
        if (saved) {
          const show = () => {
            saved.replaceChildren(...kept().map(item => {
              const line = document.createElement("li"), link = document.createElement("a"), away = document.createElement("button");
              link.textContent = item.name;
              link.href = base + item.path;
              away.textContent = "×";
              away.title = "Forget";
              away.addEventListener("click", () => { keep(kept().filter(other => other.name !== item.name)); show(); });
              line.append(link, away);
              return line;
            }));
            saved.parentElement.hidden = !kept().length;
          };
          show();
        }

        // A typed value replaces “none”.
        document.addEventListener("input", event => {
          const name = event.target.name ?? "";
          const none = /^[vf]\\./.test(name) && document.getElementsByName("n." + name.slice(2))[0];
          if (none) none.checked = false;
        });

        // Integrity, which takes long for large files.
        const integrity = $("[data-check]");
        if (integrity) (async () => {
          const line = document.createElement("p");
          try {
            const answer = await (await fetch(integrity.dataset.check)).json();
            integrity.replaceChildren();
            line.className = answer.problems.length ? "message" : "message good";
            line.textContent = answer.problems.length ? "" : "The file, its relationships, counters and unique values are as they should be.";
            if (answer.problems.length) {
              line.setAttribute("role", "alert");
              const found = document.createElement("ul");
              for (const problem of answer.problems) { const item = document.createElement("li"); item.textContent = problem; found.append(item); }
              integrity.append(found);
              line.textContent = answer.problems.length === 1 ? "One thing is wrong:" : answer.problems.length + " things are wrong:";
            }
            integrity.prepend(line);
          } catch { line.textContent = "The file could not be looked at."; integrity.replaceChildren(line); }
        })();

        // Keys.
        const go = selector => { const link = $(selector); if (link) location.href = link.href; };
        const move = step => {
          const rows = $$("tbody tr[data-href]");
          if (!rows.length) return;
          const at = rows.findIndex(row => row.classList.contains("here"));
          const next = Math.min(Math.max(at + step, 0), rows.length - 1);
          rows[at]?.classList.remove("here");
          rows[next].classList.add("here");
          rows[next].scrollIntoView({ block: "nearest" });
          $("a", rows[next])?.focus({ preventScroll: true });
        };
        addEventListener("keydown", event => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (document.activeElement?.matches("input, textarea, select")) {
            if (event.key === "Escape") document.activeElement.blur();
            return;
          }
          const part = { e: 1, s: 2, t: 3, d: 4, h: 5, f: 6 }[event.key];
          if (part) return go(`nav a:nth-of-type(${part})`);
          switch (event.key) {
            case "j": move(1); break;
            case "k": move(-1); break;
            case "n": go("a[rel=next]"); break;
            case "p": go("a[rel=prev]"); break;
            case "u": go("#up"); break;
            case "Enter": if (document.activeElement?.closest("a, button")) return; go("tr.here a"); break;
            case "/": if (filter) { event.preventDefault(); filter.focus(); filter.select(); } break;
            case "?": $("#keys").showModal(); break;
          }
        });

        arrive(document);
        countEntities();
        listen();
        })();

        """
}
