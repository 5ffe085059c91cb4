// The page's side of AskedWidget: every option is a button. In a quiz the first choice counts; then each option shows
// why it is right or wrong. If a question has several right options, the learner chooses them, then clicks "check".
// In a paper choices may change until the paper is handed in or its time is over; the explanations appear only then.

const shown = (letters, and) => [...letters].map((letter) => letter.toUpperCase()).join(` ${and} `);
// Returns the template, a text in the learner's language, with each {name} replaced by the fact of that name.
const filled = (template, facts) => template.replace(/\{(\w+)\}/g, (_, name) => facts[name]);

function make(tag, name, parent, html = "") {
  const node = document.createElement(tag);
  node.className = name;
  node.innerHTML = html; // a text of the quiz's file, escaped by Python, or a word of the page
  parent.append(node);
  return node;
}

function asked(model, question, number, parent) {
  const words = model.get("words");
  const several = question.right.length > 1;
  const box = make("div", "gnt-quiz-question", parent);
  const head = make("p", "gnt-quiz-text", box, `<b>${number}.</b> ${question.text}`);
  const group = make("div", "gnt-quiz-options", box);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", head.textContent);
  const chosen = new Set();
  const paper = model.get("paper");
  const answered = () => model.get("answers")[question.key];
  const closed = () => (paper ? model.get("finished") : Boolean(answered()));
  const answer = (letters) => {
    if (closed() || (!letters && !paper)) return;
    model.set("answers", { ...model.get("answers"), [question.key]: letters });
    model.save_changes();
  };
  const options = question.options.map((option) => {
    const letter = option.letter.toUpperCase();
    const button = make("button", "gnt-quiz-option", group, `<span><b>${letter}.</b> ${option.text}</span>`);
    button.type = "button";
    button.addEventListener("click", () => {
      if (closed()) return;
      if (!several) return answer(paper && answered() === option.letter ? "" : option.letter);
      if (!chosen.delete(option.letter)) chosen.add(option.letter);
      button.setAttribute("aria-pressed", chosen.has(option.letter));
      if (paper) answer([...chosen].sort().join(""));
    });
    return { ...option, button, why: make("p", "gnt-quiz-why", group), says: option.why };
  });
  const check = several && !paper ? make("button", "gnt-quiz-check", box, words.check) : null;
  check?.addEventListener("click", () => answer([...chosen].sort().join("")));
  const verdict = make("p", "gnt-quiz-verdict", box);
  verdict.setAttribute("role", "status");
  // While an option has the focus, typing a letter chooses the option of that letter.
  group.addEventListener("keydown", (event) => {
    const found = options.find((option) => option.letter === event.key.toLowerCase());
    if (found && !event.ctrlKey && !event.metaKey && !event.altKey) found.button.click();
  });

  return () => {
    const letters = answered() ?? "";
    const done = closed();
    if (!done) {
      chosen.clear();
      for (const letter of paper ? letters : "") chosen.add(letter);
    }
    for (const { letter, button, why, says } of options) {
      const right = question.right.includes(letter);
      button.setAttribute("aria-disabled", done);
      button.setAttribute("aria-pressed", letters.includes(letter));
      button.classList.toggle("gnt-quiz-right", done && right);
      button.classList.toggle("gnt-quiz-wrong", done && !right && letters.includes(letter));
      why.hidden = !done;
      why.innerHTML = done ? `${right ? `✓ ${words.right}` : `✗ ${words.wrong}`}: ${says}` : "";
    }
    if (check) check.hidden = done;
    const good = letters === question.right;
    const wrong = filled(letters ? words.not : words.open, { letters: shown(question.right, words.and) });
    const source = filled(words.source, { source: question.source });
    verdict.innerHTML = done ? `<b>${good ? words.good : wrong}</b> ${source}` : several ? words.several : "";
  };
}

// Hides the stored quiz above, which has the same questions, while the widget is shown. Returns a function to undo it.
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
  // Enter on a button must be a click, not a command of JupyterLab.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  const questions = model.get("questions");
  const words = model.get("words");
  const updates = questions.map((question, index) => asked(model, question, index + 1, root));
  const foot = make("div", "gnt-quiz-foot", root);
  const score = make("span", "gnt-quiz-score", foot);
  score.setAttribute("role", "status");
  const again = make("button", "gnt-quiz-again", foot, words.again);
  again.type = "button";
  again.addEventListener("click", () => {
    model.set("answers", {});
    model.save_changes();
    root.querySelector(".gnt-quiz-option")?.focus();
  });
  const time = make("span", "gnt-quiz-time", foot);
  const handIn = make("button", "gnt-quiz-hand-in", foot, "hand in");
  handIn.type = "button";
  const finish = () => {
    model.set("finished", true);
    model.save_changes();
  };
  const left = () => questions.filter((question) => !model.get("answers")[question.key]).length;
  handIn.addEventListener("click", () => {
    // If questions are open, the first click only changes the button's text, and the second hands in.
    if (!left() || handIn.dataset.sure) return finish();
    handIn.dataset.sure = "yes";
    handIn.textContent = `hand in with ${left()} open`;
  });
  const note = make("p", "gnt-quiz-note", root);
  note.setAttribute("role", "status");

  const update = () => {
    for (const one of updates) one();
    const answers = model.get("answers");
    const right = questions.filter((question) => answers[question.key] === question.right).length;
    const open = left();
    const paper = model.get("paper");
    const writing = paper && !model.get("finished");
    score.textContent = writing
      ? `${questions.length - open} of ${questions.length} answered`
      : filled(words.score, { score: right, count: questions.length }) + (open ? filled(words.left, { open }) : "");
    again.hidden = paper || open === questions.length;
    handIn.hidden = !writing;
    if (!handIn.dataset.sure || !open) handIn.textContent = "hand in";
    tick();
  };
  // The deadline is a time of this computer's clock, as in the kernel, so closing the page does not stop the countdown.
  function tick() {
    const seconds = Math.floor(model.get("deadline") - Date.now() / 1000);
    const runs = model.get("paper") && !model.get("finished") && model.get("deadline") > 0;
    time.hidden = !runs;
    time.textContent = seconds < 120 ? `${Math.max(0, seconds)} s left` : `${Math.floor(seconds / 60)} min left`;
    if (runs && seconds <= 0) finish();
  }
  const ticking = model.get("paper") ? setInterval(tick, 1000) : 0;
  const say = () => {
    note.textContent = model.get("note");
    note.hidden = !note.textContent;
  };
  model.on("change:answers", update);
  model.on("change:finished", update);
  model.on("change:note", say);
  update();
  say();
  const back = putAside(model, el);
  return () => {
    clearInterval(ticking);
    model.off("change:answers", update);
    model.off("change:finished", update);
    model.off("change:note", say);
    back();
  };
}

export default { render };
