import { text } from './strings.js';
import { h, set } from './dom.js';
import { ended } from './store.js';

const tail = 128 << 10; // bytes that are fetched first
const most = 512 << 10; // characters that are kept
const wait = 25000; // milliseconds that the engine waits for more
const matches = 200;

// The characters and escape sequences of a line: the parameters and the final byte of a control
// sequence are captured.
const tokens = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]|$)|[^]/gu;
const control = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;
const widest = 4096; // cells that a cursor movement reaches

// shown returns the text that a terminal shows for a line.
export function shown(line) {
  line = line.replace(/\r+$/, '');
  if (!control.test(line)) return line;
  const cells = [];
  let at = 0;
  for (const [token, parameters, final] of line.matchAll(tokens)) {
    const count = Math.min(Number(parameters) || 1, widest);
    if (token === '\r') at = 0;
    else if (token === '\b' || final === 'D') at = Math.max(at - count, 0);
    else if (final === 'C') at = Math.min(at + count, widest);
    else if (final === 'G') at = count - 1;
    else if (final === 'K') erase(cells, at, Number(parameters) || 0);
    else if (!control.test(token)) {
      while (cells.length < at) cells.push(' ');
      cells[at++] = token;
    }
  }
  return cells.join('');
}

// erase erases to the end of a line (0), to the cursor (1), or all of it (2).
function erase(cells, at, what) {
  if (what === 1) cells.fill(' ', 0, at + 1);
  else if (what === 0) cells.length = Math.min(cells.length, at);
  else cells.length = 0;
}

// A Log is the log of a process: its end, what follows, and lines that match.
export class Log {
  constructor(app) {
    this.app = app;
    this.id = '';
    this.out = h('pre', { className: 'log', tabIndex: 0, 'aria-label': text.log });
    this.hint = h('p', { className: 'hint' });
    this.follow = h('input', { type: 'checkbox', checked: true, onchange: () => this.toEnd() });
    this.grep = h('input', { type: 'search', placeholder: text.searchLog, 'aria-label': text.searchLog, spellcheck: false, autocapitalize: 'off', oninput: () => this.later() });
    this.element = h('div', { className: 'logs' }, h('div', { className: 'tools' }, this.grep, h('label', { className: 'check' }, this.follow, text.follow)), this.hint, this.out);
    this.out.addEventListener('scroll', () => {
      const end = this.out.scrollHeight - this.out.scrollTop - this.out.clientHeight < 8;
      if (this.follow.checked !== end && this.out.textContent) this.follow.checked = end;
    });
  }

  show(id) {
    if (id === this.id) return;
    this.grep.value = '';
    this.begin(id);
  }

  begin(id) {
    this.stop();
    this.id = id;
    this.out.replaceChildren((this.last = document.createTextNode('')));
    this.unfinished = '';
    this.length = 0;
    set(this.hint, '');
    if (!id) return;
    this.ending = new AbortController();
    if (this.grep.value) this.search(this.ending.signal);
    else this.run(this.ending.signal);
  }

  stop() {
    clearTimeout(this.timer);
    this.ending?.abort();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.begin(this.id), 200);
  }

  // run follows the log. The engine answers when there is more: nothing is asked twice.
  async run(signal) {
    const both = { id: this.id, stream: 'both' };
    const process = () => this.app.store.processes.get(both.id);
    const started = process()?.started_at;
    let input = { ...both, since: -tail };
    try {
      for (;;) {
        const o = await this.app.api.call('process.log', input, signal);
        if (input.since < 0 && o.start > o.dropped) set(this.hint, text.older);
        this.add(o.data);
        input = { ...both, since: o.next_cursor, wait_ms: wait };
        if (o.stderr) input.since_stderr = o.stderr.next_cursor;
        if (ended({ state: o.state }) && o.next_cursor >= o.end && !o.data) break;
      }
      this.rests = true;
      if (!this.out.textContent) set(this.hint, text.noOutput);
      // The process may have been started again before this answer arrived.
      if (process() && process().started_at !== started) this.note(process());
    } catch (err) {
      if (!signal.aborted) {
        set(this.hint, err.message);
        this.timer = setTimeout(() => this.begin(this.id), 2000);
      }
    }
  }

  add(data) {
    if (!data) return;
    const lines = (this.unfinished + data).split('\n');
    this.unfinished = lines.pop();
    if (lines.length) {
      const more = lines.map((line) => shown(line) + '\n').join('');
      this.last.before(more);
      this.length += more.length;
    }
    if (this.length > most) {
      this.last.data = '';
      const kept = this.out.textContent.slice(-most / 2);
      this.out.replaceChildren(kept.slice(kept.indexOf('\n') + 1), this.last);
      this.length = this.out.textContent.length;
      set(this.hint, text.older);
    }
    if (this.unfinished.length > most) this.unfinished = this.unfinished.slice(-most / 2);
    this.last.data = shown(this.unfinished);
    this.toEnd();
  }

  toEnd() {
    if (this.follow.checked) this.out.scrollTop = this.out.scrollHeight;
  }

  async search(signal) {
    try {
      const o = await this.app.api.call('process.log', { id: this.id, stream: 'both', grep: this.grep.value, backward: true, limit: matches }, signal);
      const found = (o.matches || []).map((m) => shown(m.text)).reverse();
      this.out.textContent = found.join('\n');
      set(this.hint, text.matches(found.length, found.length));
      this.toEnd();
    } catch (err) {
      if (!signal.aborted) set(this.hint, err.message);
    }
  }

  // note goes on with the log of a process that was started again.
  note(p) {
    if (!this.rests || p.id !== this.id || ended(p) || this.grep.value) return;
    this.rests = false;
    this.begin(this.id);
  }
}
