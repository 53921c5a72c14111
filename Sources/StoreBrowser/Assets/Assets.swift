/// The resources of the pages: icon, script and style. They are texts in the program, so that they are available in
/// static builds, too, and wherever the program is installed.
enum Assets {
    /// An apple.
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#c8503c" d="M16 9c-3-3-11-2-11 7 0 7 5 13 8 13 1.500 0 2-.8 3-.8s1.500.8 3 .8c3 \
        0 8-6 8-13 0-9-8-10-11-7z"/><path fill="#5a9a48" d="M16 8c0-4 3-6 6-6 0 4-3 6-6 6z"/></svg>
        """
}

extension Assets {
    /// The style of all pages: light and dark, on wide and on narrow screens.
    static let style = """
        :root {
          color-scheme: light dark;
          --back: #fbfbfa; --card: #ffffff; --text: #1d2024; --quiet: #5c636d; --line: #dfe1e5; --line-strong: #c3c8cf;
          --accent: #1a5fb4; --accent-back: #e6effa; --row: #f3f5f8; --good: #1b6e3c; --good-back: #e2f3e8;
          --warn: #96400a; --warn-back: #fdeede; --bad: #b3261e; --mark: #ffd7d3;
          --mono: ui-monospace, "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #16181c; --card: #1e2126; --text: #e7e9ec; --quiet: #a3abb6; --line: #32373f; --line-strong: #4a515c;
            --accent: #8ab8f5; --accent-back: #22324a; --row: #262a31; --good: #84d6a0; --good-back: #1d3527;
            --warn: #f2b077; --warn-back: #3d2a17; --bad: #ff9d94; --mark: #6a2722;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0; background: var(--back); color: var(--text);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", "Liberation Sans", sans-serif; }
        a { color: var(--accent); text-decoration: none; }
        a:hover { text-decoration: underline; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 3px; }
        header { position: sticky; top: 0; z-index: 5; display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px;
          padding: 10px 20px; background: var(--card); border-bottom: 1px solid var(--line); }
        .brand { font-weight: 650; color: var(--text); max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        nav { display: flex; gap: 4px; flex-wrap: wrap; }
        nav a { padding: 3px 10px; border-radius: 6px; color: var(--quiet); }
        nav a[aria-current] { background: var(--accent-back); color: var(--accent); font-weight: 600; }
        .tools { margin-left: auto; display: flex; gap: 8px; align-items: center; }
        .tools form { margin: 0; }
        main { max-width: 1500px; margin: 0 auto; padding: 18px 20px 60px; }
        h1 { font-size: 1.55rem; line-height: 1.25; margin: 0 0 8px; overflow-wrap: anywhere; }
        h2 { font-size: 1.05rem; margin: 26px 0 8px; overflow-wrap: anywhere; }
        .sub, small { color: var(--quiet); font-size: .87rem; font-weight: 400; }
        .sub { overflow-wrap: anywhere; }
        .bar { display: flex; flex-wrap: wrap; gap: 4px 28px; margin: 12px 0 8px; }
        .bar a, .bar b, .bar .off, .crumbs a { margin-right: 8px; }
        .off { color: var(--quiet); opacity: .55; }
        .crumbs { margin: 0 0 4px; font-size: .9rem; }
        .crumbs a::before { content: "← "; }
        .null, .no { color: var(--quiet); }
        .bytes { color: var(--quiet); font-style: italic; }
        .badge { display: inline-block; padding: 0 7px; border-radius: 9px; font-size: .78rem; line-height: 1.55; font-weight: 500;
          background: var(--row); color: var(--quiet); border: 1px solid var(--line); white-space: nowrap; }
        .badge.good, #live { background: var(--good-back); color: var(--good); border-color: transparent; }
        .badge.warn { background: var(--warn-back); color: var(--warn); border-color: transparent; }
        .message { padding: 10px 14px; border-radius: 8px; background: var(--row); border: 1px solid var(--line); max-width: 75ch; overflow-wrap: anywhere; }
        .message.good { background: var(--good-back); color: var(--good); border-color: transparent; }
        .message[role=alert] { background: var(--warn-back); color: var(--warn); border-color: transparent; }
        .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
        table { border-collapse: collapse; }
        .grid { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .91rem; font-variant-numeric: tabular-nums; }
        .grid th, .grid td { padding: 6px 12px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); white-space: nowrap;
          max-width: 32rem; overflow: hidden; text-overflow: ellipsis; }
        .grid thead th { background: var(--row); color: var(--quiet); font-weight: 600; font-size: .84rem; border-bottom-color: var(--line-strong); }
        .grid thead a { color: inherit; display: block; }
        .grid thead [aria-sort] a { color: var(--accent); }
        .grid tbody th { font-weight: 500; background: var(--card); }
        .grid tbody th, .grid thead th:first-child { position: sticky; left: 0; z-index: 1; }
        .grid tbody tr:last-child > * { border-bottom: 0; }
        .grid tbody tr:hover > *, .grid tbody tr.here > * { background: var(--row); }
        .grid tbody tr.here > :first-child { box-shadow: inset 3px 0 var(--accent); }
        .grid .number { text-align: right; }
        .grid .wide, .review td { white-space: normal; min-width: 14rem; }
        .entities .wide { color: var(--quiet); font-size: .86rem; }
        .depth1 { padding-left: 30px !important; } .depth2 { padding-left: 48px !important; } .depth3 { padding-left: 66px !important; }
        .depth4, .depth5, .depth6 { padding-left: 84px !important; }
        .depth1::before, .depth2::before, .depth3::before, .depth4::before, .depth5::before, .depth6::before { content: "└ "; color: var(--quiet); }
        .fields { width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 10px; border-collapse: separate; border-spacing: 0; }
        .fields th, .fields td { padding: 8px 14px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
        .fields tr:last-child > * { border-bottom: 0; }
        .fields th { width: 15rem; font-weight: 500; overflow-wrap: anywhere; }
        .fields th small { display: block; }
        .fields td { overflow-wrap: anywhere; }
        .inner { border-radius: 6px; } .inner th { width: auto; }
        .text { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 90ch; max-height: 32rem; overflow-y: auto; }
        pre { margin: 4px 0; padding: 10px 12px; overflow: auto; max-height: 32rem; background: var(--row); border-radius: 8px; font: .84rem/1.5 var(--mono); }
        .grid td, .grid th, .fields td, .text, ul.links a, .remove span, #choices span, del, ins, input, textarea { unicode-bidi: plaintext; }
        .text { text-align: start; width: fit-content; }
        code, kbd { font-family: var(--mono); font-size: .88em; }
        kbd { padding: 1px 6px; border: 1px solid var(--line-strong); border-radius: 4px; background: var(--row); }
        figure { margin: 0; } figure img { max-width: 100%; max-height: 420px; border-radius: 6px; border: 1px solid var(--line); display: block; }
        figcaption { color: var(--quiet); font-size: .87rem; }
        ul.links { display: flex; flex-wrap: wrap; gap: 6px; padding: 0; margin: 0 0 6px; list-style: none; }
        ul.links a { display: block; padding: 3px 10px; background: var(--card); border: 1px solid var(--line); border-radius: 7px; }
        .filter { display: flex; gap: 8px; align-items: flex-start; margin: 10px 0; }
        .filter .field { flex: 1; min-width: 0; max-width: none; }
        input, textarea, select, button, .button { font: inherit; color: inherit; }
        input:not([type=checkbox]), textarea, select { width: 100%; max-width: 70ch; padding: 7px 10px; background: var(--card);
          border: 1px solid var(--line-strong); border-radius: 7px; }
        .field { position: relative; max-width: 70ch; } textarea.code { font: .84rem/1.5 var(--mono); max-width: 100%; } input[type=file] { max-width: 100%; width: auto; border: 0; padding: 2px; background: none; }
        .fields p { margin: 4px 0; } .file { display: block; } ul.remove { list-style: none; margin: 2px 0 8px; padding: 0; max-height: 14rem; overflow-y: auto; }
        .remove label { display: flex; gap: 8px; overflow-wrap: anywhere; } .remove input { flex: none; } .remove :checked + span { color: var(--bad); text-decoration: line-through; }
        .choose { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; margin: 0 0 8px; font-size: .91rem; }
        .choose select, .choose input:not([type=hidden]) { width: auto; max-width: 16rem; padding: 4px 8px; }
        .choose button { padding: 4px 12px; }
        .columns { margin: 0 0 8px; font-size: .91rem; } .columns summary { cursor: pointer; color: var(--quiet); width: fit-content; }
        .columns form { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; padding: 6px 0; } .columns button { padding: 3px 12px; }
        .facets { margin: 0 0 8px; font-size: .91rem; } .facets summary { cursor: pointer; color: var(--quiet); width: fit-content; }
        .facets .bar { margin: 4px 0; gap: 2px 6px; } .facets > div { display: flex; flex-wrap: wrap; gap: 8px 28px; } .facets section { min-width: 10rem; max-width: 22rem; }
        .facets h2 { font-size: .91rem; margin: 4px 0; } .facets ul { list-style: none; margin: 0; padding: 0; } .facets p { margin: 2px 0; }
        .facets li { display: flex; justify-content: space-between; gap: 12px; overflow-wrap: anywhere; } .facets small { font-variant-numeric: tabular-nums; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .found { padding: 0; list-style: none; margin: 0; } .found li { margin: 4px 0; overflow-wrap: anywhere; }
        #saved li { display: flex; gap: 2px; } #saved button { padding: 0 8px; border: 0; background: none; color: var(--quiet); }
        .chart { margin: 10px 0; max-width: 760px; } .chart svg { width: 100%; height: auto; display: block; }
        .chart text { fill: var(--text); font-size: 12px; } .chart .value { fill: var(--quiet); font-variant-numeric: tabular-nums; }
        .chart rect { fill: var(--accent); }
        .map { max-width: 940px; } .map svg { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
        .map .lines path { stroke: var(--line); fill: none; } .map text { fill: var(--quiet); font-size: 10px; }
        .map circle { fill: var(--accent); fill-opacity: .65; stroke: var(--card); } .map a:hover circle, .map a:focus circle { fill: var(--bad); }
        .filter input { max-width: none; font-family: var(--mono); font-size: .92rem; }
        button, .button { display: inline-block; padding: 7px 16px; border: 1px solid var(--line-strong); border-radius: 7px; background: var(--card); cursor: pointer; }
        button:hover, .button:hover { background: var(--row); text-decoration: none; }
        .button { color: var(--text); }
        .tools button { padding: 1px 10px; font-size: .88rem; }
        .actions button:not(.danger) { background: var(--accent); border-color: var(--accent); color: var(--card); }
        .danger { color: var(--bad); border-color: var(--bad); }
        .problem { display: block; margin-top: 2px; padding: 0 11px; color: var(--bad); font-size: .9rem; }
        .problem code { display: block; white-space: pre; overflow-x: auto; font-size: .92rem; color: var(--quiet); }
        .problem mark { background: var(--mark); color: var(--text); text-decoration: underline wavy var(--bad); text-underline-offset: 3px; border-radius: 2px; }
        #choices { position: absolute; z-index: 9; left: 0; right: 0; top: 100%; max-height: 300px; overflow-y: auto; margin: 2px 0 0; padding: 4px; list-style: none;
          background: var(--card); border: 1px solid var(--line-strong); border-radius: 8px; box-shadow: 0 8px 24px rgb(0 0 0 / .18); }
        #choices li { display: flex; justify-content: space-between; gap: 12px; padding: 4px 8px; border-radius: 5px; cursor: pointer; font-size: .92rem; }
        #choices li[aria-selected=true] { background: var(--accent-back); color: var(--accent); }
        .timeline { list-style: none; padding: 0 0 0 18px; margin: 10px 0; border-left: 2px solid var(--line-strong); }
        .timeline > li { position: relative; margin-bottom: 20px; }
        .timeline > li::before { content: ""; position: absolute; left: -24px; top: 7px; width: 10px; height: 10px; border-radius: 50%; background: var(--accent); }
        .timeline h2 { margin: 0; } .timeline p { margin: 2px 0; }
        .changes { list-style: none; padding: 0; margin: 4px 0; } .changes li { margin: 2px 0; overflow-wrap: anywhere; }
        .diagram { padding: 16px; text-align: center; }
        .diagram svg { height: auto; max-width: 100%; }
        .diagram svg text { fill: var(--text); } .diagram svg a:hover text { fill: var(--accent); }
        .diagram svg polygon, .diagram svg path, .diagram svg polyline { stroke: var(--quiet); fill: none; }
        .diagram svg .graph > polygon { stroke: none; } .diagram svg .node polygon { fill: var(--row); }
        dialog { max-width: 420px; color: var(--text); background: var(--card); border: 1px solid var(--line-strong); border-radius: 12px; padding: 20px 26px; }
        dialog h2 { margin-top: 0; } dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 6px 16px; } dialog dd { margin: 0; }
        dialog::backdrop { background: rgb(0 0 0 / .4); }
        del { color: var(--bad); } ins { color: var(--good); text-decoration: none; }
        tr.fresh > * { animation: fresh 2.5s ease-out; }
        @keyframes fresh { from { background: var(--good-back); } }
        @media (prefers-reduced-motion: reduce) { tr.fresh > * { animation: none; } }
        @media (max-width: 700px) {
          header { padding: 8px 12px; } main { padding: 14px 12px 50px; }
          nav a { padding: 3px 7px; }
          .entities .wide { display: none; }
          .fields, .fields tbody, .fields tr, .fields th, .fields td { display: block; width: 100%; }
          .fields th { padding-bottom: 0; border-bottom: 0; } .fields th small { display: inline; margin-left: 8px; }
          .fields td { padding-top: 2px; }
          .chart { overflow-x: auto; } .chart:not(.map) svg { min-width: 600px; }
          .grid th, .grid td { padding: 6px 9px; max-width: 60vw; }
          .fields input:not([type=checkbox]), .fields textarea { font-size: .84rem; }
          h1 { font-size: 1.3rem; }
        }

        """
}
