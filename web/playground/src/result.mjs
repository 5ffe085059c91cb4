// What came of a run, beside the editor.
import { mountTimeline } from '../../../gn_tutorial/profiler/timeline.js';

const at = id => document.getElementById(id);
const made = (tag, words, attributes = {}) => Object.assign(document.createElement(tag), { textContent: words, ...attributes });
let timeline = null;

export function clear() {
  timeline?.destroy();
  timeline = null;
  for (const id of ['verdict', 'findings', 'numbers', 'tally', 'printed', 'modelled', 'timeline']) at(id).replaceChildren();
  at('printed').hidden = true;
}

function box(severity, line, paragraphs, editor, link = '') {
  const element = made('div', '', { className: `finding ${severity}` });
  if (line) element.append(made('button', `line ${line}`, { type: 'button', onclick: () => editor.show(line) }));
  element.append(...paragraphs.filter(Boolean).map(words => made('p', words)));
  if (link) element.append(made('a', 'more on this finding', { href: link, target: '_blank' }));
  at('findings').append(element);
}

// Of the compiler, or of the page.
export function showErrors(errors, editor) {
  at('verdict').textContent = errors.some(one => one.line) ? 'does not compile' : '';
  for (const one of errors) box('error', one.line, [one.message, one.hint], editor);
  editor.mark(errors.map(one => ({ ...one, severity: 'error', message: [one.message, one.hint].filter(Boolean).join('\n') })));
}

export function showOutcome(shown, printed, start, editor) {
  at('verdict').textContent = verdict(shown, start);
  if (shown.puzzle && !shown.puzzle.begun) return;  // without the learner's lines, errors and findings tell nothing new
  if (shown.ended) box('error', 0, [shown.ended], editor);
  if (shown.puzzle?.said) box(shown.puzzle.right ? 'warning' : 'error', 0, [shown.puzzle.said], editor);
  const page = one => (one.link ? `diagnostics/${one.id}.html` : '');
  for (const one of shown.findings) box(one.severity, one.line, [`${one.id}: ${one.what}`, one.why, one.fix], editor, page(one));
  editor.mark(shown.findings.map(one => ({ ...one, message: [one.what, one.why, one.fix].filter(Boolean).join('\n'), link: page(one) })));
  at('numbers').append(...shown.numbers.map(one => made('p', one.text)));
  at('tally').append(...shown.tally.map(row => { const tr = made('tr', ''); tr.append(...row.map(cell => made('td', cell))); return tr; }));
  if (printed) Object.assign(at('printed'), { hidden: false, textContent: printed });
  if (!shown.modelled) return;
  at('modelled').append(made('p', `modelled time on ${shown.modelled.machine}: ${shown.modelled.us.toFixed(2)} us (not measured on a device)`));
  timeline = mountTimeline(at('timeline'), JSON.parse(shown.modelled.timeline), { wheelNeedsFocus: true });
}

function verdict(shown, start) {
  if (shown.puzzle?.right) return 'right: the puzzle is solved';
  if (shown.puzzle && !shown.puzzle.begun) return 'not attempted yet: write your lines below the task';
  if (shown.ended) return 'ended early';
  const errors = shown.findings.filter(one => one.severity === 'error').length;
  if (shown.failed) return `${errors} ${errors === 1 ? 'mistake' : 'mistakes'} found`;
  if (shown.numbers.some(one => !one.right)) return 'wrong numbers';
  if (start.finding && !shown.findings.some(one => one.id === start.finding)) return `right: ${start.finding} is gone`;
  if (shown.puzzle) return 'not right yet';
  return shown.findings.length ? 'ran to its end, with warnings' : 'ran to its end, nothing found';
}
