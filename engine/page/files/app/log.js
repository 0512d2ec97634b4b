import { text } from './strings.js';
import { h, set } from './dom.js';
import { ended } from './store.js';

const tail = 128 << 10; // bytes that are fetched first
const most = 512 << 10; // characters that are kept
const wait = 25000; // milliseconds that the engine waits for more
const matches = 200;

// Escape sequences are left out: a log is text.
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g;
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g;
const clean = (s) => s.replace(/\r\n/g, '\n').replace(escapes, '').replace(controls, '');

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
    this.out.replaceChildren();
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
    } catch (err) {
      if (!signal.aborted) {
        set(this.hint, err.message);
        this.timer = setTimeout(() => this.begin(this.id), 2000);
      }
    }
  }

  add(data) {
    if (!data) return;
    this.out.append(clean(data));
    this.length = (this.length || 0) + data.length;
    if (this.length > most) {
      const kept = this.out.textContent.slice(-most / 2);
      this.out.textContent = kept.slice(kept.indexOf('\n') + 1);
      this.length = this.out.textContent.length;
      set(this.hint, text.older);
    }
    this.toEnd();
  }

  toEnd() {
    if (this.follow.checked) this.out.scrollTop = this.out.scrollHeight;
  }

  async search(signal) {
    try {
      const o = await this.app.api.call('process.log', { id: this.id, stream: 'both', grep: this.grep.value, backward: true, limit: matches }, signal);
      const found = (o.matches || []).map((m) => clean(m.text)).reverse();
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
