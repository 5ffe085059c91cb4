// The editor, and the messages at its lines.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { cpp } from '@codemirror/lang-cpp';
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

// Colours that stand out from light and from dark paper alike (a contrast of 4.5 to one of either would need two sets).
const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: 'light-dark(#57606a, #9aa4af)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.modifier, tags.typeName], color: 'light-dark(#0550ae, #79c0ff)' },
  { tag: [tags.string, tags.number, tags.bool], color: 'light-dark(#0a6640, #7ee2a8)' },
  { tag: tags.processingInstruction, color: 'light-dark(#6639ba, #d2a8ff)' },
]);
const LOOK = EditorView.theme({
  '&': { color: 'CanvasText', backgroundColor: 'Canvas' },
  '.cm-gutters': { color: 'GrayText', backgroundColor: 'Canvas', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'rgba(128, 128, 128, .12)' },
  '.cm-cursor': { borderLeftColor: 'CanvasText' },
  '.cm-tooltip': { color: 'CanvasText', backgroundColor: 'Canvas', border: '1px solid GrayText' },
});

export class Editor {
  constructor(parent, { run }) {
    this.extensions = [
      lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(), lintGutter(),
      cpp(), syntaxHighlighting(COLOURS), LOOK,
      keymap.of([{ key: 'Mod-Enter', run: () => { run(); return true; } }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ 'aria-label': 'Kernel, Ascend C' }),
    ];
    this.view = new EditorView({ parent });
  }
  get text() { return this.view.state.doc.toString(); }
  set text(text) { this.view.setState(EditorState.create({ doc: text, extensions: this.extensions })); }

  // `marks`: { line, column, severity, message, link }; a column of 0 for the whole line.
  mark(marks) {
    const { doc } = this.view.state;
    const placed = marks.filter(one => one.line >= 1 && one.line <= doc.lines).map(one => {
      const line = doc.line(one.line), begin = line.from + line.text.search(/\S|$/);
      return { from: one.column ? Math.min(line.from + one.column - 1, line.to) : begin, to: line.to, severity: one.severity, message: one.message, renderMessage: () => said(one) };
    });
    this.view.dispatch(setDiagnostics(this.view.state, placed));
  }
  show(line) {
    const { doc } = this.view.state;
    if (line < 1 || line > doc.lines) return;
    this.view.dispatch({ selection: { anchor: doc.line(line).from }, effects: EditorView.scrollIntoView(doc.line(line).from, { y: 'center' }) });
    this.view.focus();
  }
}

function said({ message, link }) {
  const element = document.createElement('div');
  element.textContent = message;
  if (link) {
    const more = Object.assign(document.createElement('a'), { href: link, target: '_blank', textContent: 'more on this finding' });
    element.append(document.createElement('br'), more);
  }
  return element;
}
