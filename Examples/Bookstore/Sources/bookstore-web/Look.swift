/// What the pages are dressed with.
enum Look {
    static let style = """
        :root { color-scheme: light dark; --quiet: #666; --line: #ddd; }
        @media (prefers-color-scheme: dark) { :root { --quiet: #a5a5a5; --line: #3a3a3a; } }
        body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
        main { max-width: 720px; margin: 0 auto; padding: 24px 16px 60px; }
        h1 { line-height: 1.2; }
        ul { list-style: none; padding: 0; }
        li { padding: 8px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .shelf li { display: flex; flex-wrap: wrap; gap: 2px 14px; }
        .shelf a { font-weight: 600; flex: 1 1 14rem; }
        span, small { color: var(--quiet); } small { display: block; }
        form { display: flex; flex-wrap: wrap; gap: 8px; margin: 18px 0; }
        input, button { font: inherit; padding: 7px 10px; } input[name=content] { flex: 1 1 16rem; }

        """

    /// A book.
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#3a6ea5" d="M5 4h20v24H7a2 2 0 0 1-2-2z"/><path fill="#fff" d="M8 23h17v3H8z"/></svg>
        """

    /// Asks for the page anew when there is news; what is being typed stays.
    static let script = """
        "use strict";
        const events = new EventSource(document.documentElement.dataset.home + "events");
        events.onmessage = async () => {
          const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
          for (const list of document.querySelectorAll("ul")) {
            const fresh = page.querySelectorAll("ul")[[...document.querySelectorAll("ul")].indexOf(list)];
            if (fresh) list.replaceChildren(...fresh.childNodes);
          }
        };
        addEventListener("pagehide", () => events.close());

        """
}
