"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Every text goes through textContent: nothing from a model is ever read as markup.
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };

  // ---- charts -------------------------------------------------------------------------------------------
  const ink = { labelColor: "currentColor", titleColor: "currentColor" };
  const quiet = { gridColor: "#80889055", domainColor: "#808890", tickColor: "#808890" };
  const theme = {
    axis: { ...ink, ...quiet },
    legend: {
      ...ink, symbolBaseFillColor: "currentColor", symbolBaseStrokeColor: "currentColor",
      // Legends one below the other: side by side they would not fit, and the plot would shrink.
      layout: { bottom: { direction: "vertical", anchor: "start", margin: 4, offset: 12 } },
    },
    text: { color: "currentColor" },
    title: { color: "currentColor", subtitleColor: "currentColor" },
  };
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  for (const [name, spec] of Object.entries(data.charts)) {
    const place = document.getElementById(`chart-${name}`);
    const drawing = vegaEmbed(place, spec, {
      ast: true, // interpret expressions: the page's policy forbids making code from text
      renderer: "svg",
      config: theme,
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: name.replace(/^\d+-/, ""),
      tooltip: { theme: dark ? "dark" : "light" },
    });
    drawing.catch((error) => place.replaceChildren(el("p", {}, `The chart cannot be drawn: ${error.message}`)));
  }

  // ---- the list of sets ---------------------------------------------------------------------------------
  const PAGE = 40;
  const SIGNS = { right: "✓", wrong: "✗", "not-ok": "?", none: "·" };

  const outcome = (response) => {
    if (response.s !== "ok") return "not-ok";
    if (response.r === null || response.r === undefined) return "none";
    return response.r ? "right" : "wrong";
  };
  const said = (response) => (response.s === "ok" ? response.l : response.s.replace(/_/g, " "));

  function browse(root, suite) {
    const groupOf = ([position, role]) => role || suite.items[position].factors.group || "";
    const responses = (position, answering) => suite.answers[position][answering] || [];
    const groups = [...new Set(suite.sets.flatMap(([, members]) => members.map(groupOf)))].filter(Boolean);
    let haystacks = null;
    let matches = [];
    let shown = 0;

    const options = (pairs) => pairs.map(([value, text]) => el("option", { value }, text));
    const select = (label, pairs) => {
      const box = el("select", { "aria-label": label }, ...options(pairs));
      box.addEventListener("change", refresh);
      return [box, el("label", {}, label, box)];
    };
    const [who, whoLabel] = select("Answers of", suite.answerings.map((name, i) => [i, name]));
    const [what, whatLabel] = select("Show", [
      ["", "all sets"], ["right", "all right"], ["wrong", "any wrong"], ["not-ok", "any not ok"],
    ]);
    const [group, groupLabel] = select("In group", [["", "any"], ...groups.map((name) => [name, name.replace(/_/g, " ")])]);
    const search = el("input", { type: "search", placeholder: "word, set or item", "aria-label": "Search" });
    let timer = 0;
    search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, 120); });
    const count = el("p", { class: "count", "aria-live": "polite" });
    const list = el("div", { class: "list" });
    const more = el("button", { type: "button" });
    more.addEventListener("click", () => extend());
    root.replaceChildren(
      el("div", { class: "controls" }, whoLabel, whatLabel, groups.length > 1 ? groupLabel : null,
        el("label", {}, "Search", search)),
      count, list, more,
    );
    if (suite.answerings.length) who.value = String(suite.first);

    function text(index) {
      haystacks ??= suite.sets.map(([name, members]) => [name, ...members.flatMap(([position]) => {
        const item = suite.items[position];
        return [item.name, ...Object.values(item.fields), ...Object.values(item.factors)];
      })].join("\n").toLowerCase());
      return haystacks[index];
    }

    function fits(members) {
      const considered = group.value ? members.filter((member) => groupOf(member) === group.value) : members;
      if (!considered.length) return false;
      if (!what.value) return true;
      const outcomes = considered.flatMap(([position]) => responses(position, who.value).map(outcome));
      return what.value === "right"
        ? outcomes.length > 0 && outcomes.every((one) => one === "right")
        : outcomes.includes(what.value);
    }

    function refresh() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      matches = suite.sets.flatMap(([, members], index) =>
        fits(members) && words.every((word) => text(index).includes(word)) ? [index] : []);
      count.textContent = `${matches.length.toLocaleString("en")} of ${suite.sets.length.toLocaleString("en")} sets`;
      list.replaceChildren();
      shown = 0;
      extend();
    }

    function extend() {
      list.append(...matches.slice(shown, shown + PAGE).map(row));
      shown = Math.min(shown + PAGE, matches.length);
      const left = matches.length - shown;
      more.hidden = left === 0;
      more.textContent = `Show ${Math.min(PAGE, left)} more of ${left.toLocaleString("en")}`;
    }

    function row(index) {
      const [name, members] = suite.sets[index];
      const chips = members.flatMap((member) => responses(member[0], who.value).slice(0, 1).map((response) =>
        chip(response, groupOf(member))));
      const details = el("details", {},
        el("summary", {}, el("span", { class: "set" }, name.replace(/_/g, " ")), el("span", { class: "chips" }, ...chips)));
      details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) details.append(...members.map(entry));
      });
      return details;
    }

    function chip(response, label = "") {
      const kind = outcome(response);
      return el("span", { class: `chip ${kind}`, title: kind === "not-ok" ? "not answered: neither right nor wrong" : null },
        label ? el("b", {}, `${label.replace(/_/g, " ")} `) : null, `${said(response)} ${SIGNS[kind]}`);
    }

    function entry(member) {
      const [position] = member;
      const item = suite.items[position];
      const fields = Object.entries(item.fields).flatMap(([name, value]) =>
        [el("dt", {}, name.replace(/_/g, " ")), el("dd", {}, value)]);
      fields.push(el("dt", {}, "gold"), el("dd", {}, item.gold.length ? item.gold.join(" or ") : "none"));
      return el("article", {},
        el("h5", {}, groupOf(member).replace(/_/g, " ") || item.name), el("dl", {}, ...fields), answerTable(position, item));
    }

    function answerTable(position, item) {
      const rows = suite.answerings.flatMap((name, answering) =>
        responses(position, answering).map((response) => [name, response]));
      if (!rows.length) return el("p", {}, "No answers.");
      const scored = rows.some(([, response]) => response.ll);
      const written = rows.some(([, response]) => response.t || response.d);
      const head = ["answered by", "answer", ...(scored ? item.labels.map((label) => `log P(${label})`) : []),
        ...(written ? ["text"] : [])];
      const body = rows.map(([name, response]) => {
        const turn = [response.o ? `order ${response.o + 1}` : "", response.n ? `repeat ${response.n + 1}` : ""];
        const best = Math.max(...(response.ll || []).filter((score) => score !== null));
        return el("tr", {},
          el("th", { scope: "row" }, [name, ...turn].filter(Boolean).join(" · ")),
          el("td", {}, chip(response)),
          ...(scored ? item.labels.map((_, i) => {
            const score = response.ll ? response.ll[i] : null;
            return el("td", { class: score === best ? "number best" : "number" }, score === null ? "–" : score.toFixed(2).replace("-", "−"));
          }) : []),
          written ? el("td", { class: "text" }, response.t || "", response.d ? el("em", {}, response.d) : null) : null);
      });
      return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "answers" }, el("table", {},
        el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...body)));
    }

    refresh();
  }

  data.sets.forEach((suite, index) => browse(document.getElementById(`sets-${index}`), suite));
})();
