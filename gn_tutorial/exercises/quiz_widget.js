// The page's side of QuizWidget: every option is a button. The first choice counts; then each option says why it is
// right or wrong. Where a question has several right options, they are chosen first and then checked.

const shown = (letters) => [...letters].map((letter) => letter.toUpperCase()).join(" and ");

function make(tag, name, parent, html = "") {
  const node = document.createElement(tag);
  node.className = name;
  node.innerHTML = html; // of the quiz's file, escaped by Python
  parent.append(node);
  return node;
}

function asked(model, question, number, parent) {
  const several = question.right.length > 1;
  const box = make("div", "gnt-quiz-question", parent);
  const head = make("p", "gnt-quiz-text", box, `<b>${number}.</b> ${question.text}`);
  const group = make("div", "gnt-quiz-options", box);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", head.textContent);
  const chosen = new Set();
  const answered = () => model.get("answers")[question.key];
  const answer = (letters) => {
    if (answered() || !letters) return;
    model.set("answers", { ...model.get("answers"), [question.key]: letters });
    model.save_changes();
  };
  const options = question.options.map((option) => {
    const letter = option.letter.toUpperCase();
    const button = make("button", "gnt-quiz-option", group, `<span><b>${letter}.</b> ${option.text}</span>`);
    button.type = "button";
    button.addEventListener("click", () => {
      if (answered()) return;
      if (!several) return answer(option.letter);
      if (!chosen.delete(option.letter)) chosen.add(option.letter);
      button.setAttribute("aria-pressed", chosen.has(option.letter));
    });
    return { ...option, button, why: make("p", "gnt-quiz-why", group), says: option.why };
  });
  const check = several ? make("button", "gnt-quiz-check", box, "check") : null;
  check?.addEventListener("click", () => answer([...chosen].sort().join("")));
  const verdict = make("p", "gnt-quiz-verdict", box);
  verdict.setAttribute("role", "status");
  // A letter chooses, while one of the options has the focus.
  group.addEventListener("keydown", (event) => {
    const found = options.find((option) => option.letter === event.key.toLowerCase());
    if (found && !event.ctrlKey && !event.metaKey && !event.altKey) found.button.click();
  });

  return () => {
    const letters = answered() ?? "";
    const done = letters !== "";
    if (!done) chosen.clear();
    for (const { letter, button, why, says } of options) {
      const right = question.right.includes(letter);
      button.setAttribute("aria-disabled", done);
      button.setAttribute("aria-pressed", letters.includes(letter));
      button.classList.toggle("gnt-quiz-right", done && right);
      button.classList.toggle("gnt-quiz-wrong", done && !right && letters.includes(letter));
      why.hidden = !done;
      why.innerHTML = done ? `${right ? "✓ right" : "✗ wrong"}: ${says}` : "";
    }
    if (check) check.hidden = done;
    const good = letters === question.right;
    const what = good ? "Right." : `Not right: it is ${shown(question.right)}.`;
    verdict.innerHTML = done ? `<b>${what}</b> Source: ${question.source}` : several ? "Several are right." : "";
  };
}

// The static quiz above has the same questions. Its output is put aside while the widget is there.
function putAside(model, el) {
  let gone = false;
  let hidden = [];
  const look = () => {
    if (gone) return;
    if (!el.isConnected) return void requestAnimationFrame(look);
    const area = el.closest(".jp-OutputArea") ?? document;
    const found = area.querySelectorAll(`.gnt-quiz-${model.get("name")}`);
    hidden = [...found].map((node) => node.closest(".jp-OutputArea-child") ?? node);
    for (const node of hidden) node.style.display = "none";
  };
  look();
  return () => {
    gone = true;
    for (const node of hidden) node.style.display = "";
  };
}

function render({ model, el }) {
  const root = make("div", "gnt-quiz", el);
  // Enter on a button is a click, and no command of JupyterLab.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  const questions = model.get("questions");
  const updates = questions.map((question, index) => asked(model, question, index + 1, root));
  const foot = make("div", "gnt-quiz-foot", root);
  const score = make("span", "gnt-quiz-score", foot);
  score.setAttribute("role", "status");
  const again = make("button", "gnt-quiz-again", foot, "answer anew");
  again.type = "button";
  again.addEventListener("click", () => {
    model.set("answers", {});
    model.save_changes();
    root.querySelector(".gnt-quiz-option")?.focus();
  });
  const note = make("p", "gnt-quiz-note", root);
  note.setAttribute("role", "status");

  const update = () => {
    for (const one of updates) one();
    const answers = model.get("answers");
    const right = questions.filter((question) => answers[question.key] === question.right).length;
    const open = questions.filter((question) => !answers[question.key]).length;
    score.textContent = `${right} of ${questions.length} right` + (open ? `, ${open} not answered` : "");
    again.hidden = open === questions.length;
  };
  const say = () => {
    note.textContent = model.get("note");
    note.hidden = !note.textContent;
  };
  model.on("change:answers", update);
  model.on("change:note", say);
  update();
  say();
  const back = putAside(model, el);
  return () => {
    model.off("change:answers", update);
    model.off("change:note", say);
    back();
  };
}

export default { render };
