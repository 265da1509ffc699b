"use strict";
(() => {
  const form = document.getElementById("ratings");
  const { store, file } = form.dataset;
  const questions = form.dataset.questions.split(" ");
  const groups = [...form.querySelectorAll("fieldset")];
  const warning = document.getElementById("warning");
  const said = document.getElementById("said");
  let unsaved = false;
  let kept = true;

  const choices = (group) => [...group.querySelectorAll("input")];
  const chosen = (group) => choices(group).find((choice) => choice.checked);
  const open = (group) => !chosen(group);

  // ---- what was entered stays in the browser ------------------------------------------------------------
  const warn = () => {
    kept = false;
    warning.textContent = "This browser does not keep what you enter: save the CSV file before you close the page.";
    warning.hidden = false;
  };

  function keep() {
    try {
      localStorage.setItem(store, JSON.stringify(Object.fromEntries(new FormData(form))));
    } catch {
      warn();
    }
  }

  function restore() {
    let entered = {};
    try {
      entered = JSON.parse(localStorage.getItem(store)) ?? {};
    } catch (error) {
      if (!(error instanceof SyntaxError)) warn();
    }
    for (const field of form.elements) {
      const value = entered[field.name];
      if (typeof value !== "string") continue;
      if (field.type === "radio") field.checked = field.value === value;
      else if (field.type === "textarea") field.value = value;
    }
  }

  function show() {
    const answered = groups.filter((group) => !open(group)).length;
    document.getElementById("bar").value = answered;
    document.getElementById("count").textContent = `${answered} of ${groups.length}`;
    for (const group of groups) group.querySelector(".clear").hidden = open(group);
  }

  function changed() {
    unsaved = true;
    said.textContent = "";
    keep();
    show();
  }

  // ---- keys ---------------------------------------------------------------------------------------------
  function goTo(group) {
    const entry = group.closest("article");
    // The texts come before the questions: a new entry is shown from its top.
    if (!entry.contains(document.activeElement)) entry.scrollIntoView({ block: "start" });
    (chosen(group) ?? choices(group)[0]).focus();
  }

  function clear(group) {
    for (const choice of choices(group)) choice.checked = false;
    changed();
    goTo(group);
  }

  form.addEventListener("keydown", (event) => {
    const group = event.target.closest("fieldset");
    if (event.target.type !== "radio" || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      clear(group);
    } else if (/^[0-9]$/.test(event.key)) {
      // An answer that is called by the digit goes before the answer in its place.
      const all = choices(group);
      const choice = all.find(({ value }) => value === event.key) ?? all[Number(event.key) - 1];
      if (!choice) return;
      event.preventDefault();
      choice.checked = true;
      changed();
      const next = groups[groups.indexOf(group) + 1];
      if (next) goTo(next);
      else choice.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      save();
    }
  });

  // ---- the file -----------------------------------------------------------------------------------------
  // A spreadsheet program would run a cell that begins like a formula.
  const plain = (text) => (/^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text);

  const cell = (text) => `"${plain(text).replaceAll('"', '""')}"`;

  function csv() {
    const entered = new FormData(form);
    const rows = [["id", ...questions, "comment"]];
    for (const { dataset: { id } } of form.querySelectorAll("article")) {
      const answers = questions.map((question) => entered.get(`${id}.${question}`) ?? "");
      rows.push([id, ...answers, entered.get(`${id}.comment`)]);
    }
    return `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    unsaved = false;
    const left = groups.filter(open).length;
    said.textContent = `Saved ${file}${left ? `; ${left} of ${groups.length} questions open` : "; every question answered"}.`;
  }

  // ---- buttons ------------------------------------------------------------------------------------------
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", changed);
  form.addEventListener("click", (event) => {
    if (event.target.matches(".clear")) clear(event.target.closest("fieldset"));
  });
  document.getElementById("save").addEventListener("click", save);
  document.getElementById("next").addEventListener("click", () => {
    const next = groups.find(open);
    if (next) goTo(next);
    else said.textContent = "Every question is answered.";
  });
  document.getElementById("reset").addEventListener("click", () => {
    if (!confirm("Clear everything that was entered in this form?")) return;
    form.reset();
    changed();
  });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved && !kept) event.preventDefault();
  });

  restore();
  show();
})();
