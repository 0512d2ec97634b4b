import { text } from './strings.js';
import { h, set } from './dom.js';

// A SearchBar finds text in the scrollback and screen of a terminal.
export class SearchBar {
  constructor(view) {
    this.view = view;
    this.at = -1;
    this.input = h('input', { type: 'search', placeholder: text.find, 'aria-label': text.find, spellcheck: false, oninput: () => this.look(), onkeydown: (e) => this.key(e) });
    this.count = h('span', { className: 'count', 'aria-live': 'polite' });
    this.element = h('div', { className: 'find', role: 'search', hidden: true }, this.input, this.count,
      h('button', { type: 'button', className: 'quiet', 'aria-label': text.previous, onclick: () => this.go(-1) }, '↑'),
      h('button', { type: 'button', className: 'quiet', 'aria-label': text.next, onclick: () => this.go(1) }, '↓'),
      h('button', { type: 'button', className: 'quiet', 'aria-label': text.close, onclick: () => this.close() }, '×'));
  }

  open() {
    this.element.hidden = false;
    this.input.focus();
    this.input.select();
    if (this.input.value) this.look();
  }

  close() {
    this.element.hidden = true;
    this.view.term.clearSelection();
    this.view.focus();
  }

  key(e) {
    if (e.key === 'Escape') this.close();
    else if (e.key === 'Enter') this.go(e.shiftKey ? 1 : -1); // from the end upwards, as people look for what was last
    else return;
    e.preventDefault();
  }

  look() {
    this.matches = find(this.view.term, this.input.value);
    this.at = this.matches.length;
    this.go(-1);
  }

  go(step) {
    const n = this.matches?.length || 0;
    if (!n) {
      set(this.count, this.input.value ? text.matches(0, 0) : '');
      this.view.term.clearSelection();
      return;
    }
    this.at = (this.at + step + n) % n;
    const { row, col, length } = this.matches[this.at];
    const { term } = this.view;
    term.select(col, row, length);
    term.scrollToLine(Math.max(0, row - Math.floor(term.rows / 2)));
    set(this.count, text.matches(this.at + 1, n));
  }
}

const most = 10000; // matches

// find gives where text is, from the top; lines that wrapped are one. Case counts once there
// is an upper-case letter.
function find(term, wanted) {
  const found = [];
  if (!wanted) return found;
  const fold = wanted === wanted.toLowerCase() ? (s) => s.toLowerCase() : (s) => s;
  const buffer = term.buffer.active;
  for (let row = 0; row < buffer.length && found.length < most;) {
    const { line, next } = wrapped(buffer, row);
    const folded = fold(line);
    for (let i = folded.indexOf(wanted); i >= 0 && found.length < most; i = folded.indexOf(wanted, i + 1)) {
      found.push({ row: row + Math.floor(i / term.cols), col: i % term.cols, length: wanted.length });
    }
    row = next;
  }
  return found;
}

function wrapped(buffer, row) {
  let line = '';
  let next = row;
  do {
    line += cells(buffer.getLine(next));
    next++;
  } while (next < buffer.length && buffer.getLine(next).isWrapped);
  return { line, next };
}

// cells is a line with one UTF-16 unit a cell, so that an index is a column.
function cells(line) {
  let out = '';
  for (let x = 0; x < line.length; x++) {
    const chars = line.getCell(x).getChars();
    out += chars.length === 1 ? chars : chars ? '\ufffc' : ' ';
  }
  return out;
}
